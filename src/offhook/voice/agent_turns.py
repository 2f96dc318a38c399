"""Who has the floor: the agent's turns one after another, interruptions, and the last words."""

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import aclosing
from functools import partial
from typing import Any, Final

from offhook.models.ports import Expectation
from offhook.voice import events
from offhook.voice.call_context import Line
from offhook.voice.config import CallConfig
from offhook.voice.dialog.conversation import Conversation, Ended, Moved, Speech, ToolStarted
from offhook.voice.errors import AllModelsFailed, EmptyTurn
from offhook.voice.events import TurnTiming
from offhook.voice.output.playback import Playback
from offhook.voice.output.speech import Speaker
from offhook.voice.output.utterance import Utterance
from offhook.voice.ports import Sound
from offhook.workflows.graph import Edge

# Empty model turns in a row before the agent apologizes and ends.
MAX_EMPTY_TURNS: Final = 2
Work = Callable[[], Coroutine[Any, Any, None]]


class Floor:
    """At most one turn of the agent at a time. ``on_end`` gets the end reason, ``on_move`` what is expected now."""

    def __init__(
        self,
        *,
        line: Line,
        config: CallConfig,
        conversation: Conversation,
        playback: Playback,
        speaker: Speaker,
        on_move: Callable[[Expectation], None],
        on_end: Callable[[str], None],
    ) -> None:
        self._line = line
        self._phrases = config.phrases
        self._conversation = conversation
        self._playback = playback
        self._speaker = speaker
        self._on_move = on_move
        self._on_end = on_end
        self._turn: asyncio.Task[None] | None = None
        self._utterance: Utterance | None = None
        self._held: list[str] = []
        self._empty_turns = 0
        self.is_closing = False
        self.is_mute = False
        self._resuming: asyncio.TimerHandle | None = None
        self.owes_since: float | None = None
        self.is_tool_running = False
        self._is_tool_holding = False
        self.tags: list[str] = []

    # -- state ----------------------------------------------------------------------------------------------------

    @property
    def is_agents(self) -> bool:
        """The agent thinks or speaks."""
        return self._utterance is not None

    @property
    def is_held(self) -> bool:
        """The agent is audible and may not be interrupted here."""
        return self._is_tool_holding or (self._playback.is_audible and not self._conversation.node.allow_interrupt)

    # -- turns ----------------------------------------------------------------------------------------------------

    def greet(self, delay_s: float) -> None:
        self._start(partial(self._greet, delay_s))

    async def _greet(self, delay_s: float) -> None:
        if delay_s:
            self.owes_since = None
            await asyncio.sleep(delay_s)
            self.owes_since = self._line.now()
        await self._answer(None, TurnTiming(), None)

    def answer(self, heard: str | None, timing: TurnTiming, edge: Edge | None = None) -> None:
        """Answer what was heard; what the agent was still saying or thinking is over."""
        if self._is_tool_holding and not self.is_closing:
            self._held += [heard] if heard else []
        elif not self.is_closing and not self.is_mute:
            self.interrupt()
            self._start(partial(self._answer, heard, timing, edge))

    def hold(self, heard: str) -> None:
        """The agent may not be interrupted here: answer this when it has finished."""
        self._held.append(heard)

    def remark(self, phrase: str) -> None:
        """Say a fixed sentence of our own (asking again, an idle caller) unless the agent is busy."""
        if not self.is_closing and not self.is_mute and not self.is_agents:
            self._start(partial(self._remark, phrase))

    def fill(self) -> None:
        """Say that an answer takes a moment; the turn goes on."""
        if self._utterance is not None:
            self._utterance.say_canned(self._phrases.filler, is_answer=False)

    def _start(self, work: Work) -> None:
        previous, self.owes_since = self._turn, self._line.now()
        self._turn = asyncio.create_task(self._guarded(work, previous))

    async def _guarded(self, work: Work, previous: asyncio.Task[None] | None) -> None:
        try:
            if previous is not None:
                previous.cancel()
                await asyncio.gather(previous, return_exceptions=True)
            await work()
        except AllModelsFailed as failure:
            self.tags.append(f"{failure.kind}_failed")
            self.close(self._phrases.apology, "error")
        finally:
            self.is_tool_running = self._is_tool_holding = False

    async def stop(self) -> None:
        if self._resuming is not None:
            self._resuming.cancel()
        turn, self._turn = self._turn, None
        if turn is not None:
            turn.cancel()
            await asyncio.gather(turn, return_exceptions=True)

    # -- one answer -----------------------------------------------------------------------------------------------

    async def _answer(self, heard: str | None, timing: TurnTiming, edge: Edge | None) -> None:
        utterance = self._begin(timing)
        end_reason: str | None = None
        try:
            try:
                end_reason = await self._converse(utterance, heard, edge)
            except EmptyTurn:
                self._empty_turns += 1
                if self._empty_turns >= MAX_EMPTY_TURNS:
                    self.close(self._phrases.apology, "error")
                    return
                utterance.say_canned(self._phrases.reprompt)
                self._conversation.history.note(self._phrases.reprompt)
            await utterance.finish()
        except (asyncio.CancelledError, AllModelsFailed):
            self._commit(utterance, interrupted=True)
            raise
        finally:
            await utterance.cancel()
        self._commit(utterance, interrupted=False)
        if end_reason is not None:
            self._on_end(end_reason)

    async def _converse(self, utterance: Utterance, heard: str | None, edge: Edge | None) -> str | None:
        """Let the graph answer into the utterance; why the call is over when it came to its end."""
        end_reason: str | None = None
        async with aclosing(self._conversation.respond(heard, edge=edge)) as steps:
            async for step in steps:
                await utterance.check()
                self.is_tool_running = self._is_tool_holding = False
                if isinstance(step, Speech):
                    if step.is_fixed:
                        utterance.add_fixed(step.text, step.sound)
                    else:
                        utterance.add(step.text)
                    continue
                utterance.flush()
                if isinstance(step, Moved):
                    self._on_move(self._conversation.expectation())
                elif isinstance(step, ToolStarted):
                    self.is_tool_running, self._is_tool_holding = True, step.holds_floor
                elif isinstance(step, Ended):
                    end_reason = step.reason
        self.is_tool_running = self._is_tool_holding = False
        self._empty_turns = 0
        return end_reason

    async def _remark(self, phrase: str) -> None:
        utterance = self._begin(TurnTiming())
        try:
            utterance.say_canned(phrase)
            self._conversation.history.note(phrase)
            await utterance.finish()
        except asyncio.CancelledError:
            self._commit(utterance, interrupted=True)
            raise
        self._commit(utterance, interrupted=False)

    def _begin(self, timing: TurnTiming) -> Utterance:
        self._utterance = Utterance(
            speaker=self._speaker,
            playback=self._playback,
            emit=self._line.emit,
            since_start=self._line.since_start,
            timing=timing,
        )
        return self._utterance

    def _commit(self, utterance: Utterance, *, interrupted: bool) -> None:
        """The utterance is over: transcript and history get what was heard."""
        if self._utterance is utterance:
            self._utterance = None
            self.owes_since = None
        now = self._line.now()
        heard = utterance.freeze(now) if interrupted else utterance.heard(float("inf"))
        if interrupted:
            self._conversation.history.cut(heard)
        span = utterance.span()
        if span is not None and heard:
            said = {
                "text": heard,
                "start_s": round(span[0] - self._line.started_at, 3),
                "end_s": round(min(span[1], now) - self._line.started_at, 3),
                "interrupted": interrupted,
                "node_id": self._conversation.node.id,
            }
            self._line.emit(events.AGENT_SAID, said)
        if not interrupted and self._held and not self._conversation.is_over:
            text, self._held = " ".join(self._held), []
            asyncio.get_running_loop().call_soon(self.answer, text, TurnTiming(turn_decided=self._line.since_start()))

    # -- interruption and end -------------------------------------------------------------------------------------

    def interrupt(self) -> None:
        """Stop speaking and thinking at once; the history keeps what was heard."""
        utterance, self._utterance = self._utterance, None
        if utterance is None:
            return
        was_audible = self._playback.is_audible or self._playback.is_paused
        heard = utterance.freeze(self._line.now())
        dropped_ms = self._playback.clear()
        if was_audible:
            self._line.emit(events.BARGED_IN, {"heard": heard, "dropped_ms": dropped_ms})
        self.owes_since = None
        if self._turn is not None:
            self._turn.cancel()

    def pause(self, for_s: float) -> None:
        """Stop speaking and listen; unless :meth:`interrupt` comes meanwhile, go on where we were after ``for_s``."""
        if not self._playback.is_paused:
            if self._resuming is not None:
                self._resuming.cancel()
            self._playback.pause()
            self._line.emit(events.AGENT_PAUSED, {})
            self._resuming = asyncio.get_running_loop().call_later(for_s, self._resume)

    def _resume(self) -> None:
        if self._playback.is_paused:
            self._line.emit(events.AGENT_RESUMED, {})
            self._playback.resume()

    def mute(self) -> None:
        """Stop and say nothing more until :meth:`close`."""
        self.is_mute = True
        self.interrupt()
        if self._turn is not None:
            self._turn.cancel()
        self.owes_since = None

    def close(self, phrase: str, reason: str, sound: Sound | None = None) -> None:
        """Say (or play) one last sentence, whatever else was going on, and end."""
        if self.is_closing:
            return
        self.is_closing = True
        if self._utterance is not None:
            self._utterance.freeze(self._line.now())
        self._playback.clear()
        self._start(partial(self._last_words, phrase, reason, sound))

    async def _last_words(self, phrase: str, reason: str, sound: Sound | None) -> None:
        utterance = self._begin(TurnTiming())
        try:
            if sound is not None:
                utterance.add_fixed(phrase, sound)
            elif self._speaker.canned.get(phrase) is None and reason not in ("error", "watchdog"):
                utterance.add_fixed(phrase)
            else:
                utterance.say_canned(phrase)
            await utterance.finish()
        except AllModelsFailed:
            utterance.say_canned(phrase)
            await self._playback.wait_played()
        finally:
            await utterance.cancel()
            self._commit(utterance, interrupted=False)
            self._on_end(reason)
