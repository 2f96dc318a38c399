"""The agent's speech in one turn: sentences in, frames out, and how much of it was heard."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from offhook.kit.json_values import JsonObject
from offhook.voice import events
from offhook.voice.dialog.llm_chain import Emit
from offhook.voice.events import TurnTiming
from offhook.voice.output.model_speech import ModelSpeech
from offhook.voice.output.playback import Playback, QueuedSentence
from offhook.voice.output.sentence_splitter import SentenceSplitter
from offhook.voice.output.speech import CallSpeaker
from offhook.voice.ports import RecordedSound


class Utterance:
    """One turn of the agent. ``since_start`` turns loop time into seconds on the call's clock."""

    def __init__(
        self,
        *,
        speaker: CallSpeaker,
        playback: Playback,
        emit: Emit,
        since_start: Callable[[], float],
        timing: TurnTiming,
    ) -> None:
        self._inputs = playback.inputs
        self._speaker = speaker
        self._playback = playback
        self._emit = emit
        self._now = since_start
        self.timing = timing
        # the latency record of an answer that has begun to play; None before that, and where nobody waited
        self.answer_times: JsonObject | None = None
        self._splitter = SentenceSplitter()
        self._waiting: asyncio.Queue[str | RecordedSound | ModelSpeech | None] = asyncio.Queue()
        # what a speech-to-speech model has said in this turn, the last of it still growing
        self._spoken: list[ModelSpeech] = []
        self._frozen_ms: dict[str, int] | None = None
        self._sentences: list[QueuedSentence] = []
        self._fillers: list[QueuedSentence] = []
        self._task: asyncio.Task[None] | None = None
        self._frozen: str | None = None
        self._frozen_answer = ""

    # -- text in --------------------------------------------------------------------------------------------------

    def add_text(self, text: str) -> None:
        """Adds a piece of a model's stream."""
        if self.timing.first_token is None:
            self.timing.first_token = self._now()
        for sentence in self._splitter.push(text):
            self._queue_sentence(sentence)

    def add_scripted(self, text: str, sound: RecordedSound | None = None) -> None:
        """Adds a written sentence, or its recording."""
        self.flush()
        if self.timing.first_token is None:
            self.timing.first_token = self._now()
        self._queue_sentence(text if sound is None else sound)

    def add_spoken(self, item_id: str, text: str, audio: bytes) -> None:
        """Adds a piece of a model's own speech, in the line's codec."""
        if self.timing.first_token is None:
            self.timing.first_token = self._now()
        if not self._spoken or self._spoken[-1].item_id != item_id:
            self.flush()
            self._spoken.append(ModelSpeech(item_id))
            self._queue_sentence(self._spoken[-1])
        self._spoken[-1].add_piece(text, audio)
        if audio:
            self._on_first_byte()

    def flush(self) -> None:
        """Speaks text that is waiting for the end of its sentence (a node was left, a tool runs, the turn is over)."""
        if self._spoken:
            self._spoken[-1].mark_complete()
        for sentence in self._splitter.flush():
            self._queue_sentence(sentence)

    def _queue_sentence(self, sentence: str | RecordedSound | ModelSpeech) -> None:
        if self._spoken and sentence is not self._spoken[-1]:
            self._spoken[-1].mark_complete()
        if self.timing.first_sentence is None:
            self.timing.first_sentence = self._now()
        if self._task is None:
            self._task = asyncio.create_task(self._speak_queue())
        self._waiting.put_nowait(sentence)

    def say_canned(self, text: str, *, is_answer: bool = True) -> None:
        """Says a phrase that needs no vendor. A filler is not an answer: the turn's timing continues."""

        started = partial(self._on_sentence_start, text, is_answer=is_answer)
        sentence = self._speaker.say_canned(text, started)
        self._sentences.append(sentence)
        if not is_answer:
            self._fillers.append(sentence)

    # -- audio out ------------------------------------------------------------------------------------------------

    async def _speak_queue(self) -> None:
        while (text := await self._waiting.get()) is not None:
            await self._inputs.resumed("speak")
            if isinstance(text, ModelSpeech):
                self._sentences.append(text.begin_playing(self._playback, partial(self._on_speech_start, text)))
                continue
            if isinstance(text, RecordedSound):
                self._on_first_byte()
                self._sentences.append(
                    self._speaker.play_sound(text, partial(self._on_sentence_start, text.transcript))
                )
                continue
            await self._speaker.say(
                text, self._sentences, on_byte=self._on_first_byte, on_start=partial(self._on_sentence_start, text)
            )

    def _on_speech_start(self, speech: ModelSpeech) -> None:
        self._on_sentence_start(speech.text)

    def _on_first_byte(self) -> None:
        if self.timing.first_byte is None:
            self.timing.first_byte = self._now()

    def _on_sentence_start(self, text: str, *, is_answer: bool = True) -> None:
        if is_answer and self.timing.first_frame is None:
            self.timing.first_frame = self._now()
            if self.timing.caller_stopped is not None:
                self.answer_times = self.timing.as_dict()
                self._emit(events.TURN_TIMED, self.answer_times)
        self._emit(events.AGENT_SPEAKING, {"text": text})

    async def raise_if_failed(self) -> None:
        """Raises the voice's error, so that no more text is generated for a failed voice."""
        if self._task is not None and self._task.done():
            await self._task

    async def finish(self) -> None:
        """Waits until everything is synthesized and played."""
        self.flush()
        if self._task is not None:
            self._waiting.put_nowait(None)
            await self._task
            await self._inputs.resumed("spoken")
        await self._playback.wait_played()

    async def cancel(self) -> None:
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    # -- what was heard -------------------------------------------------------------------------------------------

    def freeze_heard(self, now: float) -> str:
        """Freezes the result of :meth:`heard_text` at loop time ``now``, when the caller interrupts."""
        if self._frozen is None:
            self._frozen_ms, self._frozen_answer = self.heard_speech_ms(now), self.heard_answer(now)
            self._frozen = self.heard_text(now)
        return self._frozen

    def heard_speech_ms(self, now: float) -> dict[str, int]:
        """Returns how much of a model's own speech was heard by loop time ``now``, by its item."""
        if self._frozen_ms is not None:
            return self._frozen_ms
        rate = self._playback.bytes_per_s
        return {speech.item_id: speech.heard_ms(now, rate) for speech in self._spoken}

    def heard_text(self, now: float) -> str:
        """Returns the words sent to the caller by loop time ``now``."""
        return self._join_heard(self._sentences, now) if self._frozen is None else self._frozen

    def heard_answer(self, now: float) -> str:
        """Returns the same without fillers, which are no words of the model."""
        if self._frozen is not None:
            return self._frozen_answer
        return self._join_heard([sentence for sentence in self._sentences if sentence not in self._fillers], now)

    def _join_heard(self, sentences: Sequence[QueuedSentence], now: float) -> str:
        rate = self._playback.bytes_per_s
        return " ".join(text for sentence in sentences if (text := sentence.heard_text(now, rate)))

    def keep_times(self) -> None:
        """Lets the times of an answer be stored although no words are that they could be stored with."""
        if self.answer_times is not None:
            self._emit(events.TURN_TIMED, events.unheard_timing(self.answer_times))

    @property
    def sentences(self) -> Sequence[QueuedSentence]:
        return self._sentences

    def audible_span(self) -> tuple[float, float] | None:
        """Returns the loop times of the first and the last sent frame, or None."""
        sent = [s for s in self._sentences if s.first_frame_at is not None]
        if not sent:
            return None
        return min(s.first_frame_at or 0.0 for s in sent), max(s.last_frame_at or 0.0 for s in sent)
