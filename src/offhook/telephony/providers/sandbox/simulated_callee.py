"""A simulated callee with a phone: hears by energy, understands by reading along, and talks with a synthetic voice."""

import asyncio
from typing import Final, Protocol

from offhook.telephony.media.simulated_phone import SimulatedPhone
from offhook.telephony.providers.sandbox.call_script import CallScript
from offhook.telephony.providers.sandbox.config import Behavior
from offhook.telephony.providers.sandbox.dialog import CallerDialog
from offhook.telephony.providers.sandbox.tones import make_beep
from offhook.telephony.providers.sandbox.wire import PhoneWire
from offhook.voice.events import AGENT_SPEAKING, NODE_ENTERED, VoiceEvent

# Pause after which people start to talk; pauses between an agent's sentences are shorter.
GAP_S: Final = 0.9
MAX_SILENCE_S: Final = 12.0
# Delay from the last word to the hang-up.
HANG_UP_DELAY_S: Final = 1.5
MAX_TURNS: Final = 20
MAX_CALL_S: Final = 600.0
GREETING: Final = (
    "Hello, you have reached Alex Morgan. I can't come to the phone. Please leave a message after the tone."
)


class CallerVoice(Protocol):
    async def synthesize(self, text: str) -> bytes:
        """Returns the whole text as 8 kHz mu-law."""
        ...


class LineIsDead(Exception):
    """The call ended while the callee was still acting."""


class SimulatedCallee:
    """The callee of one call. :meth:`act_out` returns when the callee hangs up and raises LineIsDead when the other
    side did."""

    def __init__(self, *, line: SimulatedPhone, wire: PhoneWire, voice: CallerVoice, brief: CallScript) -> None:
        self.phone = line
        self.wire = wire
        self.dialog = CallerDialog(brief)
        self._voice = voice
        self._loop = asyncio.get_running_loop()
        self._heard: list[str] = []
        self.node: str | None = None
        self._since = self._loop.time()

    def read_along(self, event: VoiceEvent) -> None:
        """Handles the session's events. A human would understand the agent's speech; the simulated callee reads its
        text."""
        if event.type == AGENT_SPEAKING:
            self._heard.append(str(event.data.get("text", "")))
        elif event.type == NODE_ENTERED:
            self.node = str(event.data.get("node_id"))

    async def act_out(self, behavior: Behavior) -> None:
        async with asyncio.timeout(MAX_CALL_S):
            match behavior:
                case "voicemail":
                    await _play_voicemail(self)
                case "hangs_up":
                    await self.wait_agent_talking(1.0)
                case "silent":
                    await self.wait(MAX_CALL_S)
                case "interrupts":
                    for _ in range(2):
                        if not await self.wait_agent_talking(0.8):
                            break
                        await self.make_move()
                    await _play_talker(self)
                case "presses_keys":
                    for _ in range(6):
                        await self.wait_agent_done()
                        await self.press(self.dialog.choose_digits(self.node))
                case "asks_for_person":
                    for _ in range(3):
                        await self.wait_agent_done()
                        await self.say("I want to speak to a person, please.")
                    await self.wait_agent_done()
                    await self.say("Goodbye.")
                    await self.wait(HANG_UP_DELAY_S)
                case _:
                    await _play_talker(self)

    # the callee's actions

    async def wait_frame(self) -> None:
        if not await self.phone.next_frame():
            raise LineIsDead

    async def wait(self, seconds: float) -> None:
        until = self._loop.time() + seconds
        while self._loop.time() < until:
            await self.wait_frame()

    async def say(self, text: str) -> None:
        """Says the text and returns when it was played out."""
        self.phone.queue_speech(await self._voice.synthesize(text))
        while self.phone.is_talking:
            await self.wait_frame()
        self._since = self._loop.time()

    async def press(self, digits: str) -> None:
        for digit in digits:
            self.wire.send_digit(digit)
            await self.wait(0.3)
        self._since = self._loop.time()

    async def wait_agent_talking(self, seconds: float) -> bool:
        """Waits until the agent has been talking for this long. Returns False when it stays silent too long."""
        loud, since = 0.0, self._loop.time()
        while loud < seconds:
            await self.wait_frame()
            loud += 0.02 if self.phone.speech.is_loud else 0.0
            if not loud and self._loop.time() - since > MAX_SILENCE_S:
                return False
        return True

    async def wait_agent_done(self) -> bool:
        """Waits until the agent has talked and stopped. Returns False when it stays silent too long."""
        while True:
            await self.wait_frame()
            last = self.phone.speech.last_loud_at
            has_talked = last is not None and last > self._since
            if has_talked and self.phone.quiet_for() >= GAP_S and not self.phone.has_unplayed:
                return True
            if not has_talked and self._loop.time() - self._since > MAX_SILENCE_S:
                self._since = self._loop.time()
                return False

    async def make_move(self) -> bool:
        """Responds to what the agent said. Returns False when the response is to hang up."""
        heard, self._heard = " ".join(self._heard), []
        move = self.dialog.choose_move(heard, self.node)
        if move.kind == "say":
            await self.say(move.text)
        elif move.kind == "press":
            await self.press(move.text)
        return move.kind != "hang_up"


async def _play_talker(person: SimulatedCallee) -> None:
    silences = 0
    for _ in range(MAX_TURNS):
        if await person.wait_agent_done():
            silences = 0
            if not await person.make_move():
                return
        elif silences:
            return
        else:
            silences += 1
            await person.say("Hello? Are you still there?")
    await person.say("I have to go now. Goodbye.")
    await person.wait(HANG_UP_DELAY_S)


async def _play_voicemail(person: SimulatedCallee) -> None:
    await person.wait(0.4)
    await person.say(GREETING)
    person.phone.queue_speech(make_beep())
    await person.wait(0.5)
    person.wire.send_machine()
    await person.wait_agent_done()
    await person.wait(10.0)
