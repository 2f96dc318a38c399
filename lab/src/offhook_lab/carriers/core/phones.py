"""The telephone at the far end of a call: its voice, its hearing, and a script that controls it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, Protocol

import numpy as np

from offhook.kit.audio import FRAME_S, MULAW_8K
from offhook.telephony.media.simulated_phone import FRAME, SILENCE, is_loud

Voice = Callable[[str], Awaitable[bytes]]
Script = Callable[["EmulatedPhone"], Awaitable[None]]
Pickup = Literal["answers", "busy", "no_answer", "rejects", "unreachable"]
Verdict = Literal["human", "machine", "fax", "unknown"]

WORD_S: Final = 0.2
BEEP_HZ: Final = 1000


class PhoneDisconnected(Exception):
    """The call is over; ends a script."""


class AudioPeer(Protocol):
    """A phone's peer: a media socket, other phones, an announcement."""

    def exchange_frame(self, spoken: bytes) -> bytes | None:
        """Takes 20 ms of mu-law from the phone and returns 20 ms for it (None: nothing arrives)."""
        ...

    def press_digit(self, digit: str) -> None: ...

    def leave(self) -> None:
        """Disconnects the phone, because it is gone or connected to another peer."""
        ...


def make_tone(seconds: float, hz: float = 440.0) -> bytes:
    """Returns a loud tone as mu-law at 8 kHz."""
    samples = np.sin(np.arange(int(8000 * seconds)) * 2 * np.pi * hz / 8000) * 8000
    return MULAW_8K.encode(samples.astype(np.int16))


async def hum_words(text: str) -> bytes:
    """Returns the default voice of phones: a tone, 0.2 s per word."""
    return make_tone(WORD_S * max(1, len(text.split())))


class EmulatedPhone:
    """One telephone in one call. ``heard`` is all audio since the answer (mu-law, silence included)."""

    def __init__(self, number: str, voice: Voice = hum_words) -> None:
        self.number = number
        self.heard = bytearray()
        self.said: list[str] = []
        self.loud_frames = 0
        self.is_over = False
        self._voice = voice
        self._outgoing = bytearray()
        self._changed = asyncio.Event()
        self._last_loud: int | None = None  # frames
        self._frames = 0
        self.peer: AudioPeer | None = None
        self.on_hang_up: Callable[[], None] = lambda: None
        self.on_digit: Callable[[str], None] = lambda digit: None

    # for scripts

    def queue_audio(self, mulaw: bytes) -> None:
        """Queues audio behind what is already being said."""
        self._outgoing += mulaw

    async def say_text(self, text: str) -> None:
        """Says the text to its end."""
        self.said.append(text)
        self.queue_audio(await self._voice(text))
        while self._outgoing:
            await self.next_frame()

    async def wait_for_speech_end(self, quiet_s: float = 0.6) -> None:
        """Waits until the other side has talked, from now on, and then been quiet for this long."""
        began = self._frames
        while (
            self._last_loud is None or self._last_loud < began or (self._frames - self._last_loud) * FRAME_S < quiet_s
        ):
            await self.next_frame()

    async def wait_for_speech(self) -> None:
        """Waits until the other side talks."""
        began = self._frames
        while self._last_loud is None or self._last_loud <= began:
            await self.next_frame()

    async def wait_seconds(self, seconds: float) -> None:
        """Waits for seconds of the line's own time."""
        until = self._frames + round(seconds / FRAME_S)
        while self._frames < until:
            await self.next_frame()

    async def press_keys(self, digits: str) -> None:
        """Presses keys, one every 100 ms."""
        for digit in digits:
            if self.peer is not None:
                self.peer.press_digit(digit)
            self.on_digit(digit)
            await self.wait_seconds(0.1)

    def hang_up(self) -> None:
        self.on_hang_up()

    async def next_frame(self) -> None:
        """Waits for the next 20 ms. Raises PhoneDisconnected when the call is over."""
        if not self.is_over:
            self._changed.clear()
            await self._changed.wait()
        if self.is_over:
            raise PhoneDisconnected

    @property
    def heard_speech_s(self) -> float:
        """Returns the seconds of sound (not silence) that arrived."""
        return self.loud_frames * FRAME_S

    # for the call

    def exchange_frame(self) -> None:
        """Exchanges 20 ms in both directions."""
        spoken = bytes(self._outgoing[:FRAME])
        del self._outgoing[:FRAME]
        spoken += SILENCE[len(spoken) :]
        frame = self.peer.exchange_frame(spoken) if self.peer is not None else None
        self._frames += 1
        if frame is not None and is_loud(frame):
            self.loud_frames += 1
            self._last_loud = self._frames
        self.heard += frame or SILENCE
        self._changed.set()

    def stop(self) -> None:
        self.is_over = True
        self._changed.set()


@dataclass(frozen=True, slots=True)
class PhonePlan:
    """A telephone's behavior when it is called; times are in seconds.

    ``gives_up_s``: ring time after which the network reports no answer (None: after the caller's own ring time).
    ``verdict``: the result of answering-machine detection, ``verdict_s`` after the answer; ``greeting_s``: length of a
    machine's greeting before its beep.
    """

    pickup: Pickup = "answers"
    ring_s: float = 0.1
    gives_up_s: float | None = None
    script: Script | None = None
    verdict: Verdict = "human"
    verdict_s: float = 0.3
    greeting_s: float = 0.0
    beeps: bool = True

    def with_ring_time(self, seconds: float) -> "PhonePlan":
        return replace(self, ring_s=seconds)


def answers(*texts: str, then_hangs_up: bool = False, ring_s: float = 0.1) -> PhonePlan:
    """Answers, and each time the other side has talked, says the next text. Then listens, or hangs up."""

    async def run_script(phone: EmulatedPhone) -> None:
        for text in texts:
            await phone.wait_for_speech_end()
            await phone.say_text(text)
        if then_hangs_up:
            await phone.wait_for_speech_end()
            phone.hang_up()

    return PhonePlan(script=run_script, ring_s=ring_s)


def greets(text: str = "Hello?", *more: str) -> PhonePlan:
    """Answers and speaks first, as people do; then acts like :func:`answers`."""
    rest = answers(*more).script

    async def run_script(phone: EmulatedPhone) -> None:
        await phone.say_text(text)
        if rest is not None:
            await rest(phone)

    return PhonePlan(script=run_script)


def scripted(script: Script) -> PhonePlan:
    return PhonePlan(script=script)


def silent() -> PhonePlan:
    """Answers and never says anything."""
    return PhonePlan()


def busy() -> PhonePlan:
    return PhonePlan("busy")


def no_answer(gives_up_s: float | None = None) -> PhonePlan:
    return PhonePlan("no_answer", gives_up_s=gives_up_s)


def rejects() -> PhonePlan:
    """Declines the call while it rings."""
    return PhonePlan("rejects")


def unreachable() -> PhonePlan:
    """Does not ring: there is no such number, or no route to it."""
    return PhonePlan("unreachable")


def hangs_up_after(seconds: float) -> PhonePlan:
    async def run_script(phone: EmulatedPhone) -> None:
        await phone.wait_seconds(seconds)
        phone.hang_up()

    return PhonePlan(script=run_script)


def interrupts(text: str, after_s: float = 0.4) -> PhonePlan:
    """Interrupts the other side ``after_s`` after it began to talk."""

    async def run_script(phone: EmulatedPhone) -> None:
        await phone.wait_for_speech()
        await phone.wait_seconds(after_s)
        await phone.say_text(text)

    return PhonePlan(script=run_script)


def presses(digits: str) -> PhonePlan:
    """Presses keys once the other side has talked."""

    async def run_script(phone: EmulatedPhone) -> None:
        await phone.wait_for_speech_end()
        await phone.press_keys(digits)

    return PhonePlan(script=run_script)


def voicemail(greeting_s: float = 1.0, *, beeps: bool = True, records_s: float | None = None) -> PhonePlan:
    """Answers as a machine: a greeting, a beep, then a recording; hangs up after ``records_s``."""

    async def run_script(phone: EmulatedPhone) -> None:
        phone.queue_audio(make_tone(greeting_s))
        await phone.wait_seconds(greeting_s + 0.1)
        if beeps:
            phone.queue_audio(make_tone(0.4, BEEP_HZ))
        if records_s is not None:
            await phone.wait_seconds(records_s)
            phone.hang_up()

    return PhonePlan(script=run_script, verdict="machine", greeting_s=greeting_s, beeps=beeps)


_PERSON = answers("Yes, please.", "Thank you, goodbye.", then_hangs_up=True)
# By the last two digits of +1 201 555 01xx, as in the sandbox.
BY_NUMBER: Final[Mapping[str, PhonePlan]] = {
    "01": _PERSON,
    "02": busy(),
    "03": no_answer(5.0),
    "04": voicemail(2.0),
    "05": hangs_up_after(2.0),
    "06": silent(),
    "07": interrupts("Wait a moment, please."),
    "08": presses("1234#"),
    "09": rejects(),
}


@dataclass(slots=True)
class PhoneDirectory:
    """Behaviors by number: ``plans`` by E.164 number, else the table of last digits, else ``default``."""

    plans: dict[str, PhonePlan] = field(default_factory=dict)
    default: PhonePlan = _PERSON

    def __setitem__(self, number: str, plan: PhonePlan) -> None:
        self.plans[number] = plan

    def plan_for(self, number: str) -> PhonePlan:
        fixed = BY_NUMBER.get(number[-2:]) if number.startswith("+120155501") and len(number) == 12 else None
        return self.plans.get(number) or fixed or self.default
