"""The offline recognizer: pocketsphinx in its own processes.

It follows a grammar of the caller's likely words while they speak. An utterance that does not fit is heard again by a
language model of telephone talk, the agent's words and the commonest English ones.
"""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.tasks import TaskTracker
from offhook.models.ports import Expectation, ModelError, ModelRef, SttEvent
from offhook.models.providers.builtin.hearing.grammar import SpeechGrammar, compile_grammar
from offhook.models.providers.builtin.hearing.hypotheses import choose_hypothesis, is_certain, judge_result
from offhook.models.providers.builtin.hearing.program_wire import AUDIO, BEGIN, FINISH, FORGET, MAX_DECODING_S
from offhook.models.providers.builtin.hearing.recognizer_slot import RecognizerSlot
from offhook.models.speech_programs.recognizer_process import SILENCE_TIMEOUT_S
from offhook.models.speech_programs.synthesizer_process import SynthesizerProcess
from offhook.models.stt_events import SttEventQueue, read_stt_events

PRE_ROLL_S: Final = 0.35
CHUNK_S: Final = 0.1
MAX_UTTERANCE_S: Final = 15.0


class BuiltinStt:
    """Implements Stt. ``processes`` recognizers serve all calls of this process; they start with the first call. One that
    is silent for ``silence_timeout_s`` while it has work is stuck, and is started again. What does not fit the grammar is
    heard again for ``max_decoding_s`` at most: other callers wait meanwhile."""

    has_endpointing = False
    judges_turns = False

    def __init__(
        self,
        speech: SynthesizerProcess,
        *,
        processes: int = 1,
        silence_timeout_s: float = SILENCE_TIMEOUT_S,
        max_decoding_s: float = MAX_DECODING_S,
    ) -> None:
        self._listeners = [RecognizerSlot(speech, silence_timeout_s, max_decoding_s) for _ in range(processes)]
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
class _ExpectedWords:
    expectation: Expectation
    grammar: SpeechGrammar


@dataclass(frozen=True, slots=True)
class _BeginUtterance:
    expected: _ExpectedWords


class _FinishUtterance:
    pass


_Step = _ExpectedWords | _BeginUtterance | bytes | _FinishUtterance


class BuiltinSttStream:
    """One caller. Sends speech and a short lead-in to the program; the final comes when the caller pauses."""

    def __init__(self, listener: RecognizerSlot, caller: int, sample_rate: int) -> None:
        self._listener = listener
        self._caller = caller
        self._rate = sample_rate
        self._pre_roll = int(PRE_ROLL_S * sample_rate) * 2
        self._chunk = int(CHUNK_S * sample_rate) * 2
        self._bytes_left = 0
        self._pre_roll_audio = bytearray()
        self._pending: bytearray | None = None
        self._expected = _ExpectedWords(Expectation(), compile_grammar(Expectation()))
        self._steps: asyncio.Queue[_Step] = asyncio.Queue()
        self._events: SttEventQueue = asyncio.Queue()
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
            self._steps.put_nowait(_BeginUtterance(self._expected))
            self._bytes_left = int(MAX_UTTERANCE_S * self._rate) * 2
            self._pending, self._pre_roll_audio = self._pre_roll_audio[-self._pre_roll :], bytearray()

    def speech_ended(self) -> None:
        if self._pending is not None:
            self._send_audio()
            self._pending = None
            self._steps.put_nowait(_FinishUtterance())

    def set_expectation(self, expectation: Expectation) -> None:
        self._expected = _ExpectedWords(expectation, compile_grammar(expectation))
        self._steps.put_nowait(self._expected)

    def _send_audio(self) -> None:
        if self._pending:
            audio = bytes(self._pending[: self._bytes_left])
            self._bytes_left -= len(audio)
            self._pending.clear()
            if audio:
                self._steps.put_nowait(audio)

    # -- requests to the program --------------------------------------------------------------------------------------

    async def _process_steps(self) -> None:
        expected: _ExpectedWords | None = None
        while True:
            step = await self._steps.get()
            try:
                match step:
                    case _ExpectedWords():
                        await self._listener.prepare_grammar(step.grammar)
                        await self._listener.prepare_language(step.expectation)
                    case _BeginUtterance():
                        expected = step.expected
                        order = {**await self._listener.prepare_grammar(expected.grammar), "rate": self._rate}
                        self._listener.program.send_request(self._caller, BEGIN, json.dumps(order).encode())
                    case bytes():
                        self._listener.program.send_request(self._caller, AUDIO, step)
                    case _FinishUtterance() if expected is not None:
                        self._events.put_nowait(await self._finish_utterance(expected))
            except ModelError as error:
                self._events.put_nowait(error)
                return

    async def _finish_utterance(self, expected: _ExpectedWords) -> SttEvent:
        found: dict[str, Any] = await self._listener.program.request_answer(self._caller, FINISH)
        event = judge_result(found, expected.grammar)
        if is_certain(found, event):
            return event
        self._events.put_nowait(SttEvent("working", ""))
        model = await self._listener.prepare_language(expected.expectation)
        heard = await self._listener.hear_again(self._caller, model)
        return choose_hypothesis(found, heard, expected.grammar, expected.expectation)

    def events(self) -> AsyncIterator[SttEvent]:
        return read_stt_events(self._events)

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        await self._tasks.close()
        self._listener.program.callers -= 1
        self._listener.program.send_request(self._caller, FORGET)
        self._events.put_nowait(None)
