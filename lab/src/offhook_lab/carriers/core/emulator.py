"""One carrier in a process: its REST side, the numbers it sells, the calls it carries, and the phones behind them."""

import asyncio
import secrets
from abc import abstractmethod
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, ClassVar, Literal, Self

from offhook.kit.clock import Clock, SystemClock
from offhook.kit.tasks import TaskTracker
from offhook_lab.carriers.core.callbacks import CallbackSender, OutgoingCallback
from offhook_lab.carriers.core.calls import Cause, EmulatedCall, Status
from offhook_lab.carriers.core.chaos import ChaosSwitches
from offhook_lab.carriers.core.conference_audio import ConferenceRoom, ToneAnnouncement
from offhook_lab.carriers.core.phones import EmulatedPhone, PhoneDirectory, PhonePlan, Voice, hum_words
from offhook_lab.carriers.core.rest import RestServer
from offhook_lab.carriers.core.stream import MediaStream


@dataclass(slots=True)
class EmulatedNumber:
    """A number that the account owns, or (``is_owned`` False) that is for sale. ``settings`` are the carrier's."""

    e164: str
    id: str = ""
    country: str = "US"
    type: str = "local"
    is_owned: bool = True
    settings: dict[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class EmulatorLimits:
    """``calls_per_second`` for calls placed by REST (None: no limit); ``requests_per_second`` for all requests; what is
    above either is queued or refused, as the carrier does it."""

    calls_per_second: float | None = None
    requests_per_second: float | None = None
    concurrent_calls: int | None = None


class CarrierEmulator(RestServer):
    """``credentials`` is what a user of Offhook types in for this account. See ``offhook_lab.carriers``."""

    name: ClassVar[str]

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        self.chaos = ChaosSwitches()
        super().__init__(self.chaos)
        self.limits = EmulatorLimits()
        self.clock = clock or SystemClock()
        self.voice = voice
        self.phones = PhoneDirectory()
        self.numbers: dict[str, EmulatedNumber] = {}
        self.calls: list[EmulatedCall] = []
        self.rooms: dict[str, ConferenceRoom] = {}
        # seconds of an announcement for each character
        self.announces_s = 0.01
        self.callback_sender = CallbackSender(self.chaos, self.sign_callback)
        self.tasks = TaskTracker()
        self._recent_calls: deque[float] = deque()
        self._recent_requests: deque[float] = deque()
        self._placing = asyncio.Lock()
        self._placed = asyncio.Event()

    # what a carrier is

    @property
    @abstractmethod
    def credentials(self) -> dict[str, str]:
        """The account as Offhook's telephony configuration names its fields."""

    @abstractmethod
    def sign_callback(self, callback: OutgoingCallback) -> Mapping[str, str]:
        """The headers that prove a callback; with another secret when it is a forgery."""

    @abstractmethod
    async def deliver_inbound(self, call: EmulatedCall, number: EmulatedNumber) -> None:
        """Somebody calls one of our numbers: ask our address, and follow."""

    @abstractmethod
    def point_at(self, url: str, /) -> None:
        """Calls to our numbers are answered at this address of ours."""

    @abstractmethod
    def send_status(self, call: EmulatedCall, status: Status) -> None:
        """Tell us of a call's progress, if anybody asked for it."""

    def report_digit(self, call: EmulatedCall, digit: str) -> None:
        """Only some carriers report keys by webhook."""

    def number_for(self, to: str) -> EmulatedNumber:
        """The number that is called; anything is ours that was not bought elsewhere."""
        return self.numbers.get(to) or EmulatedNumber(to)

    # what tests do with it

    @asynccontextmanager
    async def running(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Self]:
        """Serve until the block ends; calls that are up are cut then."""
        self.callback_sender.open()
        try:
            async with self.serve_rest(host, port):
                yield self
        finally:
            self.chaos.holds_callbacks = False
            await self.tasks.close()
            for call in self.calls:
                call.end("failed", "carrier")
            await asyncio.sleep(0)
            await self.callback_sender.close()

    @property
    def callbacks(self) -> list[OutgoingCallback]:
        """All requests to us that were tried, answer documents too, with what we answered."""
        return self.callback_sender.sent

    @property
    def held_callbacks(self) -> list[OutgoingCallback]:
        return self.callback_sender.held

    def callbacks_of(self, kind: str) -> list[OutgoingCallback]:
        """Those whose kind begins so."""
        return [callback for callback in self.callbacks if callback.kind.startswith(kind)]

    def add_number(self, e164: str, **settings: Any) -> EmulatedNumber:
        """The account has this number, with the carrier's own settings (see the carrier's module)."""
        number = EmulatedNumber(e164, self.new_id("number"), settings=settings)
        self.numbers[e164] = number
        return number

    def call_in(self, from_number: str, to_number: str, plan: PhonePlan | None = None) -> EmulatedCall:
        """Somebody calls one of our numbers; ``plan.script`` is the caller. Returns at once."""
        call = self.new_call("inbound", from_number, to_number, plan or PhonePlan())
        call.advance_to("ringing")
        call.run_program(self.deliver_inbound(call, self.number_for(to_number)))
        return call

    def find_call(self, call_id: str) -> EmulatedCall | None:
        return next((call for call in self.calls if call.id == call_id), None)

    async def next_call(self, *, after: int = 0, within_s: float = 10.0) -> EmulatedCall:
        """The call that is placed after the first ``after`` ones."""
        async with asyncio.timeout(within_s):
            while len(self.calls) <= after:
                self._placed.clear()
                await self._placed.wait()
        return self.calls[after]

    async def wait_settled(self, within_s: float = 30.0) -> None:
        """Wait until every call is over and every callback was answered or given up."""
        async with asyncio.timeout(within_s):
            for call in list(self.calls):
                await call.ended.wait()
                for stream in call.streams:
                    await stream.over.wait()
            # who waited for these has its say
            await asyncio.sleep(0.01)
            await self.callback_sender.wait_idle()

    # for carriers

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        """An id in the carrier's shape."""
        return f"{kind}-{secrets.token_hex(8)}"

    def now(self) -> datetime:
        return self.clock.now()

    def new_call(
        self, direction: Literal["inbound", "outbound"], from_number: str, to_number: str, plan: PhonePlan | None = None
    ) -> EmulatedCall:
        far = from_number if direction == "inbound" else to_number
        phone = EmulatedPhone(far, self.voice)
        chosen = plan or self.phones.plan_for(to_number)
        call = EmulatedCall(self, self.new_id("call"), direction, from_number, to_number, phone, chosen)
        self.calls.append(call)
        self._placed.set()
        return call

    def place_call(self, call: EmulatedCall, timeout_s: float, answered: Callable[[], Awaitable[None]]) -> None:
        """Ring the phone, and go on with ``answered`` when it does."""
        call.run_program(self.ring_phone(call, timeout_s, answered))

    async def ring_phone(self, call: EmulatedCall, timeout_s: float, answered: Callable[[], Awaitable[None]]) -> None:
        """The same, for a program that waits."""
        plan = call.plan
        call.advance_to("initiated")
        if plan.pickup == "unreachable":
            call.end("unreachable", "carrier")
            return
        call.advance_to("ringing")
        gives_up = min(timeout_s, plan.gives_up_s if plan.gives_up_s is not None else timeout_s)
        await asyncio.sleep(gives_up if plan.pickup == "no_answer" else min(plan.ring_s, timeout_s))
        refused: dict[str, Cause] = {"busy": "busy", "rejects": "rejected", "no_answer": "no_answer"}
        if plan.pickup in refused:
            call.end(refused[plan.pickup], "carrier" if plan.pickup == "no_answer" else "callee")
        elif plan.ring_s > timeout_s:
            call.end("no_answer", "carrier")
        else:
            call.answer()
            await answered()

    async def say_text(self, call: EmulatedCall, text: str) -> None:
        """The carrier speaks to the phone, to the end of the text."""
        call.spoken.append(text)
        announcement = ToneAnnouncement(max(0.1, len(text) * self.announces_s))
        call.connect_to(announcement)
        await announcement.over.wait()
        call.connect_to(None)

    async def play_url(self, call: EmulatedCall, url: str) -> None:
        """Audio from an address: that it can be fetched is what is checked."""
        call.played.append(url)
        if url.startswith("http"):
            fetched = await self.callback_sender.send_now(OutgoingCallback("play", "GET", url, call_id=call.id))
            if fetched.status != 200:
                call.errors.append(f"could not fetch {url}: {fetched.status or fetched.error}")
                return
        announcement = ToneAnnouncement(0.3)
        call.connect_to(announcement)
        await announcement.over.wait()
        call.connect_to(None)

    def attach_stream(self, call: EmulatedCall, stream: MediaStream) -> None:
        """Open a media socket for this phone; ``stream.over`` when it is closed."""
        call.connect_to(stream)
        self.tasks.start(stream.run(), name="lab.stream")

    def get_room(self, name: str) -> ConferenceRoom:
        """The conference of this name; a new one when there is none, or it is over."""
        found = self.rooms.get(name)
        if found is None or found.is_over:
            found = self.rooms[name] = ConferenceRoom(name, self.new_id("room"))
        return found

    async def bridge_calls(self, one: EmulatedCall, other: EmulatedCall) -> None:
        """Connect two answered phones until one of them is gone."""
        room = ConferenceRoom("bridge")
        seats = [room.join(call.id, ends=True) for call in (one, other)]
        one.connect_to(seats[0])
        other.connect_to(seats[1])
        await seats[0].over.wait()

    @property
    def live_calls(self) -> list[EmulatedCall]:
        return [call for call in self.calls if not call.is_over]

    def has_room_for_request(self) -> bool:
        """Count one request; False when it is too many within a second."""
        return _count_within_rate(self._recent_requests, self.limits.requests_per_second)

    def has_room_for_call(self) -> bool:
        """Count one call; False when it is too many within a second (carriers that refuse)."""
        return _count_within_rate(self._recent_calls, self.limits.calls_per_second)

    async def wait_for_call_slot(self) -> None:
        """Wait for one's turn (carriers that queue)."""
        async with self._placing:
            if not self.has_room_for_call():
                await asyncio.sleep(self._recent_calls[0] + 1.0 - asyncio.get_running_loop().time())
                self.has_room_for_call()


def _count_within_rate(recent: deque[float], per_second: float | None) -> bool:
    if per_second is None:
        return True
    now = asyncio.get_running_loop().time()
    while recent and now - recent[0] >= 1.0:
        recent.popleft()
    if len(recent) >= per_second:
        return False
    recent.append(now)
    return True
