"""What a call takes from its surroundings beside its ports: the time, the beat of its output, and how sound measures.

The parts of a call ask for it when they are built, so that a journal can keep what they were given and a replay can give
it again.
"""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol

import numpy as np

from offhook.kit.audio import Codec, Samples
from offhook.models.ports import Tts
from offhook.voice.input.beep_detector import BeepDetector
from offhook.voice.input.caller_sound import CallerSound
from offhook.voice.input.language_judge import LanguageJudge
from offhook.voice.output.canned_speech import CannedSpeech
from offhook.voice.output.metronome import FramePlayer, Metronome
from offhook.voice.output.voice_level import VoiceLevel


class CallBeat(Protocol):
    """The 20 ms beat of a call's output."""

    def add(self, player: FramePlayer) -> None: ...

    def remove(self, player: FramePlayer) -> None: ...


class CallTimer(Protocol):
    """Something that is due later."""

    def cancel(self) -> None: ...


class CallInputs:
    """What a live call is given. Built in the loop of the call."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self.time = self._loop.time
        # for those outside of the call: the call itself has not looked
        self.time_outside = self._loop.time

    def note(self, kind: int, value: Any = None) -> None:
        """Notes what reached the call from outside; a call without a journal keeps nothing of it."""

    async def sleep(self, timer: str, seconds: float) -> None:
        """Waits; ``timer`` names what for."""
        await asyncio.sleep(seconds)

    def call_later(self, timer: str, delay_s: float, callback: Callable[[], None]) -> CallTimer:
        """Calls back later; ``timer`` names what for."""
        return self._loop.call_later(delay_s, callback)

    async def resumed(self, step: str) -> None:
        """The call goes on where it had waited for itself: for a task to begin, for another one, for its own audio."""

    def beat(self) -> CallBeat:
        return Metronome.of_running_loop()

    def caller_sound(self) -> CallerSound:
        return CallerSound(self.time)

    def canned_speech(self, tts: Tts, codec: Codec, level_db: float | None) -> CannedSpeech:
        return CannedSpeech(tts, codec, level_db)

    def voice_level(self, tts: Tts) -> VoiceLevel:
        """Returns how loud a voice is, as far as the process knows."""
        return VoiceLevel.of_voice(tts)

    def beep_detector(self, on_beep: Callable[[], None]) -> BeepDetector:
        return BeepDetector(on_beep)

    def level_db(self, samples: Samples) -> float:
        """Returns the level of the caller's line in dBFS."""
        level = float(np.sqrt(np.mean(samples.astype(np.float64) ** 2))) if samples.size else 0.0
        return 20 * float(np.log10(max(level, 1.0) / 32768))

    def prepare_language_judge(self) -> None:
        """Begins to load what :meth:`judge_language` needs."""
        LanguageJudge.prepare()

    def judge_language(self, text: str, languages: Sequence[str]) -> tuple[str, float] | None:
        """Returns which of these languages a text is in, and how likely that is; None while it cannot be told."""
        return LanguageJudge.judge(text, languages)

    def frame_level(self, codec: Codec, frame: bytes) -> int:
        """Returns how loud a frame of the agent is: the sum of its samples' sizes."""
        return int(np.abs(codec.decode(frame).astype(np.int32)).sum())


_given: ContextVar[CallInputs | None] = ContextVar("call_inputs", default=None)


@contextmanager
def use_call_inputs(inputs: CallInputs | None) -> Iterator[None]:
    """Gives the call that is built in this block its inputs; None: the live ones."""
    token = _given.set(inputs)
    try:
        yield
    finally:
        _given.reset(token)


def current_inputs() -> CallInputs:
    """Returns the inputs of the call that is being built."""
    return _given.get() or CallInputs()
