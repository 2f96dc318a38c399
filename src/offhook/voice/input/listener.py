"""The caller's side: VAD and recognition of one call, and the decision that a turn is over."""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final, Protocol

import numpy as np

from offhook.kit.audio import Codec, Samples
from offhook.models.ports import CallModels, Expectation, ModelError, Stt, SttEvent, SttStream
from offhook.voice import events
from offhook.voice.call_inputs import current_inputs
from offhook.voice.config import CallConfig
from offhook.voice.dialog.llm_chain import Emit
from offhook.voice.errors import AllModelsFailed
from offhook.voice.input.listened_seconds import ListenedSeconds
from offhook.voice.input.pause_judge import NotedJudgment, PauseJudge
from offhook.voice.input.replay_buffer import ReplayBuffer
from offhook.voice.input.speech_detector import SpeechDetector
from offhook.voice.input.turn_rules import AskedValue, CallerTurnState, TurnRules, choose_turn_rules
from offhook.voice.ports import VadEngine
from offhook.voice.safety.model_failover import ModelFailover
from offhook.voice.usage_counter import UsageCounter

REOPEN_PAUSE_S: Final = 0.2
# Shorter speech without words is a cough, not a missed turn.
MIN_UNHEARD_S: Final = 0.35
# After this many turns without words, the next recognizer is tried.
UNHEARD_BEFORE_FAILOVER: Final = 2
# The same for a recognizer that has understood this caller before: sounds without words are more likely then.
UNHEARD_IF_HEARD_BEFORE: Final = 4
# Words that are shown later than this after the detector's last speech were not part of it.
MAX_WORD_DELAY_S: Final = 0.8
# How much longer the caller waits for a recognizer that says it is still working.
MAX_EXTRA_WAIT_S: Final = 5.0


class CallerTurnHandler(Protocol):
    """Callbacks by which the session reacts to the caller."""

    def on_caller_speech(self, state: CallerTurnState) -> None: ...
    def on_turn_likely_over(self, text: str) -> None: ...
    def on_turn_goes_on(self) -> None: ...
    def on_turn_ended(self, text: str, started_at: float, stopped_at: float) -> None: ...
    def on_turn_without_transcript(self, count: int, started_at: float, stopped_at: float) -> None: ...
    def on_recognition_lost(self) -> None: ...
    def on_pause_judged(self, judgment: NotedJudgment) -> None: ...


class CallerListener:
    """Feed it the leg's audio; it calls the handler. Times are loop times."""

    def __init__(
        self,
        *,
        codec: Codec,
        vad: VadEngine,
        models: CallModels,
        config: CallConfig,
        emit: Emit,
        owner: CallerTurnHandler,
    ) -> None:
        self._codec = codec
        self._stts = models.stt
        self._language = models.language
        self._config, self._emit, self._owner = config, emit, owner
        self._inputs = current_inputs()
        self._time = self._inputs.time
        self._circuit = ModelFailover([stt.model_ref for stt in models.stt], emit)
        self._by_language = _recognizers_by_language(models, emit)
        # what the recognizer reported of the last turn, and of the one that goes on
        self.turn_language: str | None = None
        self._heard_language: str | None = None
        self._replay = ReplayBuffer(codec.sample_rate)
        self._listened = ListenedSeconds()
        self._stream: SttStream | None = None
        self._reader: asyncio.Task[None] | None = None
        self.rules = self._choose_rules()
        self.judge = PauseJudge(config, codec.sample_rate, emit, owner.on_pause_judged)
        self.sound = self._inputs.caller_sound()
        self.detector = SpeechDetector(
            now=self._time,
            start_probability=config.vad_start_probability,
            stop_probability=config.vad_stop_probability,
            stop_after_s=config.vad_stop_after_s,
            on_start=self._speech_started,
            on_stop=self._speech_stopped,
            on_window=self.evaluate_turn,
            stands_out=self.sound.stands_out,
        )
        # whether interim words are to be expected
        self.shows_words = models.stt[0].has_endpointing
        self._has_heard_words = False
        # the session wants every window, also those without speech
        self.is_watched = False
        self._vad = vad.open_stream(self.detector)
        self.expectation = Expectation()
        self.last_sentence: Callable[[], str] = str  # returns the agent's
        self.audio_tap: Callable[[Samples], None] | None = None  # receives the caller's audio at 8 kHz
        self._state = CallerTurnState()
        self._turn_started_at: float | None = None
        self._unheard_from: float | None = None
        self._reported_start: float | None = None  # of the last turn without words, until the caller speaks again
        self._waits_until = self._words_at = 0.0
        # of a partial transcript that was answered because its final did not come
        self._answered_words = ""
        self.unheard_turns = 0
        self.last_audio_at = self._time()

    # -- audio in -------------------------------------------------------------------------------------------------

    def feed_audio(self, payload: bytes) -> None:
        samples = self._codec.decode(payload)
        self.last_audio_at = self._time()
        self._listened.add(self._circuit.current_ref, samples.size / self._codec.sample_rate)
        pcm = samples.tobytes()
        self._replay.push(pcm, is_utterance=self.is_utterance)
        if self._stream is not None:
            self._stream.push_audio(pcm)
        if self._config.interrupt_min_level_db is not None:
            self._state.level_db = self._inputs.level_db(samples)
        narrow = samples if self._codec.sample_rate == 8000 else _downsample_to_8k(samples)
        if self.audio_tap is not None:
            self.audio_tap(narrow)
        self.sound.push(narrow)
        self.judge.push_audio(samples)
        self._vad.push(narrow)

    @property
    def is_utterance(self) -> bool:
        """Returns whether the caller is speaking, or has spoken without a final transcript yet."""
        return self.detector.is_speaking or self._unheard_from is not None or bool(self._state.partial)

    @property
    def has_words(self) -> bool:
        return bool(self._state.text or self._state.partial)

    @property
    def is_caller_busy(self) -> bool:
        """Returns whether the caller is speaking, or has said words that are not answered yet."""
        return self.detector.is_speaking or self.has_words

    @property
    def is_recognizing(self) -> bool:
        """Returns whether the recognizer says that it still works on what was said; for ``MAX_EXTRA_WAIT_S`` at most."""
        return self._time() < self._waits_until

    def set_expectation(self, expectation: Expectation) -> None:
        """Sets the node's expectation, followed by the words of the workflow's dictionary."""
        self.expectation = expectation = _with_terms(expectation, self._config.dictionary.terms)
        if self._stream is not None:
            self._stream.set_expectation(expectation)

    # -- recognition ----------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._reader = asyncio.create_task(self._run_recognition())

    async def close(self) -> None:
        self._vad.close()
        if self._reader is not None:
            self._reader.cancel()
            await asyncio.gather(self._reader, return_exceptions=True)
        await self._drop_stream()

    async def _drop_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            await stream.close()

    async def _run_recognition(self, close_first: SttStream | None = None) -> None:
        if close_first is not None:
            await close_first.close()
        await self._inputs.resumed("recognition")
        has_retried = has_failed = False
        while True:
            try:
                stream = await self._stts[self._circuit.current].open_stream(
                    sample_rate=self._codec.sample_rate, language=self._language
                )
                self._attach_stream(stream, replay=has_failed)
                async for event in stream.events():
                    has_retried = False
                    self._circuit.mark_success()
                    self._apply_stt_event(event)
                return
            except ModelError as error:
                has_failed = True
                self._circuit.report_failure(error)
                await self._drop_stream()
                if not error.retryable or has_retried:
                    if not self._switch_recognizer(error):
                        self._owner.on_recognition_lost()
                        return
                    has_retried = False
                else:
                    has_retried = True
                    await self._inputs.sleep("reopen", REOPEN_PAUSE_S)

    def _attach_stream(self, stream: SttStream, *, replay: bool) -> None:
        """Attaches a recognizer; after a failure it gets the caller's audio since the last final transcript."""
        stream.set_expectation(self.expectation)
        if replay and self.is_utterance:
            self._state.partial = ""
            stream.speech_started()
            stream.push_audio(self._replay.pending_audio())
            if not self.detector.is_speaking:
                stream.speech_ended()
        elif self.detector.is_speaking:
            stream.speech_started()
        self._stream = stream

    def _switch_recognizer(self, error: ModelError) -> bool:
        try:
            self._circuit.fail_over(error)
        except AllModelsFailed:
            return False
        self.rules = self._choose_rules()
        return True

    def _choose_rules(self) -> TurnRules:
        stt = self._stts[self._circuit.current]
        return choose_turn_rules(
            self._config, has_endpointing=stt.has_endpointing, judges_turns=stt.judges_turns, language=self._language
        )

    def use_language(self, language: str) -> None:
        """Goes on with the recognizers and the rules of another language."""
        self._language = language
        self._stts, self._circuit = self._by_language[language]
        self.rules = self._choose_rules()
        if self._reader is not None:
            self._restart_recognition()

    def _apply_stt_event(self, event: SttEvent) -> None:
        text = event.text.strip()
        if event.kind == "working":
            self._waits_until = self._time() + MAX_EXTRA_WAIT_S
            return
        self._has_heard_words = self._has_heard_words or bool(text)
        if event.kind == "partial":
            self.shows_words = True
            self._state.show_words(text, is_likely_end=event.is_likely_end)
            if text and not self.detector.is_speaking and self.detector.silence_s > MAX_WORD_DELAY_S:
                self._words_at = self._time()
            if text:
                self._emit(events.CALLER_PARTIAL, {"text": f"{self._state.text} {text}".strip()})
        else:
            self._waits_until = 0.0
            text, self._answered_words = _without_beginning(text, self._answered_words), ""
            if text:
                self._replay.clear()
                self._heard_language = event.language or self._heard_language
            self._state.add_final(text, is_endpoint=event.is_endpoint)
        if text:
            self._unheard_from = None
            if self._turn_started_at is None:
                # Late words belong to the speech that was given up; others were too quiet for the detector.
                is_late = self._reported_start is not None
                self._turn_started_at = self._reported_start if is_late else self._time()
        self.evaluate_turn()

    def count_usage(self, usage: UsageCounter) -> None:
        """Counts the seconds that each recognizer listened, including those that failed afterwards."""
        self._listened.count_usage(usage)

    # -- turn taking ----------------------------------------------------------------------------------------------

    def _speech_started(self) -> None:
        if self._turn_started_at is None:
            self._turn_started_at = self.detector.started_at
        self._reported_start = None
        self._answered_words = ""
        self._state.begin_speech()
        self._emit(events.CALLER_STARTED, {})
        if self._stream is not None:
            self._stream.speech_started()

    def _speech_stopped(self) -> None:
        self._emit(events.CALLER_STOPPED, {})
        if self._stream is not None:
            self._stream.speech_ended()
        is_missed = not self.has_words and not self.is_watched and self.detector.speech_s >= MIN_UNHEARD_S
        if is_missed and self.sound.was_voice(self.detector.speech_s + self._config.vad_stop_after_s):
            self._unheard_from = self.detector.stopped_at

    def evaluate_turn(self) -> None:
        """Applies the turn rules after every window. The watchdog calls it too: a muted far end may send no audio."""
        now = self._time()
        if self.detector.is_speaking and now - self.last_audio_at > self._config.vad_stop_after_s:
            self.detector.is_speaking = False
            self._speech_stopped()
        state = self._state
        state.is_speaking = self.detector.is_speaking
        state.speech_s = self.detector.speech_s if state.is_speaking else 0.0
        # words can be too quiet for the detector: the silence begins after the last of them, too
        state.measure_silence(now, max(self.detector.stopped_at, self._words_at))
        state.end_says = self.judge.watch_pause(self.detector, self._turn_started_at, now, self.rules)
        if has_words := self.has_words:
            asked = AskedValue(self.expectation.kinds, self.last_sentence())
            if self.judge.is_over(self.rules, state, asked):
                self._end_turn(now)
                return
            if self._config.has_early_answers and self.rules.is_likely_over(state, asked):
                self._owner.on_turn_likely_over(f"{state.text} {state.partial}".strip())
            elif self._config.has_early_answers:
                self._owner.on_turn_goes_on()
        if state.is_speaking or has_words or self.is_watched:
            self._owner.on_caller_speech(state)
        if self._unheard_from is None or state.is_speaking or self.has_words:
            return
        if now - self._unheard_from >= self._config.deaf_after_s and not self.is_recognizing:
            self._report_unheard_turn()

    def _end_turn(self, now: float) -> None:
        self.judge.turn_ended()
        text = f"{self._state.text} {self._state.partial}".strip()
        self._answered_words = self._state.partial
        stopped_at = self.detector.stopped_at or now
        self._state = CallerTurnState(tells_ends=self._state.tells_ends)
        self.turn_language, self._heard_language = self._heard_language, None
        self._unheard_from = None
        self._replay.clear()
        self.unheard_turns = 0
        started_at, self._turn_started_at = self._turn_started_at or stopped_at, None
        self._reported_start = None
        self._owner.on_turn_ended(text, started_at, max(started_at, stopped_at))

    def _report_unheard_turn(self) -> None:
        stopped_at, self._unheard_from = self._unheard_from or self.detector.stopped_at, None
        started_at, self._turn_started_at = self._turn_started_at or stopped_at, None
        self._reported_start = started_at
        self.unheard_turns += 1
        limit = UNHEARD_IF_HEARD_BEFORE if self._has_heard_words else UNHEARD_BEFORE_FAILOVER
        if self.unheard_turns >= limit and self._circuit.next_ref is not None:
            error = ModelError("stt_silent", "The caller spoke and nothing was recognized.", retryable=True)
            self._circuit.report_failure(error)
            self._switch_recognizer(error)
            self._restart_recognition()
        self._owner.on_turn_without_transcript(self.unheard_turns, started_at, stopped_at)

    def _restart_recognition(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
        stream, self._stream = self._stream, None
        self._reader = asyncio.create_task(self._run_recognition(close_first=stream))


def _recognizers_by_language(models: CallModels, emit: Emit) -> dict[str, tuple[tuple[Stt, ...], ModelFailover]]:
    return {
        language: (others.stt, ModelFailover([stt.model_ref for stt in others.stt], emit))
        for language, others in models.by_language.items()
    }


def _with_terms(expectation: Expectation, terms: Sequence[str]) -> Expectation:
    if not terms:
        return expectation
    return replace(expectation, phrases=tuple(dict.fromkeys((*expectation.phrases, *terms))))


def _without_beginning(text: str, beginning: str) -> str:
    """Returns the words of a text after those of its beginning; the whole text when it begins otherwise."""
    words, answered = text.split(), beginning.split()
    if not answered or [_bare(word) for word in words[: len(answered)]] != [_bare(word) for word in answered]:
        return text
    return " ".join(words[len(answered) :])


def _bare(word: str) -> str:
    return word.lower().strip(",.;:!?")


def _downsample_to_8k(samples: Samples) -> Samples:
    """Converts 16 kHz to 8 kHz for the VAD by averaging pairs, which is enough to tell speech from silence."""
    even = samples[: samples.size & ~1].reshape(-1, 2).astype(np.int32)
    halved: Samples = (even.sum(axis=1) >> 1).astype(np.int16)
    return halved
