"""One carrier in a process: its REST side, the numbers on sale, its calls, and the phones behind them."""

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
    """A number that the account owns, or (``is_owned`` False) that is on sale. ``settings`` are the carrier's, ``owner``
    the sub-account that has it; empty for the emulator's own account."""

    e164: str
    id: str = ""
    country: str = "US"
    type: str = "local"
    is_owned: bool = True
    settings: dict[str, Any] = field(default_factory=dict)
    owner: str = ""


@dataclass(slots=True)
class EmulatorLimits:
    """The carrier's limits. ``calls_per_second`` applies to calls placed by REST (None: no limit),
    ``requests_per_second`` to all requests. The excess is queued or refused, as the carrier does it."""

    calls_per_second: float | None = None
    requests_per_second: float | None = None
    concurrent_calls: int | None = None


class CarrierEmulator(RestServer):
    """Base class of the emulators. ``credentials`` are the fields that a user of Offhook enters for this account.
    See ``offhook_lab.carriers``."""

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
        # seconds of an announcement per character
        self.announces_s = 0.01
        self.callback_sender = CallbackSender(self.chaos, self.sign_callback)
        self.tasks = TaskTracker()
        self._recent_calls: deque[float] = deque()
        self._recent_requests: deque[float] = deque()
        self._placing = asyncio.Lock()
        self._placed = asyncio.Event()

    # carrier-specific parts

    @property
    @abstractmethod
    def credentials(self) -> dict[str, str]:
        """Returns the account in the field names of Offhook's telephony configuration."""

    @abstractmethod
    def sign_callback(self, callback: OutgoingCallback) -> Mapping[str, str]:
        """Returns the headers that prove a callback, with another secret for a forgery."""

    @abstractmethod
    async def deliver_inbound(self, call: EmulatedCall, number: EmulatedNumber) -> None:
        """Delivers a call to one of our numbers: requests our URL and follows its answer."""

    @abstractmethod
    def point_at(self, url: str, /) -> None:
        """Sets our URL that answers calls to our numbers."""

    @abstractmethod
    def send_status(self, call: EmulatedCall, status: Status) -> None:
        """Reports a call's progress to us if it was requested."""

    def report_digit(self, call: EmulatedCall, digit: str) -> None:
        """Reports a key by webhook, which only some carriers do."""

    def number_for(self, to: str) -> EmulatedNumber:
        """Returns the called number; any number that was not bought elsewhere is ours."""
        return self.numbers.get(to) or EmulatedNumber(to)

    # for tests

    @asynccontextmanager
    async def running(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Self]:
        """Serves until the block ends, and cuts the live calls then."""
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
        """Returns all requests to us that were attempted, including those for answer documents, with our responses."""
        return self.callback_sender.sent

    @property
    def held_callbacks(self) -> list[OutgoingCallback]:
        return self.callback_sender.held

    def callbacks_of(self, kind: str) -> list[OutgoingCallback]:
        """Returns the callbacks whose kind begins with ``kind``."""
        return [callback for callback in self.callbacks if callback.kind.startswith(kind)]

    def add_number(self, e164: str, **settings: Any) -> EmulatedNumber:
        """Adds a number to the account, with the carrier's own settings (see the carrier's module)."""
        number = EmulatedNumber(e164, self.new_id("number"), settings=settings)
        self.numbers[e164] = number
        return number

    def call_in(self, from_number: str, to_number: str, plan: PhonePlan | None = None) -> EmulatedCall:
        """Calls one of our numbers; ``plan.script`` is the caller. Returns at once."""
        call = self.new_call("inbound", from_number, to_number, plan or PhonePlan())
        call.advance_to("ringing")
        call.run_program(self.deliver_inbound(call, self.number_for(to_number)))
        return call

    def find_call(self, call_id: str) -> EmulatedCall | None:
        return next((call for call in self.calls if call.id == call_id), None)

    async def next_call(self, *, after: int = 0, within_s: float = 10.0) -> EmulatedCall:
        """Waits for the call that is placed after the first ``after`` ones."""
        async with asyncio.timeout(within_s):
            while len(self.calls) <= after:
                self._placed.clear()
                await self._placed.wait()
        return self.calls[after]

    async def wait_settled(self, within_s: float = 30.0) -> None:
        """Waits until every call is over and every callback was answered or given up."""
        async with asyncio.timeout(within_s):
            for call in list(self.calls):
                await call.ended.wait()
                for stream in call.streams:
                    await stream.over.wait()
            # lets the tasks that waited for these run
            await asyncio.sleep(0.01)
            await self.callback_sender.wait_idle()

    # for carriers

    def new_id(self, kind: Literal["call", "stream", "number", "room", "other"]) -> str:
        """Returns an id in the carrier's format."""
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
        """Rings the phone, and continues with ``answered`` when it answers."""
        call.run_program(self.ring_phone(call, timeout_s, answered))

    async def ring_phone(self, call: EmulatedCall, timeout_s: float, answered: Callable[[], Awaitable[None]]) -> None:
        """Rings the phone for a program that waits."""
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
        """Speaks to the phone, to the end of the text."""
        call.spoken.append(text)
        announcement = ToneAnnouncement(max(0.1, len(text) * self.announces_s))
        call.connect_to(announcement)
        await announcement.over.wait()
        call.connect_to(None)

    async def play_url(self, call: EmulatedCall, url: str) -> None:
        """Plays audio from a URL; only the fetch is checked."""
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
        """Opens a media socket for this phone; ``stream.over`` is set when it closes."""
        call.connect_to(stream)
        self.tasks.start(stream.run(), name="lab.stream")

    def get_room(self, name: str) -> ConferenceRoom:
        """Returns the conference of this name, a new one when there is none or it is over."""
        found = self.rooms.get(name)
        if found is None or found.is_over:
            found = self.rooms[name] = ConferenceRoom(name, self.new_id("room"))
        return found

    async def bridge_calls(self, one: EmulatedCall, other: EmulatedCall) -> None:
        """Connects two answered phones until one of them is gone."""
        room = ConferenceRoom("bridge")
        seats = [room.join(call.id, ends=True) for call in (one, other)]
        one.connect_to(seats[0])
        other.connect_to(seats[1])
        await seats[0].over.wait()

    @property
    def live_calls(self) -> list[EmulatedCall]:
        return [call for call in self.calls if not call.is_over]

    def has_room_for_request(self) -> bool:
        """Counts one request. Returns False when it is too many within a second."""
        return _count_within_rate(self._recent_requests, self.limits.requests_per_second)

    def has_room_for_call(self) -> bool:
        """Counts one call. Returns False when it is too many within a second (for carriers that refuse)."""
        return _count_within_rate(self._recent_calls, self.limits.calls_per_second)

    async def wait_for_call_slot(self) -> None:
        """Waits for a free call slot (for carriers that queue)."""
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
