"""The offline recognizer: pocketsphinx in its own processes, following a grammar of the caller's likely words."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

import structlog

from offhook.kit.tasks import TaskTracker
from offhook.models.ports import Expectation, ModelError, ModelRef, SttEvent
from offhook.models.providers.builtin.grammar import SpeechGrammar, compile_grammar, ipa_to_arpabet, jsgf_without
from offhook.models.providers.builtin.recognizer_process import (
    AUDIO,
    BEGIN,
    FINISH,
    FORGET,
    PRONOUNCE,
    WORDS,
    RecognizerProcess,
)
from offhook.models.providers.builtin.synthesizer_process import SynthesizerProcess

log = structlog.get_logger(__name__)

PRE_ROLL_S: Final = 0.35
CHUNK_S: Final = 0.1
MAX_UTTERANCE_S: Final = 15.0
# How far the grammar's log score per frame may be below that of free phones: over all frames, and over the frames that
# it takes for speech. Measured with espeak-ng's voices through a telephone band: 95 of 100 correctly heard sentences
# are kept, 98 of 100 unexpected ones dropped (bench/stt_offline.py).
MIN_MARGIN: Final = -26.0
MIN_SPEECH_MARGIN: Final = -52.0
# Share of the loud frames that the grammar takes for words: below 0.6 for prose read aloud, above 0.85 for a match.
MIN_COVERED: Final = 0.75


@dataclass(frozen=True, slots=True)
class _PreparedGrammar:
    """A grammar as one process of the program knows it."""

    order: dict[str, Any]
    generation: int


class _RecognizerSlot:
    """One process and the grammars and words that it has learned."""

    def __init__(self, speech: SynthesizerProcess) -> None:
        self.program = RecognizerProcess()
        self._speech = speech
        self._prepared: dict[str, _PreparedGrammar] = {}
        self._teaching = asyncio.Lock()

    async def prepare_grammar(self, grammar: SpeechGrammar) -> dict[str, Any]:
        """Returns the ``begin`` parameters for this grammar; teaches words without a known sound first."""
        await self.program.start()
        known = self._prepared.get(grammar.name)
        if known is not None and known.generation == self.program.generation:
            return known.order
        async with self._teaching:
            generation = self.program.generation
            unknown = await self._teach_words(grammar)
            order = {
                "grammar": f"{grammar.name}-{len(unknown)}",
                "jsgf": jsgf_without(grammar, unknown) if unknown else grammar.jsgf,
                "words": sorted(grammar.words - unknown),
            }
            if len(self._prepared) > 1000:
                self._prepared.clear()
            self._prepared[grammar.name] = _PreparedGrammar(order, generation)
            return order

    async def _teach_words(self, grammar: SpeechGrammar) -> frozenset[str]:
        unknown: list[str] = await self.program.request_answer(0, WORDS, json.dumps(sorted(grammar.words)).encode())
        if not unknown:
            return frozenset()
        sounds: dict[str, str] = {}
        with suppress(ModelError):  # without a voice these words stay unknown
            spoken = await self._speech.word_phonemes(unknown, voice="en-us")
            sounds = {word: phones for word, ipa in spoken.items() if (phones := ipa_to_arpabet(ipa))}
        await self.program.request_answer(0, PRONOUNCE, json.dumps(sounds).encode())
        return frozenset(unknown) - sounds.keys()


class BuiltinStt:
    """Implements Stt. ``processes`` recognizers serve all calls of this process; they start with the first call."""

    has_endpointing = False

    def __init__(self, speech: SynthesizerProcess, *, processes: int = 1) -> None:
        self._listeners = [_RecognizerSlot(speech) for _ in range(processes)]
        self._ids = itertools.count(1)

    @property
    def model_ref(self) -> ModelRef:
        return ModelRef("stt", "builtin", "pocketsphinx")

    @property
    def pids(self) -> list[int]:
        return [pid for listener in self._listeners if (pid := listener.program.pid) is not None]

    async def open_stream(self, *, sample_rate: int, language: str) -> "BuiltinSttStream":
        """Opens a stream. English only: another ``language`` is heard as English."""
        listener = min(self._listeners, key=lambda each: each.program.callers)
        await listener.program.start()
        return BuiltinSttStream(listener, next(self._ids) & 0xFFFFFFFF, sample_rate)

    async def warm_up(self) -> None:
        for listener in self._listeners:
            await listener.program.start()

    async def close(self) -> None:
        for listener in self._listeners:
            await listener.program.close()


@dataclass(frozen=True, slots=True)
class _BeginUtterance:
    grammar: SpeechGrammar


class _FinishUtterance:
    pass


_Step = SpeechGrammar | _BeginUtterance | bytes | _FinishUtterance


class BuiltinSttStream:
    """One caller. Sends speech and a short lead-in to the program; the final comes when the caller pauses."""

    def __init__(self, listener: _RecognizerSlot, caller: int, sample_rate: int) -> None:
        self._listener = listener
        self._caller = caller
        self._rate = sample_rate
        self._pre_roll = int(PRE_ROLL_S * sample_rate) * 2
        self._chunk = int(CHUNK_S * sample_rate) * 2
        self._bytes_left = 0
        self._pre_roll_audio = bytearray()
        self._pending: bytearray | None = None
        self._grammar = compile_grammar(Expectation())
        self._steps: asyncio.Queue[_Step] = asyncio.Queue()
        self._events: asyncio.Queue[SttEvent | ModelError | None] = asyncio.Queue()
        self._is_closed = False
        self._tasks = TaskTracker()
        self._tasks.start(self._process_steps(), name="stt-stream")
        listener.program.callers += 1

    # -- called by the loop that carries audio ------------------------------------------------------------------------

    def push_audio(self, pcm: bytes) -> None:
        if self._pending is None:
            self._pre_roll_audio += pcm
            if len(self._pre_roll_audio) > 2 * self._pre_roll:
                del self._pre_roll_audio[: -self._pre_roll]
            return
        self._pending += pcm
        if len(self._pending) >= self._chunk:
            self._send_audio()

    def speech_started(self) -> None:
        if self._pending is None:
            self._steps.put_nowait(_BeginUtterance(self._grammar))
            self._bytes_left = int(MAX_UTTERANCE_S * self._rate) * 2
            self._pending, self._pre_roll_audio = self._pre_roll_audio[-self._pre_roll :], bytearray()

    def speech_ended(self) -> None:
        if self._pending is not None:
            self._send_audio()
            self._pending = None
            self._steps.put_nowait(_FinishUtterance())

    def set_expectation(self, expectation: Expectation) -> None:
        self._grammar = compile_grammar(expectation)
        self._steps.put_nowait(self._grammar)

    def _send_audio(self) -> None:
        if self._pending:
            audio = bytes(self._pending[: self._bytes_left])
            self._bytes_left -= len(audio)
            self._pending.clear()
            if audio:
                self._steps.put_nowait(audio)

    # -- requests to the program --------------------------------------------------------------------------------------

    async def _process_steps(self) -> None:
        grammar: SpeechGrammar | None = None
        while True:
            step = await self._steps.get()
            try:
                match step:
                    case SpeechGrammar():
                        await self._listener.prepare_grammar(step)
                    case _BeginUtterance():
                        grammar = step.grammar
                        order = {**await self._listener.prepare_grammar(grammar), "rate": self._rate}
                        self._listener.program.send_request(self._caller, BEGIN, json.dumps(order).encode())
                    case bytes():
                        self._listener.program.send_request(self._caller, AUDIO, step)
                    case _FinishUtterance() if grammar is not None:
                        found = await self._listener.program.request_answer(self._caller, FINISH)
                        self._events.put_nowait(judge_result(found, grammar))
            except ModelError as error:
                self._events.put_nowait(error)
                return

    async def events(self) -> AsyncIterator[SttEvent]:
        while (event := await self._events.get()) is not None:
            if isinstance(event, ModelError):
                raise event
            yield event

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        await self._tasks.close()
        self._listener.program.callers -= 1
        self._listener.program.send_request(self._caller, FORGET)
        self._events.put_nowait(None)


def judge_result(found: dict[str, Any], grammar: SpeechGrammar) -> SttEvent:
    """Returns the final of an utterance: a whole sentence of the grammar, or nothing when it was probably another."""
    if found.get("error"):
        log.warning("grammar_refused", error=found["error"], grammar=grammar.name)
    margin, speech_margin = found["margin"], found["speech_margin"]
    if margin is None:
        return SttEvent("final", "", 0.0)
    confidence = round(min(max(1 + speech_margin / 80, 0.0), 1.0), 2)
    text = grammar.complete_sentence(found["text"])
    if text is None or margin < MIN_MARGIN or speech_margin < MIN_SPEECH_MARGIN or found["covered"] < MIN_COVERED:
        return SttEvent("final", "", min(confidence, 0.3))
    return SttEvent("final", text, confidence)
