"""The offline recogniser: pocketsphinx in processes of its own, following a grammar of what the caller may say now."""

import asyncio
import hashlib
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import numpy as np
import soxr

from offhook.kit.audio import Samples
from offhook.kit.tasks import Tasks
from offhook.models.ports import Expectation, ModelError, ModelRef, SttEvent
from offhook.models.providers.builtin import stt_helper as wire
from offhook.models.providers.builtin.grammar import Grammar, arpabet, compile_grammar, without
from offhook.models.providers.builtin.speech_program import SpeechProgram

MODEL_RATE: Final = 16000
COMMAND: Final = (sys.executable, "-I", str(Path(wire.__file__).resolve()))
START_S: Final = 10.0
# Decoding takes a tenth of the audio's length on a busy machine; this is a stuck program.
DECODE_S: Final = 6.0
PRE_ROLL_S: Final = 0.35
MAX_UTTERANCE_S: Final = 12.0
# Log score per frame against a loop of free phones. Measured over espeak's voices at 8 kHz: nine in ten expected sentences
# are above it, two in three unexpected ones below (bench/stt_offline.py).
MIN_MARGIN: Final = -28.0
# Telephone audio has nothing above 4 kHz, the model expects something: this much noise there takes the recognised
# sentences from 49 to 55 of 66 (wideband: 57).
HIGH_BAND_NOISE: Final = 5.0


def _high_band_noise() -> Samples:
    white = np.random.default_rng(7).normal(0, HIGH_BAND_NOISE, MODEL_RATE * 2)
    spectrum = np.fft.rfft(white)
    spectrum[np.fft.rfftfreq(white.size, 1 / MODEL_RATE) < 3600] = 0
    noise: Samples = np.fft.irfft(spectrum, white.size).astype(np.int16)
    return noise


def for_model(samples: Samples, rate: int) -> bytes:
    """PCM16 at 16 kHz as the acoustic model likes it."""
    if rate == MODEL_RATE:
        return samples.astype("<i2").tobytes()
    wide: Samples = soxr.resample(samples, rate, MODEL_RATE, quality="MQ")
    hiss = np.resize(_HISS, wide.size).astype(np.int32)
    noisy: Samples = np.clip(wide.astype(np.int32) + hiss, -32768, 32767).astype("<i2")
    return noisy.tobytes()


_HISS: Final = _high_band_noise()


class ListeningProgram:
    """One recogniser process; one request at a time. It is started when needed and replaced when it dies or hangs."""

    def __init__(self) -> None:
        self._process: asyncio.subprocess.Process | None = None
        self._lock = asyncio.Lock()
        self.waiting = 0

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None and self._process.returncode is None else None

    async def start(self) -> None:
        async with self._lock:
            await self._ensure()

    async def ask(self, op: int, payload: bytes) -> Any:
        """One answer; ModelError (retryable) when the program died or hung, not retryable when it cannot start."""
        self.waiting += 1
        try:
            async with self._lock:
                process = await self._ensure()
                try:
                    async with asyncio.timeout(DECODE_S):
                        kind, answer = await self._exchange(process, op, payload)
                except (TimeoutError, ConnectionError, asyncio.IncompleteReadError):
                    await self._end()
                    raise ModelError("stt_program_died", "The listening program ended.", retryable=True) from None
                except asyncio.CancelledError:
                    # an answer that nobody read would be taken for the next one
                    await asyncio.shield(self._end())
                    raise
        finally:
            self.waiting -= 1
        if kind == wire.ERROR:
            raise ModelError("stt_failed", answer.decode("utf-8", "replace"), retryable=True)
        return json.loads(answer)

    async def _ensure(self) -> asyncio.subprocess.Process:
        if self._process is not None and self._process.returncode is None:
            return self._process
        try:
            process = await asyncio.create_subprocess_exec(
                *COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
            )
            self._process = process
            async with asyncio.timeout(START_S):
                kind, hello = await self._receive(process)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            await self._end()
            raise ModelError("stt_unavailable", f"The recogniser does not start: {error}", retryable=False) from None
        if kind == wire.ERROR:
            await self._end()
            raise ModelError("stt_unavailable", hello.decode("utf-8", "replace"), retryable=False)
        return process

    async def _exchange(self, process: asyncio.subprocess.Process, op: int, payload: bytes) -> tuple[int, bytes]:
        assert process.stdin is not None
        process.stdin.write(wire.HEADER.pack(1, op, len(payload)) + payload)
        await process.stdin.drain()
        return await self._receive(process)

    async def _receive(self, process: asyncio.subprocess.Process) -> tuple[int, bytes]:
        assert process.stdout is not None
        _, kind, length = wire.HEADER.unpack(await process.stdout.readexactly(wire.HEADER.size))
        return kind, await process.stdout.readexactly(length)

    async def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()

    async def close(self) -> None:
        await self._end()


class BuiltinStt:
    """Implements Stt. ``processes`` recognisers serve all calls of this process; they start with the first call."""

    has_endpointing = False

    def __init__(self, speech: SpeechProgram, *, processes: int = 1) -> None:
        self._speech = speech
        self._programs = [ListeningProgram() for _ in range(processes)]
        self._known: dict[int, set[str]] = {index: set() for index in range(processes)}

    @property
    def ref(self) -> ModelRef:
        return ModelRef("stt", "builtin", "pocketsphinx")

    @property
    def pids(self) -> list[int]:
        return [pid for program in self._programs if (pid := program.pid) is not None]

    async def open(self, *, sample_rate: int, language: str) -> "BuiltinSttStream":
        await self._programs[0].start()
        return BuiltinSttStream(self, sample_rate)

    async def warm(self) -> None:
        for program in self._programs:
            await program.start()

    async def close(self) -> None:
        for program in self._programs:
            await program.close()

    async def recognise(self, grammar: Grammar, pcm: bytes) -> SttEvent:
        """One utterance (PCM16 at 16 kHz) against a grammar; an empty text is none of what was expected."""
        index = min(range(len(self._programs)), key=lambda i: self._programs[i].waiting)
        program = self._programs[index]
        unknown = await self._teach(index, grammar)
        jsgf = without(grammar, unknown) if unknown else grammar.jsgf
        name = hashlib.sha256(jsgf.encode()).hexdigest()[:16]
        head = json.dumps({"grammar": name, "jsgf": jsgf}).encode()
        found = await program.ask(wire.UTTERANCE, head + b"\n" + pcm)
        margin = found["margin"]
        is_heard = bool(found["text"]) and margin is not None and margin >= MIN_MARGIN
        confidence = 0.0 if margin is None else round(float(np.clip(1 + margin / 40, 0, 1)), 2)
        # a "thank you" that was cut off at the end of the audio is no word of the answer
        return SttEvent("final", found["text"].removesuffix(" thank") if is_heard else "", confidence)

    async def _teach(self, index: int, grammar: Grammar) -> frozenset[str]:
        """Give the recogniser pronunciations of words that it does not know; what stays unknown is returned."""
        program, known = self._programs[index], self._known[index]
        new = sorted(grammar.words - known)
        if not new:
            return frozenset()
        unknown: list[str] = await program.ask(wire.WORDS, json.dumps(new).encode())
        sounds: dict[str, str] = {}
        if unknown:
            with suppress(ModelError):
                spoken = await self._speech.phonemes(unknown, voice="en-us")
                sounds = {word: phones for word, ipa in spoken.items() if (phones := arpabet(ipa))}
            await program.ask(wire.PRONOUNCE, json.dumps(sounds).encode())
        silent = frozenset(unknown) - sounds.keys()
        known.update(set(new) - silent)
        return silent

    def forget_words(self) -> None:
        """A recogniser was replaced: the new one knows only its own dictionary."""
        for known in self._known.values():
            known.clear()


class BuiltinSttStream:
    """One caller. Audio is kept while they speak, with a little from before, and decoded when they pause."""

    def __init__(self, stt: BuiltinStt, sample_rate: int) -> None:
        self._stt = stt
        self._rate = sample_rate
        self._pre_roll = int(PRE_ROLL_S * sample_rate) * 2
        self._limit = int(MAX_UTTERANCE_S * sample_rate) * 2
        self._before = bytearray()
        self._utterance: bytearray | None = None
        self._grammar = compile_grammar(Expectation())
        self._queue: asyncio.Queue[SttEvent | ModelError | None] = asyncio.Queue()
        self._tasks = Tasks()

    def push(self, pcm: bytes) -> None:
        if self._utterance is not None:
            if len(self._utterance) < self._limit:
                self._utterance += pcm
            return
        self._before += pcm
        if len(self._before) > 2 * self._pre_roll:
            del self._before[: -self._pre_roll]

    def speech_started(self) -> None:
        if self._utterance is None:
            self._utterance = self._before[-self._pre_roll :]
            self._before = bytearray()

    def speech_ended(self) -> None:
        utterance, self._utterance = self._utterance, None
        if utterance:
            self._tasks.start(self._decode(bytes(utterance), self._grammar), name="stt-decode")

    def expect(self, expectation: Expectation) -> None:
        self._grammar = compile_grammar(expectation)

    async def _decode(self, pcm: bytes, grammar: Grammar) -> None:
        samples = np.frombuffer(pcm[: len(pcm) & ~1], "<i2")
        try:
            event = await self._stt.recognise(grammar, for_model(samples, self._rate))
        except ModelError as error:
            self._stt.forget_words()
            self._queue.put_nowait(error)
            return
        self._queue.put_nowait(event)

    async def events(self) -> AsyncIterator[SttEvent]:
        while (event := await self._queue.get()) is not None:
            if isinstance(event, ModelError):
                raise event
            yield event

    async def close(self) -> None:
        await self._tasks.close()
        self._queue.put_nowait(None)
