"""The offline voice: espeak-ng, clear rather than pretty, on every machine."""

import json
import re
import subprocess
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from typing import Final, Self

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
    with BlockingSynthesizer() as synthesizer:
        return synthesizer.synthesize(text, voice=voice, sample_rate=sample_rate, speed=speed)


class BlockingSynthesizer:
    """The offline voice for callers without an event loop, or with one whose time stands still while it speaks. A text
    always sounds the same, whatever was said before it. The program is started by the first text."""

    def __init__(self) -> None:
        self._program: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the program; the next text starts another one."""
        program, self._program = self._program, None
        if program is not None:
            program.kill()
            program.communicate()

    def synthesize(
        self, text: str, *, voice: str = DEFAULT_VOICE, sample_rate: int = SAMPLE_RATE, speed: float = 1.0
    ) -> Samples:
        """Returns int16 samples. Raises ModelError."""
        pieces = split_pieces(speakable_text(text), MAX_PIECE_CHARS)
        pcm = b"".join([self._speak_piece(piece, voice, round(WORDS_PER_MINUTE * speed)) for piece in pieces])
        return resample_to(pcm, sample_rate)

    def _speak_piece(self, text: str, voice: str, wpm: int) -> bytes:
        program = self._program or self._start_program()
        assert program.stdin is not None
        body = json.dumps({"text": text, "voice": voice, "wpm": wpm}).encode()
        try:
            program.stdin.write(wire.HEADER.pack(1, wire.SPEAK_APART, len(body)) + body)
            program.stdin.flush()
            return b"".join(self._read_answers(program, until=wire.END))
        except (ModelError, BrokenPipeError):
            self.close()
            raise

    def _start_program(self) -> subprocess.Popen[bytes]:
        self._program = program = subprocess.Popen(  # noqa: S603 - our own interpreter and file
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        try:
            list(self._read_answers(program, until=wire.JSON))
        except ModelError:
            self.close()
            raise
        return program

    def _read_answers(self, program: subprocess.Popen[bytes], *, until: int) -> Iterator[bytes]:
        """Yields the sound of the answers up to one of this kind. Raises ModelError."""
        assert program.stdout is not None
        while header := program.stdout.read(wire.HEADER.size):
            _, kind, length = wire.HEADER.unpack(header)
            payload = program.stdout.read(length)
            if kind == wire.ERROR:
                raise ModelError("tts_unavailable", payload.decode("utf-8", "replace"), retryable=False)
            if kind == wire.PCM:
                yield payload
            if kind == until:
                return
        raise program_died("The speech synthesizer stopped.")
