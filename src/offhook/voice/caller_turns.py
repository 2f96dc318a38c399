"""What a call does when the caller speaks, has spoken, or was not understood."""

import asyncio
from typing import Final

from offhook.kit.json_values import ReadableJsonObject
from offhook.voice import events
from offhook.voice.agent_turns import AgentTurns
from offhook.voice.call_context import CallContext
from offhook.voice.config import CallConfig
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.early_answers import EarlyAnswers
from offhook.voice.dialog.llm_chain import LlmChain
from offhook.voice.dialog.reprompts import Reprompts
from offhook.voice.events import TurnTiming
from offhook.voice.input.caller_cleaning import CallerCleaning, WhyUncleaned
from offhook.voice.input.listener import CallerListener
from offhook.voice.input.pause_judge import NotedJudgment
from offhook.voice.input.turn_rules import CallerTurnState
from offhook.voice.journal.kinds import AUDIO, JUDGED, UNCLEANED
from offhook.voice.output.language_switch import LanguageSwitch
from offhook.voice.output.playback import Playback
from offhook.voice.overlap import OverlapController
from offhook.voice.recording_switch import RecordingSwitch
from offhook.voice.safety.call_termination import NOT_UNDERSTOOD
from offhook.voice.safety.voicemail_handler import VoicemailHandler
from offhook.voice.speech_to_speech.answers import SpeechToSpeechAnswers
from offhook.voice.turn_filter import TurnFilter
from offhook.voice.watchdog import CallWatchdog

# In the history for a turn that a speech-to-speech model has heard and no recognizer has written down.
NOT_TRANSCRIBED: Final = "(not transcribed)"


class CallerLine:
    """What comes in on the caller's line, until ``ended``: into the recording as it is, and to those who listen, cleaned if
    the agent wants it."""

    def __init__(
        self,
        config: CallConfig,
        line: CallContext,
        recorder: RecordingSwitch | None,
        listener: CallerListener,
        speech: SpeechToSpeechAnswers | None,
        *,
        ended: asyncio.Event,
    ) -> None:
        self._line = line
        self._inputs = line.inputs
        self._recorder = recorder
        self._listener = listener
        self._speech = speech
        self._ended = ended
        self._cleaning: CallerCleaning | None = None
        if config.cleaning is not None:
            self._cleaning = CallerCleaning(
                line.leg.codec, config.cleaning, deliver=self._hear_cleaned, on_uncleaned=self.report_uncleaned
            )

    def feed_audio(self, payload: bytes) -> None:
        """Accepts audio in the leg's codec, of any length."""
        if self._ended.is_set():
            return
        if self._cleaning is not None:
            if self._recorder is not None:
                self._recorder.record_caller(self._line.elapsed_s(), payload)
            self._cleaning.push_frame(payload)
            return
        self._inputs.note(AUDIO, len(payload))
        if self._recorder is not None:
            self._recorder.record_caller(self._line.since_start(), payload)
        self._hear_frame(payload)

    def _hear_cleaned(self, payload: bytes) -> None:
        if self._ended.is_set():
            return
        # For the journal this is when the audio came. A replay cleans nothing, and looks at the clock to record.
        self._inputs.note(AUDIO, len(payload))
        if self._recorder is not None:
            self._line.since_start()
        self._hear_frame(payload)

    def _hear_frame(self, payload: bytes) -> None:
        self._listener.feed_audio(payload)
        if self._speech is not None:
            self._speech.feed_audio(payload, is_utterance=self._listener.is_utterance)

    def report_uncleaned(self, why: WhyUncleaned) -> None:
        """Reports that audio is heard as it is, although the agent wants it cleaned."""
        self._inputs.note(UNCLEANED, why)
        self._line.emit(events.CALLER_AUDIO_UNCLEANED, {"reason": why})

    def close(self) -> None:
        if self._cleaning is not None:
            self._cleaning.close()


class CallerTurns:
    """The half of a call session that implements ``CallerTurnHandler``; the session creates the parts."""

    _config: CallConfig
    _conversation: Conversation
    _early: EarlyAnswers | None
    _ended: asyncio.Event
    _filter: TurnFilter
    _language: LanguageSwitch
    _line: CallContext
    _listener: CallerListener
    _llm: LlmChain
    _overlap: OverlapController
    _playback: Playback
    _reprompts: Reprompts
    _speech: SpeechToSpeechAnswers | None
    _turns: AgentTurns
    _voicemail: VoicemailHandler
    _watchdog: CallWatchdog

    @property
    def is_agent_busy(self) -> bool:
        """Returns whether the agent is thinking or speaking, or will answer what the caller said in between."""
        return self._turns.is_agent_busy or bool(self._turns.queued_texts)

    def on_caller_speech(self, state: CallerTurnState) -> None:
        if state.is_speaking:
            self._voicemail.detector.on_caller_speaking()
            self._filter.caller_speaks()
        floor, playback = self._turns, self._playback
        self._conversation.retriever.prefetch(self._conversation.node, f"{state.text} {state.partial}")
        is_due = floor.is_answer and floor.reply_due_since is not None and self._config.turn_start == "default"
        has_floor = floor.is_agent_busy and (playback.is_audible or playback.is_paused or is_due)
        if floor.is_closing or not has_floor:
            self._overlap.finish()
            return
        if floor.is_uninterruptible:
            return
        if self._config.turn_start == "default":
            self._overlap.consider(state)
            return
        rules = self._listener.rules
        if rules.interrupt_rule.should_interrupt(state):
            floor.interrupt()
        elif rules.pause_rule.should_interrupt(state):
            floor.pause(self._config.provisional_pause_s)

    def on_turn_likely_over(self, text: str) -> None:
        turns, early = self._turns, self._early
        if early is None or turns.is_agent_busy or turns.is_closing or turns.is_mute or self._watchdog.is_time_limited:
            return
        if self._filter.may_need_answer(text):
            early.ask(text)

    def on_turn_goes_on(self) -> None:
        if self._early is not None:
            self._early.drop("caller_went_on")

    def on_turn_ended(self, text: str, started_at: float, stopped_at: float) -> None:
        if self._turns.is_closing:
            return
        now = self._line.since_start()
        started, stopped = self._spoken_span(started_at, stopped_at)
        ignored = self._filter.reason_to_ignore(text)
        said: ReadableJsonObject = {"text": text, "start_s": started, "end_s": stopped}
        self._line.emit(events.CALLER_SAID, {**said, "ignored": ignored} if ignored else said)
        self._voicemail.detector.on_turn_ended(text, self._llm)
        if ignored and self._speech is not None:
            self._speech.discard_caller_audio()
        is_answered = not (ignored or self._ended.is_set() or self._turns.is_mute)
        if self._early is not None:
            self._early.turn_over(is_answered=is_answered)
        if not is_answered:
            return
        self._filter.turn_accepted()
        self._language.hear(text)
        self._listener.sound.learn_voice()
        may_cut_off = self._listener.rules.interrupt_rule.should_cut_off(text)
        if self._turns.is_uninterruptible or (self._playback.is_audible and not may_cut_off):
            self._turns.queued_texts.append(text)
        else:
            self._overlap.release()
            self._turns.answer_caller(text, TurnTiming(caller_stopped=stopped, turn_decided=now))

    def on_turn_without_transcript(self, count: int, started_at: float, stopped_at: float) -> None:
        if self._turns.is_closing:
            return
        started, stopped = self._spoken_span(started_at, stopped_at)
        self._line.emit(events.CALLER_NOT_UNDERSTOOD, {"start_s": started, "end_s": stopped})
        self._overlap.finish()
        if self._turns.is_agent_busy:
            return
        if self._speech is not None and self._speech.can_hear:
            now = self._line.since_start()
            self._turns.answer_caller(NOT_TRANSCRIBED, TurnTiming(caller_stopped=stopped, turn_decided=now))
            return
        is_last = count >= self._config.max_unheard_turns
        step = "end" if is_last else "retry"
        self._line.emit(events.WATCHDOG_ACTED, {"step": step, "reason": NOT_UNDERSTOOD, "silent_ms": 0})
        if is_last:
            self._turns.end_with_phrase(self._line.phrases.not_understood, NOT_UNDERSTOOD)
        else:
            self._turns.say_sentence(self._reprompts.next_sentence(self._conversation, self._line.phrases))

    def _spoken_span(self, started_at: float, stopped_at: float) -> tuple[float, float]:
        """Returns two loop times as seconds since the call began."""
        started, stopped = (round(max(0.0, at - self._line.started_at), 3) for at in (started_at, stopped_at))
        return started, stopped

    def on_recognition_lost(self) -> None:
        self._turns.tags.append("stt_failed")
        self._line.emit(events.WATCHDOG_ACTED, {"step": "apology", "reason": "recognition_lost", "silent_ms": 0})
        self._turns.end_with_phrase(self._line.phrases.apology, "error")

    def on_pause_judged(self, judgment: NotedJudgment) -> None:
        self._line.inputs.note(JUDGED, judgment)
        if not self._ended.is_set():
            self._listener.judge.take_judgment(*judgment)
