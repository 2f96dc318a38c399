"""One call: the caller's audio in, turns, the agent's audio out. Everything that happens is an event."""

import asyncio
from collections.abc import Callable
from typing import Final

from offhook.kit.audio import Codec
from offhook.kit.json_values import JsonObject
from offhook.models.ports import CallModels
from offhook.voice import events
from offhook.voice.agent_turns import AgentTurns
from offhook.voice.call_context import CallAgent, CallContext
from offhook.voice.call_inputs import current_inputs
from offhook.voice.call_state import CallState, ResumedCall
from offhook.voice.caller_turns import CallerLine, CallerTurns
from offhook.voice.config import CallConfig
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.early_answers import EarlyAnswers
from offhook.voice.dialog.llm_chain import LlmChain
from offhook.voice.dialog.reprompts import Reprompts
from offhook.voice.disclosure import Disclosure
from offhook.voice.events import TurnTiming
from offhook.voice.handover import MEDIA_LOST, MOVED, CallContinuation
from offhook.voice.input.digit_collector import KEYPAD_NOTE, DigitCollector
from offhook.voice.input.interruption_rules import TIMES, InterruptionRules
from offhook.voice.input.listener import CallerListener
from offhook.voice.input.spoken_signals import lexicon_for
from offhook.voice.journal.kinds import APOLOGY, DIGIT, END, MARK, TIME_LIMIT, VOICEMAIL
from offhook.voice.output.ambience import AmbientLeg
from offhook.voice.output.language_switch import LanguageSwitch
from offhook.voice.output.playback import Playback
from offhook.voice.output.speech import CallSpeaker
from offhook.voice.overlap import OverlapController
from offhook.voice.ports import CallLeg, CallResult, RunSink, VadEngine
from offhook.voice.recording_switch import RecordingSwitch
from offhook.voice.safety.call_termination import CallTermination
from offhook.voice.safety.voicemail_handler import VoicemailHandler
from offhook.voice.speech_to_speech.answers import SpeechToSpeechAnswers
from offhook.voice.turn_filter import TurnFilter
from offhook.voice.usage_counter import UsageCounter, UsageEntry
from offhook.voice.watchdog import CallWatchdog
from offhook.workflows.graph import Edge, Node

MAX_START_DELAY_S: Final = 10.0


class CallSession(CallerTurns):
    """Feed it the caller's input; ``run`` it once."""

    def __init__(
        self,
        *,
        agent: CallAgent,
        leg: CallLeg,
        models: CallModels,
        sink: RunSink,
        vad: VadEngine,
        recording: RecordingSwitch | None = None,
        resumed: ResumedCall | None = None,
    ) -> None:
        """``resumed``: the call goes on where another session of it was cut off."""
        self._config: CallConfig = agent.config
        self._inputs = current_inputs()
        ambience = self._config.ambience
        self._ambient_leg = AmbientLeg(leg, ambience, agent.sounds) if ambience is not None else None
        self._leg = leg = self._ambient_leg or leg
        self._recorder = recording
        self._resumed = resumed
        self._usage = UsageCounter(resumed.state["usage"] if resumed is not None else None)
        elapsed_s = resumed.elapsed_s if resumed is not None else 0.0
        phrases = self._config.phrases_in(models.language)
        self._line = line = CallContext(leg, sink, recording, phrases=phrases, elapsed_s=elapsed_s)
        if recording is not None:
            recording.connect(line.emit, waits=self._config.disclosure is not None)
        self._playback = Playback(leg, recording, line.started_at)
        self._disclosure = Disclosure(self._config.disclosure, line=line, playback=self._playback, switch=recording)
        self._speaker = CallSpeaker(
            playback=self._playback,
            codec=leg.codec,
            ttss=models.tts,
            emit=line.emit,
            usage=self._usage,
            dictionary=self._config.dictionary,
            volume=self._config.volume,
            by_language={language: others.tts for language, others in models.by_language.items()},
        )
        self._llm = LlmChain(models.llm, emit=line.emit, usage=self._usage, stall_s=self._config.retry_after_s)
        self._speech = SpeechToSpeechAnswers.for_call(
            models, self._llm, codec=leg.codec, emit=line.emit, usage=self._usage, volume=self._config.volume
        )
        self._conversation = Conversation(agent=agent, llm=self._llm, emit=line.emit, sample_rate=leg.codec.sample_rate)
        has_early = self._config.has_early_answers and self._speech is None
        self._early = EarlyAnswers(self._conversation, self._llm, self._usage, line.emit) if has_early else None
        self._reprompts = Reprompts()
        self._ended = asyncio.Event()
        # Told when our side ends the call.
        self.on_over: Callable[[], None] | None = None
        self._is_resumable, self._duration_s, self._end_reason = False, 0.0, ""
        self._connect_parts(agent, models, vad)
        self._listener.judge.detector = agent.turn_detector
        self.caller_line = CallerLine(self._config, line, recording, self._listener, self._speech, ended=self._ended)
        self.handover = CallContinuation(
            line=line,
            conversation=self._conversation,
            turns=self._turns,
            disclosure=self._disclosure,
            recording=self._recorder,
            on_end=self._end_call,
        )

    def _connect_parts(self, agent: CallAgent, models: CallModels, vad: VadEngine) -> None:
        """Creates the parts that call back into this session or into each other."""
        line, codec = self._line, self._leg.codec
        self._listener = CallerListener(
            codec=codec, vad=vad, models=models, config=self._config, emit=line.emit, owner=self
        )
        self._listener.last_sentence = lambda: self._playback.last_text
        self._turns = AgentTurns(
            line=line,
            conversation=self._conversation,
            playback=self._playback,
            speaker=self._speaker,
            disclosure=self._disclosure,
            on_move=self._listener.set_expectation,
            on_end=self._end_call,
        )
        self._overlap = OverlapController(
            _interruption_rules(self._config, models.language),
            line=line,
            turns=self._turns,
            playback=self._playback,
            listener=self._listener,
            min_level_db=self._config.interrupt_min_level_db,
        )
        self._language = LanguageSwitch(
            models,
            self._config,
            line=line,
            conversation=self._conversation,
            speaker=self._speaker,
            listener=self._listener,
            overlap=self._overlap,
        )
        self._voicemail = VoicemailHandler(
            self._config.voicemail,
            line=line,
            conversation=self._conversation,
            floor=self._turns,
            is_outbound=agent.context.get("direction") == "outbound",
            on_end=self._end_call,
        )
        if self._voicemail.detector.is_on:
            self._listener.audio_tap = self._voicemail.detector.feed_audio
        self._filter = TurnFilter(
            self._config,
            turns=self._turns,
            playback=self._playback,
            listener=self._listener,
            overlap=self._overlap,
            line=line,
        )
        self._digits = DigitCollector(self._on_digits)
        self._watchdog = CallWatchdog(
            self._config,
            line=line,
            turns=self._turns,
            playback=self._playback,
            listener=self._listener,
            digits=self._digits,
        )

    # -- fed by the owner of the leg ------------------------------------------------------------------------------

    def feed_audio(self, payload: bytes) -> None:
        """Accepts audio of the caller in the leg's codec, of any length."""
        self.caller_line.feed_audio(payload)

    def feed_digit(self, digit: str) -> None:
        """Accepts a key that the caller pressed (0-9, *, #, A-D)."""
        self._inputs.note(DIGIT, digit)
        if not self._turns.is_closing and not self._ended.is_set():
            self._digits.press_key(digit, self._conversation.outgoing_edges())

    def feed_mark(self, name: str) -> None:
        """Records that the far end has played everything sent before this mark."""
        self._inputs.note(MARK, name)
        self._playback.mark_returned(name)

    def end_call(self, reason: str = "caller_hung_up") -> None:
        """Ends the call for one of the end reasons of :class:`CallResult`; only the first one counts."""
        self._inputs.note(END, reason)
        self._end_call(reason)

    def _end_call(self, reason: str) -> None:
        if not self._ended.is_set():
            self._end_reason = reason
            self._turns.tags += self._termination.tags
            self._is_resumable = reason == MEDIA_LOST and not self._turns.is_closing
            self._turns.is_closing = True
            self._turns.reply_due_since = None
            self._duration_s = self._line.since_start()
            self._ended.set()
            if self.on_over is not None and reason not in (MEDIA_LOST, MOVED):
                self.on_over()

    def end_with_apology(self, reason: str) -> None:
        """Says the agent's apology and ends the call; what it is saying now is cut off."""
        self._inputs.note(APOLOGY, reason)
        self._turns.end_with_phrase(self._line.phrases.apology, reason)

    def limit_time(self, left_s: float | None) -> None:
        """Lets the call end in ``left_s`` seconds, with a warning, because its money ends; None: not for now."""
        self._inputs.note(TIME_LIMIT, left_s)
        self._watchdog.limit_time(left_s)

    def elapsed_s(self) -> float:
        """Returns the seconds since the call began."""
        return self._line.elapsed_s()

    def usage_so_far(self) -> dict[str, list[UsageEntry]]:
        """Returns what the call has used of models until now, as the ``usage_counted`` event at its end."""
        so_far = UsageCounter(self._usage.as_dict())
        self._listener.count_usage(so_far)
        if self._early is not None:
            self._early.count_usage(so_far)
        return so_far.as_dict()

    def voicemail_detected(self, by: str) -> None:
        """Handles an answering machine; ``by`` names the detector."""
        self._inputs.note(VOICEMAIL, by)
        self._voicemail.on_detected(by)

    @property
    def _termination(self) -> CallTermination:
        return CallTermination(self._conversation.end_request, self._end_reason)

    # -- the call -------------------------------------------------------------------------------------------------

    async def run(self) -> CallResult:
        """Carries the call to its end: when it returns, the leg is hung up and the recorder closed."""
        beside = [
            asyncio.create_task(self._watchdog.run()),
            asyncio.create_task(self._language.prepare_phrases()),
        ]
        if self._ambient_leg is not None:
            beside.append(asyncio.create_task(self._ambient_leg.start_background(self._line.emit)))
        self._begin()
        try:
            await self._ended.wait()
            await self._inputs.resumed("ended")
        finally:
            self._end_call("server_stopped")
            # as it was when the line broke
            state = self.snapshot() if self._is_resumable else None
            await self._stop_speaking(beside)
            await self._inputs.resumed("stopped")
            has_moved = self._end_reason == MOVED or (state is not None and await self.handover.give(state))
            if has_moved:
                await self.handover.leave()
                await self._listener.close()
            else:
                outcome = await self._finish()
        if has_moved:
            return CallResult("answered", MOVED, round(self._duration_s, 3))
        has_caller_acted = self._listener.detector.stopped_at or self._digits.pressed_at
        is_silent = not has_caller_acted and outcome == "answered" and self._resumed is None
        return CallResult(
            outcome=outcome,
            end_reason=self._end_reason,
            duration_s=round(self._duration_s, 3),
            gathered_context=self._conversation.gathered_context,
            tags=(*self._turns.tags, *(["silent_caller"] if is_silent else [])),
        )

    def _begin(self) -> None:
        """Begins to listen, and greets the caller or goes on with a call that was cut off."""
        if self._speech is not None:
            self._speech.begin_call(self._conversation)
        if self._resumed is not None:
            self._language.go_on(self._resumed.state.get("language", ""))
            self._listener.start()
            self.handover.go_on(self._resumed, self._line.phrases.resumed)
            self._listener.set_expectation(self._conversation.caller_expectation())
            return
        self._line.emit(events.CALL_STARTED, _describe_codec(self._leg.codec))
        if self._recorder is not None and self._config.disclosure is None:
            self._recorder.begin("call_connected")
        self._listener.start()
        self._conversation.enter_start_node()
        self._listener.set_expectation(self._conversation.caller_expectation())
        self._turns.start_greeting(_start_delay_s(self._conversation.node))

    async def _stop_speaking(self, beside: list[asyncio.Task[None]]) -> None:
        for task in beside:
            task.cancel()
        self.caller_line.close()
        self._voicemail.close()
        self._overlap.close()
        self._filter.close()
        await self._turns.stop()
        if self._early is not None:
            await self._early.close()
        await self._disclosure.close()
        self._digits.cancel()
        if self._speech is not None:
            await self._speech.close()

    async def _finish(self) -> str:
        """Hangs up, brings everything to its end and returns the outcome."""
        termination = self._termination
        self._turns.tags += await termination.execute(self._leg)
        await self._listener.close()
        await self._conversation.finish()
        self._listener.count_usage(self._usage)
        self._line.emit(events.USAGE_COUNTED, self._usage.as_dict())
        outcome = termination.outcome(is_voicemail=self._voicemail.detector.is_detected)
        self._line.emit(events.CALL_ENDED, {"end_reason": self._end_reason, "outcome": outcome})
        if self._recorder is not None:
            await self._recorder.close()
        return outcome

    # -- a line that broke ----------------------------------------------------------------------------------------

    def snapshot(self) -> CallState:
        """Returns what another process needs to go on with this call."""
        return self.handover.take_state(self.usage_so_far(), self._language.current)

    def leave_call(self) -> None:
        """Ends this session silently, because the call goes on elsewhere."""
        self.end_call(MOVED)

    # -- keys -----------------------------------------------------------------------------------------------------

    def _on_digits(self, digits: str, edge: Edge | None) -> None:
        self._line.emit(events.DIGITS_PRESSED, {"digits": digits})
        self._overlap.release()
        now = self._line.since_start()
        timing = TurnTiming(caller_stopped=now, turn_decided=now)
        if edge is None:
            self._turns.answer_caller(f"{KEYPAD_NOTE} {digits}", timing)
        elif edge in self._conversation.outgoing_edges():
            self._turns.answer_caller(None, timing, edge)


def _interruption_rules(config: CallConfig, language: str) -> InterruptionRules:
    times = TIMES[config.turn_taking].with_reaction(config.interrupt_after_s)
    return InterruptionRules(times, lexicon_for(language), config.interruption_words)


def _describe_codec(codec: Codec) -> JsonObject:
    return {"codec": codec.name, "sample_rate": codec.sample_rate}


def _start_delay_s(node: Node) -> float:
    """Returns how long the agent waits before it greets."""
    delay = node.data.get("delayed_start_duration", 2.0)
    if node.data.get("delayed_start") is not True or isinstance(delay, bool) or not isinstance(delay, int | float):
        return 0.0
    return min(max(float(delay), 0.0), MAX_START_DELAY_S)
