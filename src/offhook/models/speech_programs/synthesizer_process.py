"""The server's end of the speech program: one process for all calls, started on demand, replaced when it fails."""

import json
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Final

from offhook.models.ports import ModelError
from offhook.models.speech_programs import espeak_program as wire
from offhook.models.speech_programs.streaming_program import StreamingProgram, program_died

SAMPLE_RATE: Final = 22050
START_TIMEOUT_S: Final = 8.0
# Synthesis is 1000 times faster than speech: a program that is silent this long with work pending is stuck.
HANG_TIMEOUT_S: Final = 0.7
COMMAND: Final = (sys.executable, "-I", str(Path(wire.__file__).resolve()))


class SynthesizerProcess(StreamingProgram):
    """espeak-ng for all voices of a process. Raises only ModelError."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        super().__init__(command, start_timeout_s=START_TIMEOUT_S, silence_timeout_s=HANG_TIMEOUT_S)

    @property
    def library(self) -> str:
        """Returns the espeak-ng library that the program loaded; empty before its start."""
        return str(self.hello.get("library", ""))

    def check_hello(self, hello: dict[str, Any]) -> None:
        if hello["sample_rate"] != SAMPLE_RATE:
            raise ModelError("tts_unavailable", f"espeak-ng speaks at {hello['sample_rate']} Hz.", retryable=False)

    async def speak(self, text: str, *, voice: str, wpm: int) -> AsyncGenerator[bytes, None]:
        """Yields PCM16 mono at 22,050 Hz as it is made. Replaces a program that dies once; the audio continues."""
        body = {"text": text, "voice": voice, "wpm": wpm}
        sent = 0
        for is_last in (False, True):
            skip = sent
            try:
                async with aclosing(self.request_answers(wire.SPEAK, body)) as answers:
                    async for kind, payload in answers:
                        if kind != wire.PCM:
                            continue
                        # equal text sounds the same to within a few samples: skip what was already heard
                        fresh, skip = payload[skip:], max(0, skip - len(payload))
                        sent += len(fresh)
                        if fresh:
                            yield fresh
                return
            except ModelError as error:
                if is_last or not error.retryable:
                    raise

    async def word_phonemes(self, words: Sequence[str], *, voice: str) -> dict[str, str]:
        """Returns the IPA of each word."""
        async with aclosing(self.request_answers(wire.PHONEMES, {"words": list(words), "voice": voice})) as answers:
            async for kind, payload in answers:
                if kind == wire.JSON:
                    found: dict[str, str] = json.loads(payload)
                    return found
        raise program_died("The speech program returned nothing.")
