"""Turn taking on the agent's side: its turns one after another, interruptions, and the last words."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import Any, Final

from offhook.kit.json_values import ReadableJsonObject
from offhook.models.ports import Expectation
from offhook.voice import events
from offhook.voice.call_context import CallContext
from offhook.voice.call_inputs import CallTimer
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.steps import AgentSpeech, ConversationEnded, NodeEntered, ToolStarted
from offhook.voice.disclosure import Disclosure
from offhook.voice.errors import AllModelsFailed, EmptyTurn
from offhook.voice.events import TurnTiming
from offhook.voice.output.playback import Playback
from offhook.voice.output.speech import CallSpeaker
from offhook.voice.output.utterance import Utterance
from offhook.voice.ports import RecordedSound
from offhook.workflows.graph import Edge

# After this many empty model turns in a row, the agent apologizes and ends the call.
MAX_EMPTY_TURNS: Final = 2
TurnBody = Callable[[], Coroutine[Any, Any, None]]


class AgentTurns:
    """Runs at most one agent turn at a time. ``on_end`` gets the end reason, ``on_move`` what is expected now."""

    def __init__(
        self,
        *,
        line: CallContext,
        conversation: Conversation,
        playback: Playback,
        speaker: CallSpeaker,
        disclosure: Disclosure,
        on_move: Callable[[Expectation], None],
        on_end: Callable[[str], None],
    ) -> None:
        self._line = line
        self._conversation = conversation
        self._playback = playback
        self._speaker = speaker
        self._disclosure = disclosure
        self._on_move = on_move
        self._on_end = on_end
        self._turn: asyncio.Task[None] | None = None
        self.utterance: Utterance | None = None
        # the caller's words that wait until the agent, which may not be interrupted now, has finished
        self.queued_texts: list[str] = []
        self._queued_edge: Edge | None = None
        self._empty_turns = 0
        self.is_closing = False
        self.is_mute = False
        self._resume_timer: CallTimer | None = None
        self.reply_due_since: float | None = None
        # the turn that is prepared or spoken answers the caller, unlike a greeting or a question to a silent caller
        self.is_answer = False
        self.is_tool_running = False
        self._is_tool_uninterruptible = False
        self.tags: list[str] = []

    # -- state ----------------------------------------------------------------------------------------------------

    @property
    def is_agent_busy(self) -> bool:
        """Returns whether the agent is thinking or speaking."""
        return self.utterance is not None

    @property
    def is_uninterruptible(self) -> bool:
        """Returns whether the agent is audible and may not be interrupted here."""
        return self._holds_floor or (self._playback.is_audible and not self._conversation.node.allow_interrupt)

    @property
    def _holds_floor(self) -> bool:
        return self._is_tool_uninterruptible or self._disclosure.is_speaking

    # -- turns ----------------------------------------------------------------------------------------------------

    def start_greeting(self, delay_s: float) -> None:
        self.start_turn(partial(self.run_answer, None, TurnTiming(), None, delay_s))

    def answer_caller(self, heard: str | None, timing: TurnTiming, edge: Edge | None = None) -> None:
        """Answers what was heard; cancels anything the agent was still saying or thinking."""
        if self._holds_floor and not self.is_closing:
            self.queued_texts += [heard] if heard else []
            self._queued_edge = edge or self._queued_edge
        elif not self.is_closing and not self.is_mute:
            self.interrupt()
            self.start_turn(partial(self.run_answer, heard, timing, edge))
            self.is_answer = heard is not None

    def say_phrase(self, phrase: str) -> None:
        """Says a fixed sentence (a reprompt, an idle prompt) unless the agent is busy."""
        if not self.is_closing and not self.is_mute and not self.is_agent_busy:
            self.start_turn(partial(self.run_phrase, phrase))

    def say_sentence(self, sentence: str) -> None:
        """Says a sentence of the session's own that is made in this moment, unless the agent is busy."""
        if not self.is_closing and not self.is_mute and not self.is_agent_busy:
            self.start_turn(partial(self.run_phrase, sentence, is_canned=False))

    def say_filler(self) -> None:
        """Says that an answer will take a moment; the turn continues."""
        if self.utterance is not None:
            self.utterance.say_canned(self._line.phrases.filler, is_answer=False)

    def start_turn(self, work: TurnBody) -> None:
        previous, self.reply_due_since = self._turn, self._line.now()
        self.is_answer = False
        self._turn = asyncio.create_task(self._run_turn(work, previous))

    async def _run_turn(self, work: TurnBody, previous: asyncio.Task[None] | None) -> None:
        try:
            if previous is not None:
                previous.cancel()
                await asyncio.gather(previous, return_exceptions=True)
            await self._line.inputs.resumed("turn")
            await work()
        except AllModelsFailed as failure:
            self.tags.append(f"{failure.kind}_failed")
            self.end_with_phrase(self._line.phrases.apology, "error")
        finally:
            self.is_tool_running = self._is_tool_uninterruptible = False

    async def stop(self) -> None:
        if self._resume_timer is not None:
            self._resume_timer.cancel()
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)

    # -- one answer -----------------------------------------------------------------------------------------------

    async def run_answer(self, heard: str | None, timing: TurnTiming, edge: Edge | None, delay_s: float = 0.0) -> None:
        if delay_s:
            self.reply_due_since = None
            await self._line.inputs.sleep("start", delay_s)
            self.reply_due_since = self._line.now()
        if self._disclosure.is_due:
            await self._run_disclosure()
            said, pressed = self._take_queued()
            heard, edge = heard or said, edge or pressed
        utterance = self._begin_utterance(timing)
        end_reason: str | None = None
        try:
            try:
                end_reason = await self._stream_answer(utterance, heard, edge)
            except EmptyTurn:
                self._empty_turns += 1
                if self._empty_turns >= MAX_EMPTY_TURNS:
                    utterance.keep_times()
                    self.end_with_phrase(self._line.phrases.apology, "error")
                    return
                utterance.say_canned(self._line.phrases.reprompt)
                self._conversation.history.add_canned_text(self._line.phrases.reprompt)
            await utterance.finish()
        except (asyncio.CancelledError, AllModelsFailed):
            self._commit_utterance(utterance, interrupted=True)
            raise
        finally:
            await utterance.cancel()
        self._commit_utterance(utterance, interrupted=False)
        if end_reason is not None:
            self._on_end(end_reason)

    async def _run_disclosure(self) -> None:
        """Says the sentence that the call begins with. What the caller says during it is answered afterwards."""
        utterance = self._begin_utterance(TurnTiming())
        try:
            await self._disclosure.say(self._conversation, utterance)
        except (asyncio.CancelledError, AllModelsFailed):
            self._commit_utterance(utterance, interrupted=True)
            raise
        self._commit_utterance(utterance, interrupted=False, answers_queued=False)
        self.reply_due_since = self._line.now()

    async def _stream_answer(self, utterance: Utterance, heard: str | None, edge: Edge | None) -> str | None:
        """Streams the graph's answer into the utterance, and returns the end reason if the conversation ended."""
        end_reason: str | None = None
        async with aclosing(self._conversation.respond(heard, edge=edge)) as steps:
            async for step in steps:
                await utterance.raise_if_failed()
                self.is_tool_running = self._is_tool_uninterruptible = False
                if isinstance(step, AgentSpeech):
                    _add_speech(utterance, step)
                    continue
                utterance.flush()
                if isinstance(step, NodeEntered):
                    self._on_move(self._conversation.caller_expectation())
                elif isinstance(step, ToolStarted):
                    self.is_tool_running, self._is_tool_uninterruptible = True, step.holds_floor
                elif isinstance(step, ConversationEnded):
                    end_reason = step.reason
        self.is_tool_running = self._is_tool_uninterruptible = False
        self._empty_turns = 0
        return end_reason

    async def run_phrase(self, phrase: str, *, is_canned: bool = True, is_kept: bool = True) -> None:
        utterance = self._begin_utterance(TurnTiming())
        try:
            if is_canned:
                utterance.say_canned(phrase)
            else:
                utterance.add_scripted(phrase)
            if is_kept:
                self._conversation.history.add_canned_text(phrase)
            await utterance.finish()
        except asyncio.CancelledError:
            self._commit_utterance(utterance, interrupted=True)
            raise
        self._commit_utterance(utterance, interrupted=False)

    def _begin_utterance(self, timing: TurnTiming) -> Utterance:
        self.utterance = Utterance(
            speaker=self._speaker,
            playback=self._playback,
            emit=self._line.emit,
            since_start=self._line.since_start,
            timing=timing,
        )
        return self.utterance

    def _commit_utterance(self, utterance: Utterance, *, interrupted: bool, answers_queued: bool = True) -> None:
        """Writes the heard part of a finished utterance to the transcript and history."""
        if self.utterance is utterance:
            self.utterance = None
            self.reply_due_since = None
        now = self._line.now()
        heard = utterance.freeze_heard(now) if interrupted else utterance.heard_text(float("inf"))
        if interrupted:
            answer, speech_ms = utterance.heard_answer(now), utterance.heard_speech_ms(now)
            self._conversation.history.truncate_to_heard(answer, speech_ms)
        span = utterance.audible_span()
        if span is not None and heard:
            event_data: ReadableJsonObject = {
                "text": heard,
                "start_s": round(span[0] - self._line.started_at, 3),
                "end_s": round(min(span[1], now) - self._line.started_at, 3),
                "interrupted": interrupted,
                "node_id": self._conversation.node.id,
            }
            self._line.emit(events.AGENT_SAID, events.with_timing(event_data, utterance.answer_times))
        else:
            utterance.keep_times()
        if not interrupted and answers_queued and not self._conversation.is_over:
            text, edge = self._take_queued()
            if text or edge is not None:
                timing = TurnTiming(turn_decided=self._line.since_start())
                asyncio.get_running_loop().call_soon(self.answer_caller, text, timing, edge)

    def _take_queued(self) -> tuple[str | None, Edge | None]:
        """Returns what the caller said or pressed while the agent could not be interrupted."""
        text, edge = " ".join(self.queued_texts) or None, self._queued_edge
        self.queued_texts, self._queued_edge = [], None
        return text, edge if edge in self._conversation.outgoing_edges() else None

    # -- interruption and end -------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Stops speaking and thinking immediately; the history keeps what was heard."""
        utterance, self.utterance = self.utterance, None
        if utterance is None:
            return
        was_audible = self._playback.is_audible or self._playback.is_paused
        heard = utterance.freeze_heard(self._line.now())
        dropped_ms = self._playback.drop_unheard()
        if was_audible:
            self._line.emit(events.BARGED_IN, {"heard": heard, "dropped_ms": dropped_ms})
        self.reply_due_since = None
        if self._turn is not None:
            self._turn.cancel()

    def pause(self, for_s: float) -> None:
        """Pauses speech and resumes it after ``for_s``, unless :meth:`interrupt` comes first."""
        if not self._playback.is_paused:
            if self._resume_timer is not None:
                self._resume_timer.cancel()
            self._playback.pause()
            self._line.emit(events.AGENT_PAUSED, {})
            self._resume_timer = self._line.inputs.call_later("resume", for_s, self._resume_playback)

    def _resume_playback(self) -> None:
        if self._playback.is_paused:
            self._line.emit(events.AGENT_RESUMED, {})
            self._playback.resume()

    def mute(self) -> None:
        """Stops the agent for the rest of the call."""
        self.is_mute = True
        self.interrupt()
        if self._turn is not None:
            self._turn.cancel()
        self.reply_due_since = None

    def end_with_phrase(self, phrase: str, reason: str, sound: RecordedSound | None = None) -> None:
        """Says (or plays) one last sentence, whatever else is going on, and ends the call."""
        if self.is_closing:
            return
        self.is_closing = True
        if self.utterance is not None:
            self.utterance.freeze_heard(self._line.now())
        self._playback.drop_unheard()
        self.start_turn(partial(self._run_closing_phrase, phrase, reason, sound))

    async def _run_closing_phrase(self, phrase: str, reason: str, sound: RecordedSound | None) -> None:
        utterance = self._begin_utterance(TurnTiming())
        try:
            if sound is not None:
                utterance.add_scripted(phrase, sound)
            elif self._speaker.canned.get(phrase) is None and reason not in ("error", "watchdog"):
                utterance.add_scripted(phrase)
            else:
                utterance.say_canned(phrase)
            await utterance.finish()
        except AllModelsFailed:
            utterance.say_canned(phrase)
            await self._playback.wait_played()
        finally:
            await utterance.cancel()
            self._commit_utterance(utterance, interrupted=False)
            self._on_end(reason)


def _add_speech(utterance: Utterance, speech: AgentSpeech) -> None:
    if speech.spoken is not None:
        utterance.add_spoken(speech.spoken.item_id, speech.text, speech.spoken.audio)
    elif speech.is_scripted:
        utterance.add_scripted(speech.text, speech.sound)
    else:
        utterance.add_text(speech.text)
