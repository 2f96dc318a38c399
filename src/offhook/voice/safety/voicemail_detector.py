"""Detects whether a person or an answering machine answered, in the first seconds of outbound calls."""

import asyncio
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

from offhook.kit.audio import Samples
from offhook.kit.json_values import parse_json
from offhook.models.ports import LlmMessage, LlmRequest
from offhook.voice.call_inputs import current_inputs
from offhook.voice.dialog.llm_chain import LlmChain
from offhook.voice.errors import AllModelsFailed

VoicemailAction = Literal["hang_up", "message", "continue"]
# After this long, the other side counts as a person.
MAX_DETECTION_S: Final = 30.0
# After a pause this long, the next words are another utterance. Machines do not wait for an answer.
MIN_PAUSE_S: Final = 1.2
# A beep after less speech than this is a phone being switched on, not the end of a greeting.
MIN_GREETING_S: Final = 1.0
# Fewer words are what people say when they pick up.
MIN_WORDS_TO_ASK: Final = 5
# For a machine that never beeps: it records once it has been silent for this long.
MIN_QUIET_S: Final = 2.0
MAX_WAIT_S: Final = 20.0
INSTRUCTION: Final = (
    "Somebody was called and these are the first words that were heard. Decide whether they come from an answering"
    " machine, a voicemail box or a call screener, and not from a person who is on the line."
)
_SCHEMA: Final = {
    "type": "object",
    "properties": {"is_voicemail": {"type": "boolean", "description": "True when no person is on the line."}},
    "required": ["is_voicemail"],
    "additionalProperties": False,
}
_GREETING = re.compile(
    r"\b(leave (me |us |him |her )?(a |your )?(short |brief )?(message|name and number)|after the (tone|beep)|at the (tone|beep)"
    r"|voice ?mail( ?box)?|mailbox|(is|am|are) not available( to)?|can(no|')t (come to|take|answer)|reached the voice)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class VoicemailConfig:
    """``long_speech_s``: people who pick up pause before this. ``instruction`` replaces the model's."""

    is_on: bool = True
    action: VoicemailAction = "hang_up"
    message: str = ""
    recording_id: str | None = None
    long_speech_s: float = 8.0
    asks_model: bool = False
    instruction: str = ""


class VoicemailDetector:
    """Analyzes what is heard on one outbound call and calls ``on_found`` once, with the method that detected it.

    Methods: ``transcript`` (the words), ``greeting_length``, ``beep``, ``model``. All times are seconds since the
    start.
    """

    def __init__(
        self, config: VoicemailConfig, *, is_on: bool, since_start: Callable[[], float], on_found: Callable[[str], None]
    ) -> None:
        self._config = config
        self.is_on = is_on
        self._now = since_start
        self._on_found = on_found
        self._inputs = current_inputs()
        self._beeps = self._inputs.beep_detector(self._on_beep)
        self._asking: asyncio.Task[None] | None = None
        self._speech_from: float | None = None
        self._heard_at = 0.0
        self._speech_s = 0.0
        self._turns = 0
        self.is_detected = False
        self.beep_at: float | None = None

    @property
    def is_listening(self) -> bool:
        return self.is_on and (self.is_detected or self._now() <= MAX_DETECTION_S)

    def feed_audio(self, samples_8k: Samples) -> None:
        if self.is_listening:
            self._beeps.push(samples_8k)

    def on_caller_speaking(self) -> None:
        """Updates the detection; called repeatedly while the caller speaks."""
        if not self.is_listening:
            return
        now = self._now()
        if self._speech_from is None or now - self._heard_at > MIN_PAUSE_S:
            self._speech_from = now
        self._speech_s += min(now - self._heard_at, 0.1)
        self._heard_at = now
        if not self._turns and now - self._speech_from >= self._config.long_speech_s and now <= MAX_DETECTION_S:
            self._report_detection("greeting_length")

    def on_turn_ended(self, text: str, llm: LlmChain) -> None:
        if not self.is_listening or self.is_detected:
            return
        self._turns += 1
        if _GREETING.search(text) is not None:
            self._report_detection("transcript")
        elif self._config.asks_model and self._turns == 1 and len(text.split()) >= MIN_WORDS_TO_ASK:
            self._asking = asyncio.create_task(self._ask_model(text, llm))

    async def _ask_model(self, text: str, llm: LlmChain) -> None:
        await self._inputs.resumed("machine_model")
        messages = [LlmMessage("system", self._config.instruction or INSTRUCTION), LlmMessage("user", text)]
        try:
            answer = await llm.complete_text(LlmRequest(messages=messages, temperature=0.0, response_schema=_SCHEMA))
            found = parse_json(answer[answer.index("{") : answer.rindex("}") + 1])
        except (AllModelsFailed, ValueError):
            return
        if isinstance(found, dict) and found.get("is_voicemail") is True:
            self._report_detection("model")

    def _on_beep(self) -> None:
        self.beep_at = self._now()
        if self._speech_s >= MIN_GREETING_S and not self._turns:
            self._report_detection("beep")

    def _report_detection(self, by: str) -> None:
        if not self.is_detected and self.is_on:
            self._on_found(by)

    async def wait_until_recording(self) -> None:
        """Waits until a message may be left: after the beep, or when the machine has been silent for a while."""
        found_at = self._now()
        while self._now() - found_at < MAX_WAIT_S:
            if self.beep_at is not None and self.beep_at >= found_at - 3:
                return
            if self._now() - max(self._heard_at, found_at - MIN_QUIET_S / 2) >= MIN_QUIET_S:
                return
            await self._inputs.sleep("machine", 0.05)

    def close(self) -> None:
        if self._asking is not None:
            self._asking.cancel()
