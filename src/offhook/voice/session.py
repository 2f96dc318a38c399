"""One call: the caller's audio in, turns, the agent's audio out. Everything that happens is an event."""

import asyncio
from typing import Final

from offhook.models.ports import CallModels
from offhook.voice import events
from offhook.voice.agent_turns import AgentTurns
from offhook.voice.call_context import CallAgent, CallContext
from offhook.voice.config import CallConfig
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.llm_chain import LlmChain
from offhook.voice.events import TurnTiming
from offhook.voice.input.digit_collector import DigitCollector
from offhook.voice.input.listener import CallerListener
from offhook.voice.input.turns import CallerTurnState
from offhook.voice.output.ambience import AmbientLeg
from offhook.voice.output.playback import Playback
from offhook.voice.output.speech import CallSpeaker
from offhook.voice.ports import CallLeg, CallRecorder, CallResult, RunSink, VadEngine
from offhook.voice.safety.call_termination import CallTermination
from offhook.voice.safety.voicemail_handler import VoicemailHandler
from offhook.voice.safety.watchdog import CallWatchdog
from offhook.voice.usage_counter import UsageCounter
from offhook.workflows.graph import Edge

MAX_START_DELAY_S: Final = 10.0


class CallSession:
    """Feed it the caller's input; ``run`` it once."""

    def __init__(
        self,
        *,
        agent: CallAgent,
        leg: CallLeg,
        models: CallModels,
        sink: RunSink,
        vad: VadEngine,
        recorder: CallRecorder | None = None,
    ) -> None:
        self._config: CallConfig = agent.config
        ambience = self._config.ambience
        self._ambient_leg = AmbientLeg(leg, ambience, agent.sounds) if ambience is not None else None
        self._leg = leg = self._ambient_leg or leg
        self._recorder = recorder
        self._usage = UsageCounter()
        self._line = line = CallContext(leg, sink, recorder)
        self._playback = Playback(leg, recorder, line.started_at)
        self._speaker = CallSpeaker(
            playback=self._playback,
            codec=leg.codec,
            ttss=models.tts,
            emit=line.emit,
            usage=self._usage,
            dictionary=self._config.dictionary,
        )
        self._llm = LlmChain(models.llm, emit=line.emit, usage=self._usage, stall_s=self._config.retry_after_s)
        self._conversation = Conversation(
            agent=agent,
            llm=self._llm,
            emit=line.emit,
            sample_rate=leg.codec.sample_rate,
        )
        self._digits_at = 0.0
        self._ended = asyncio.Event()
        self._duration_s = 0.0
        self._end_reason = ""
        self._has_caller_spoken = False
        self._connect_parts(agent, models, vad)

    def _connect_parts(self, agent: CallAgent, models: CallModels, vad: VadEngine) -> None:
        """Creates the parts that call back into this session or into each other."""
        line, codec = self._line, self._leg.codec
        self._listener = CallerListener(
            codec=codec, vad=vad, models=models, config=self._config, emit=line.emit, owner=self
        )
        self._turns = AgentTurns(
            line=line,
            config=self._config,
            conversation=self._conversation,
            playback=self._playback,
            speaker=self._speaker,
            on_move=self._listener.set_expectation,
            on_end=self._end_call,
        )
        self._voicemail = VoicemailHandler(
            self._config.voicemail,
            line=line,
            conversation=self._conversation,
            floor=self._turns,
            is_outbound=agent.context.get("direction") == "outbound",
            on_end=self._end_call,
        )
        self._digits = DigitCollector(self._digits_took_edge, self._digits_entered)

    # -- fed by the owner of the leg ------------------------------------------------------------------------------

    def feed_audio(self, payload: bytes) -> None:
        """Accepts audio of the caller in the leg's codec, of any length."""
        if self._ended.is_set():
            return
        if self._recorder is not None:
            self._recorder.record_caller(self._line.since_start(), payload)
        self._listener.feed_audio(payload)

    def feed_digit(self, digit: str) -> None:
        """Accepts a key that the caller pressed (0-9, *, #, A-D)."""
        if not self._turns.is_closing and not self._ended.is_set():
            self._digits_at = self._line.now()
            self._has_caller_spoken = True
            self._digits.press_key(digit, self._conversation.digit_edges())

    def feed_mark(self, name: str) -> None:
        """Records that the far end has played everything sent before this mark."""
        self._playback.mark_returned(name)

    def leg_ended(self, reason: str = "caller_hung_up") -> None:
        """Ends the call: the caller hung up (``caller_hung_up``) or the media was lost (``media_lost``)."""
        self._end_call(reason)

    def stop(self, reason: str = "server_stopped") -> None:
        self._end_call(reason)

    def voicemail_detected(self, by: str) -> None:
        """Handles an answering machine; ``by`` names the detector."""
        self._voicemail.on_detected(by)

    @property
    def _call_outcome(self) -> str:
        return self._termination.outcome(is_voicemail=self._voicemail.is_detected)

    @property
    def _termination(self) -> CallTermination:
        return CallTermination(self._conversation.end_request, self._end_reason)

    # -- the call -------------------------------------------------------------------------------------------------

    async def run(self) -> CallResult:
        """Carries the call to its end: when it returns, the leg is hung up and the recorder closed."""
        codec = self._leg.codec
        self._line.emit(events.CALL_STARTED, {"codec": codec.name, "sample_rate": codec.sample_rate})
        watchdog = CallWatchdog(self, self._config, self._line.emit, self._line.started_at)
        phrases = self._config.phrases
        canned = [
            phrases.filler, phrases.apology, phrases.reprompt, phrases.idle, phrases.idle_goodbye,
            phrases.time_warning, phrases.time_over,
        ]  # fmt: skip
        beside = [
            asyncio.create_task(watchdog.run()),
            asyncio.create_task(self._speaker.canned.prepare(canned)),
        ]
        if self._ambient_leg is not None:
            beside.append(asyncio.create_task(self._ambient_leg.start_background(self._line.emit)))
        self._listener.audio_tap = self._voicemail.audio_tap
        self._listener.start()
        self._conversation.enter_start_node()
        self._listener.set_expectation(self._conversation.caller_expectation())
        self._turns.start_greeting(self._start_delay_s())
        try:
            await self._ended.wait()
        finally:
            self._end_call("server_stopped")
            for task in beside:
                task.cancel()
            self._voicemail.close()
            await self._turns.stop()
            self._digits.cancel()
            self._turns.tags += await self._termination.execute(self._leg)
            await self._listener.close()
            await self._conversation.finish()
            self._listener.count_usage(self._usage)
            self._line.emit(events.USAGE_COUNTED, self._usage.as_dict())
            self._line.emit(events.CALL_ENDED, {"end_reason": self._end_reason, "outcome": self._call_outcome})
            if self._recorder is not None:
                await self._recorder.close()
        is_silent = not self._has_caller_spoken and self._call_outcome == "answered"
        return CallResult(
            outcome=self._call_outcome,
            end_reason=self._end_reason,
            duration_s=round(self._duration_s, 3),
            gathered_context=self._conversation.gathered_context,
            tags=(*self._turns.tags, *(["silent_caller"] if is_silent else [])),
        )

    def _start_delay_s(self) -> float:
        data = self._conversation.node.data
        delay = data.get("delayed_start_duration", 2.0)
        if data.get("delayed_start") is not True or isinstance(delay, bool) or not isinstance(delay, int | float):
            return 0.0
        return min(max(float(delay), 0.0), MAX_START_DELAY_S)

    def _end_call(self, reason: str) -> None:
        if not self._ended.is_set():
            self._end_reason = reason
            self._turns.tags += self._termination.tags
            self._turns.is_closing = True
            self._turns.reply_due_since = None
            self._duration_s = self._line.since_start()
            self._ended.set()

    # -- CallerTurnHandler: what the caller does -------------------------------------------------------------------

    def on_caller_started(self) -> None:
        self._has_caller_spoken = True

    def on_caller_speech(self, state: CallerTurnState) -> None:
        if state.is_speaking:
            self._voicemail.on_caller_speaking()
        floor, playback = self._turns, self._playback
        self._conversation.retriever.prefetch(self._conversation.node, f"{state.text} {state.partial}")
        if floor.is_closing or not floor.is_agent_busy or not (playback.is_audible or playback.is_paused):
            return
        if floor.is_uninterruptible:
            return
        if self._listener.should_interrupt():
            floor.interrupt()
        elif self._listener.should_pause():
            floor.pause(self._config.provisional_pause_s)

    def on_turn_ended(self, text: str, started_at: float, stopped_at: float) -> None:
        if self._turns.is_closing:
            return
        now, t0 = self._line.since_start(), self._line.started_at
        started, stopped = max(0.0, started_at - t0), max(0.0, stopped_at - t0)
        self._line.emit(events.CALLER_SAID, {"text": text, "start_s": round(started, 3), "end_s": round(stopped, 3)})
        self._voicemail.on_turn_ended(text, self._llm)
        if self._ended.is_set() or self._turns.is_mute:
            return
        if self._turns.is_uninterruptible or (self._playback.is_audible and not self._listener.should_cut_off(text)):
            self._turns.queue_caller_text(text)
        else:
            self._turns.answer_caller(text, TurnTiming(caller_stopped=stopped, turn_decided=now))

    def on_turn_without_transcript(self, count: int) -> None:
        if self._turns.is_closing or self._turns.is_agent_busy:
            return
        if count >= self._config.max_unheard_turns:
            self._turns.tags.append("stt_deaf")
            self._apologize_and_end("nothing_recognised")
        else:
            self._emit_watchdog_action("retry", "nothing_recognised")
            self._turns.say_phrase(self._config.phrases.reprompt)

    def on_recognition_lost(self) -> None:
        self._turns.tags.append("stt_failed")
        self._apologize_and_end("recognition_lost")

    def _apologize_and_end(self, reason: str) -> None:
        self._emit_watchdog_action("apology", reason)
        self._turns.end_with_phrase(self._config.phrases.apology, "error")

    def _emit_watchdog_action(self, step: str, reason: str) -> None:
        self._line.emit(events.WATCHDOG_ACTED, {"step": step, "reason": reason, "silent_ms": 0})

    # -- keys -----------------------------------------------------------------------------------------------------

    def _digits_took_edge(self, edge: Edge, digits: str) -> None:
        self._line.emit(events.DIGITS_PRESSED, {"digits": digits})
        if edge in self._conversation.outgoing_edges():
            self._turns.answer_caller(None, self._keypress_timing(), edge)

    def _digits_entered(self, digits: str) -> None:
        self._line.emit(events.DIGITS_PRESSED, {"digits": digits})
        self._turns.answer_caller(f"(entered on the keypad) {digits}", self._keypress_timing())

    def _keypress_timing(self) -> TurnTiming:
        now = self._line.since_start()
        return TurnTiming(caller_stopped=now, turn_decided=now)

    # -- WatchedCall: what the watchdog sees and does --------------------------------------------------------------

    @property
    def reply_due_since(self) -> float | None:
        return self._turns.reply_due_since

    @property
    def is_tool_running(self) -> bool:
        return self._turns.is_tool_running

    @property
    def is_audible(self) -> bool:
        return self._playback.is_audible

    @property
    def last_audible_at(self) -> float:
        return self._playback.audible_until

    @property
    def caller_active_at(self) -> float:
        return max(self._listener.last_speech_at, self._digits_at)

    @property
    def is_caller_speaking(self) -> bool:
        return self._listener.is_speaking or self._listener.has_words

    def poll_turn(self) -> None:
        self._listener.evaluate_turn()
        self._listener.audio_tap = self._voicemail.audio_tap

    def say_filler(self) -> None:
        self._turns.say_filler()

    def give_up(self) -> None:
        self._turns.tags.append("watchdog")
        self._turns.end_with_phrase(self._config.phrases.apology, "watchdog")

    def prompt_idle(self, count: int) -> None:
        self._turns.say_phrase(self._config.phrases.idle)

    def end_idle(self) -> None:
        self._turns.end_with_phrase(self._config.phrases.idle_goodbye, "idle")

    def warn_duration(self, left_s: float) -> None:
        if not self.is_caller_speaking:
            self._turns.say_phrase(self._config.phrases.time_warning)

    def end_duration(self) -> None:
        self._turns.end_with_phrase(self._config.phrases.time_over, "max_duration")
