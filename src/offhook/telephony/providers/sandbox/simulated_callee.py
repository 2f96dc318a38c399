"""A simulated person with a phone: hears by energy, understands by reading along, talks with a synthetic voice."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

from offhook.telephony.media.simulated_phone import Line
from offhook.telephony.providers.sandbox.call_script import Brief, Move
from offhook.telephony.providers.sandbox.config import Behaviour
from offhook.telephony.providers.sandbox.dialogue import Mind
from offhook.telephony.providers.sandbox.tones import beep
from offhook.telephony.providers.sandbox.wire import PhoneWire
from offhook.voice.events import AGENT_SPEAKING, NODE_ENTERED, VoiceEvent

# People wait about this long after the other side has stopped; pauses between an agent's sentences are shorter.
GAP_S: Final = 0.9
PATIENCE_S: Final = 12.0
# From the last word to the button.
HANG_UP_S: Final = 1.5
MAX_TURNS: Final = 20
MAX_CALL_S: Final = 600.0
GREETING: Final = (
    "Hello, you have reached Alex Morgan. I can't come to the phone. Please leave a message after the tone."
)


class CallerVoice(Protocol):
    async def synthesize(self, text: str) -> bytes:
        """The whole text as 8 kHz mu-law."""
        ...


class LineIsDead(Exception):
    """The call ended under the person."""


class Person:
    """One call's person. ``act`` returns when they hang up and raises LineIsDead when the other side did."""

    def __init__(self, *, line: Line, wire: PhoneWire, voice: CallerVoice, brief: Brief) -> None:
        self.line = line
        self.wire = wire
        self.mind = Mind(brief)
        self._voice = voice
        self._loop = asyncio.get_running_loop()
        self._heard: list[str] = []
        self._node: str | None = None
        self._since = self._loop.time()

    def read_along(self, event: VoiceEvent) -> None:
        """The session's events: a person of flesh would understand what the agent says, this one is told."""
        if event.type == AGENT_SPEAKING:
            self._heard.append(str(event.data.get("text", "")))
        elif event.type == NODE_ENTERED:
            self._node = str(event.data.get("node_id"))

    async def act(self, behaviour: Behaviour) -> None:
        async with asyncio.timeout(MAX_CALL_S):
            await _BEHAVIOURS[behaviour](self)

    # what people do

    async def frame(self) -> None:
        if not await self.line.next_frame():
            raise LineIsDead

    async def wait(self, seconds: float) -> None:
        until = self._loop.time() + seconds
        while self._loop.time() < until:
            await self.frame()

    async def say(self, text: str) -> None:
        """Say it and return when it is out."""
        self.line.talk(await self._voice.synthesize(text))
        while self.line.is_talking:
            await self.frame()
        self._since = self._loop.time()

    async def press(self, digits: str) -> None:
        for digit in digits:
            self.line.press(digit)
            await self.wait(0.3)
        self._since = self._loop.time()

    async def agent_talks_for(self, seconds: float) -> bool:
        """Wait until the agent has been talking this long; False when it stays silent too long."""
        loud, since = 0.0, self._loop.time()
        while loud < seconds:
            await self.frame()
            loud += 0.02 if self.line.ear.is_loud else 0.0
            if not loud and self._loop.time() - since > PATIENCE_S:
                return False
        return True

    async def agent_is_done(self) -> bool:
        """Wait until the agent has talked and stopped; False when it stays silent too long."""
        while True:
            await self.frame()
            last = self.line.ear.last_loud_at
            has_talked = last is not None and last > self._since
            if has_talked and self.line.quiet_for() >= GAP_S and not self.line.has_unplayed:
                return True
            if not has_talked and self._loop.time() - self._since > PATIENCE_S:
                self._since = self._loop.time()
                return False

    def next_move(self) -> Move:
        heard, self._heard = " ".join(self._heard), []
        return self.mind.answer(heard, self._node)

    async def do(self, move: Move) -> bool:
        """False when the move was to hang up."""
        if move.kind == "say":
            await self.say(move.text)
        elif move.kind == "press":
            await self.press(move.text)
        return move.kind != "hang_up"

    @property
    def node(self) -> str | None:
        return self._node


async def _talks(person: Person) -> None:
    silences = 0
    for _ in range(MAX_TURNS):
        if await person.agent_is_done():
            silences = 0
            if not await person.do(person.next_move()):
                return
        elif silences:
            return
        else:
            silences += 1
            await person.say("Hello? Are you still there?")
    await person.say("I have to go now. Goodbye.")
    await person.wait(HANG_UP_S)


async def _voicemail(person: Person) -> None:
    await person.wait(0.4)
    await person.say(GREETING)
    person.line.talk(beep())
    await person.wait(0.5)
    person.wire.send_machine()
    await person.agent_is_done()
    await person.wait(10.0)


async def _hangs_up(person: Person) -> None:
    await person.agent_talks_for(1.0)


async def _silent(person: Person) -> None:
    await person.wait(MAX_CALL_S)


async def _interrupts(person: Person) -> None:
    for _ in range(2):
        if not await person.agent_talks_for(0.8):
            break
        await person.do(person.next_move())
    await _talks(person)


async def _presses_keys(person: Person) -> None:
    for _ in range(6):
        await person.agent_is_done()
        await person.press(person.mind.digits(person.node))


async def _asks_for_person(person: Person) -> None:
    for _ in range(3):
        await person.agent_is_done()
        await person.say("I want to speak to a person, please.")
    await person.agent_is_done()
    await person.say("Goodbye.")
    await person.wait(HANG_UP_S)


_BEHAVIOURS: Final[dict[Behaviour, Callable[[Person], Awaitable[None]]]] = {
    "talks": _talks,
    "voicemail": _voicemail,
    "hangs_up": _hangs_up,
    "silent": _silent,
    "interrupts": _interrupts,
    "presses_keys": _presses_keys,
    "asks_for_person": _asks_for_person,
}
