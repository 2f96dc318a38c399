"""The offline voice: espeak-ng, clear rather than pretty, on every machine."""

import json
import re
import subprocess
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import IO, Final

import numpy as np
import soxr

from offhook.kit.audio import Samples
from offhook.models.ports import ModelError, ModelRef
from offhook.models.speakable_text import speakable_text, split_pieces
from offhook.models.speech_programs import espeak_program as wire
from offhook.models.speech_programs.streaming_program import program_died
from offhook.models.speech_programs.synthesizer_process import COMMAND, SAMPLE_RATE, SynthesizerProcess

DEFAULT_VOICE: Final = "en-us"
# Slower than espeak-ng's 175: measured over a telephone band, the words stay apart.
WORDS_PER_MINUTE: Final = 165
# espeak-ng ends a sentence without a pause; people leave one.
SENTENCE_PAUSE: Final = bytes(2 * int(0.12 * SAMPLE_RATE))
MAX_PIECE_CHARS: Final = 300
_VOICE: Final = re.compile(r"[A-Za-z][A-Za-z0-9_+-]{1,39}")


def is_voice(name: str) -> bool:
    """Returns True for a possible voice name, e.g. ``en-us``, ``en-gb+f3``."""
    return _VOICE.fullmatch(name) is not None


class BuiltinTts:
    """Implements Tts. ``speed`` 1.0 is 165 words a minute."""

    def __init__(self, program: SynthesizerProcess, *, voice: str = DEFAULT_VOICE, speed: float = 1.0) -> None:
        self._program = program
        self._voice = voice
        self._wpm = min(max(round(WORDS_PER_MINUTE * speed), 80), 400)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("tts", "builtin", "espeak-ng")

    @property
    def voice(self) -> str:
        return self._voice

    @property
    def sample_rate(self) -> int:
        return SAMPLE_RATE

    async def speak(self, text: str) -> AsyncGenerator[bytes, None]:
        for piece in split_pieces(speakable_text(text), MAX_PIECE_CHARS):
            async with aclosing(self._program.speak(piece, voice=self._voice, wpm=self._wpm)) as chunks:
                async for chunk in chunks:
                    yield chunk
            if piece[-1] in ".!?":
                yield SENTENCE_PAUSE

    async def synthesize(self, text: str, *, sample_rate: int = SAMPLE_RATE) -> Samples:
        """Returns the whole text as int16 samples."""
        async with aclosing(self.speak(text)) as chunks:
            return resample_to(b"".join([chunk async for chunk in chunks]), sample_rate)


def resample_to(pcm: bytes, sample_rate: int) -> Samples:
    samples = np.frombuffer(pcm, "<i2").astype(np.int16)
    if sample_rate == SAMPLE_RATE:
        return samples
    result: Samples = soxr.resample(samples, SAMPLE_RATE, sample_rate)
    return result


def synthesize_speech(
    text: str, *, voice: str = DEFAULT_VOICE, sample_rate: int = SAMPLE_RATE, speed: float = 1.0
) -> Samples:
    """Returns int16 samples; blocks, for scripts and benchmarks. Starts a program for this text. Raises ModelError."""
    texts = list(split_pieces(speakable_text(text), MAX_PIECE_CHARS))
    program = subprocess.Popen(  # noqa: S603 - our own interpreter and file
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    with program:
        assert program.stdin is not None
        assert program.stdout is not None
        for index, piece in enumerate(texts, 1):
            body = json.dumps({"text": piece, "voice": voice, "wpm": round(WORDS_PER_MINUTE * speed)}).encode()
            program.stdin.write(wire.HEADER.pack(index, wire.SPEAK, len(body)) + body)
        program.stdin.write(wire.HEADER.pack(0, wire.STOP, 0))
        program.stdin.flush()
        return resample_to(b"".join(_read_audio(program.stdout)), sample_rate)


def _read_audio(source: IO[bytes]) -> Iterator[bytes]:
    is_first = True
    while header := source.read(wire.HEADER.size):
        _, kind, length = wire.HEADER.unpack(header)
        payload = source.read(length)
        if kind == wire.ERROR:
            raise ModelError("tts_unavailable", payload.decode("utf-8", "replace"), retryable=False)
        if kind == wire.PCM:
            yield payload
        is_first = False
    if is_first:
        raise program_died("The speech synthesizer stopped while it was starting.")
