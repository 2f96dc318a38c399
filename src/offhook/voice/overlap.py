"""Speech over the agent: it lowers its voice, listens, and then yields or talks on from the same word."""

from typing import Final

from offhook.kit.json_values import ReadableJsonObject
from offhook.voice import events
from offhook.voice.agent_turns import AgentTurns
from offhook.voice.call_context import CallContext
from offhook.voice.call_inputs import CallTimer
from offhook.voice.input.interruption_rules import (
    BRIEF_S,
    MIN_WORD_S,
    TURNED_AWAY,
    InterruptionRules,
    InterruptionVerdict,
    SpeechOverlap,
)
from offhook.voice.input.listener import CallerListener
from offhook.voice.input.sound_evidence import SoundEvidence
from offhook.voice.input.turn_rules import CallerTurnState
from offhook.voice.output.playback import Playback

# How often a decision that is open is looked at again while no audio arrives.
RECHECK_S: Final = 0.1
# A lowered voice comes back after this much silence.
RESTORE_S: Final = 0.3
# A pause without words lasts at most so long, unless a voice goes on.
MAX_HOLD_S: Final = 0.9
# Shorter sound is not measured.
MIN_MEASURED_S: Final = 0.1
# Words whose speech began less than a word ago were too quiet for the voice detector; they were in so much of the sound.
FAINT_SPAN_S: Final = 0.6
# A turn that interrupted is over by then.
RECENT_YIELD_S: Final = 6.0
# Reasons by which sound is not the caller's speech to the agent.
NO_SPEECH: Final = frozenset({"no_voice", TURNED_AWAY})
# A recognizer without interim words needs this long after the speech; the agent stays silent until then, and longer
# while the recognizer says that it is at work.
FINAL_TIMEOUT_S: Final = 1.6
# Speech without interim words that goes on for so long is an interruption.
MAX_UNKNOWN_S: Final = 2.0


class OverlapController:
    """The overlap of one call, if there is one now. ``consider`` is called with every window of the caller's speech."""

    def __init__(
        self,
        rules: InterruptionRules,
        *,
        line: CallContext,
        turns: AgentTurns,
        playback: Playback,
        listener: CallerListener,
        min_level_db: float | None = None,
    ) -> None:
        self.rules = rules
        self._line = line
        self._turns = turns
        self._playback = playback
        self._listener = listener
        self._min_level_db = min_level_db
        self._started_at: float | None = None
        self._agent_text = ""
        self._was_asked = self._is_faint = False
        # the agent has not begun its answer: there is nothing to break off, and nothing to talk on with
        self._is_early = False
        self._verdict = InterruptionVerdict.WAIT
        self._reason = ""
        # what the last decision was about: the same sound and words are not judged twice
        self._judged_text = ""
        self._judged_until = 0.0
        self._yielded_at = -RECENT_YIELD_S
        self._measured: tuple[SoundEvidence | None, float, float] | None = None
        self._has_resumed = self._was_held_long = False
        self._timer: CallTimer | None = None

    @property
    def is_active(self) -> bool:
        """Returns whether the caller speaks over the agent, or just did."""
        return self._started_at is not None

    @property
    def agent_text(self) -> str:
        return self._agent_text

    @property
    def is_answer_due(self) -> bool:
        """Returns whether the agent asked something when the caller began to speak, or since then."""
        return self._was_asked or self._playback.is_question_open

    @property
    def has_just_yielded(self) -> bool:
        """Returns whether the agent has stopped for the turn that is being said: it owes an answer."""
        return self._line.now() - self._yielded_at < RECENT_YIELD_S

    def consider(self, state: CallerTurnState) -> None:
        """Looks at the caller's speech so far; called while the agent is audible or paused by an overlap."""
        if self._started_at is None and not self._begin(state):
            return
        assert self._started_at is not None
        now = self._line.now()
        self._agent_text = self._playback.current_text or self._agent_text
        overlap = self._describe(state, now)
        verdict, reason = self.rules.judge(overlap)
        is_kept_back = self._is_early and state.is_speaking and reason not in NO_SPEECH
        is_silent_for_final = reason == "no_words" and self._playback.is_paused and not self._listener.shows_words
        if is_kept_back and verdict is not InterruptionVerdict.YIELD:
            verdict, reason = InterruptionVerdict.HOLD, "answer_kept_back"
        elif is_silent_for_final and not overlap.text:
            verdict, reason = InterruptionVerdict.HOLD, "speech"
        if verdict is InterruptionVerdict.HOLD:
            verdict, reason = self._limit_hold(verdict, reason, state, now)
        self._apply(verdict, reason, overlap)
        patience_s = RESTORE_S if self._verdict is InterruptionVerdict.TALK_ON else FINAL_TIMEOUT_S
        if not state.is_speaking and overlap.quiet_s >= patience_s and not self._listener.is_recognizing:
            self.finish()

    def _limit_hold(
        self, verdict: InterruptionVerdict, reason: str, state: CallerTurnState, now: float
    ) -> tuple[InterruptionVerdict, str]:
        """Ends a silence without words: sound that is no speech must not keep the agent from talking."""
        if self._has_resumed and not self._playback.is_paused:
            # Once more for a voice that goes on: without words it is nothing that the agent waits for a second time.
            is_new = reason == "answer_kept_back" or (reason == "long_speech" and not self._was_held_long)
            if not is_new:
                return InterruptionVerdict.TALK_ON, self._reason
        self._was_held_long = self._was_held_long or reason == "long_speech"
        held_s = now - self._playback.silent_from if self._playback.is_paused else 0.0
        is_voice = state.is_speaking and self._listener.sound.has_contrast
        if self._listener.shows_words:
            is_over = held_s >= (MAX_UNKNOWN_S if is_voice else MAX_HOLD_S)
            return (InterruptionVerdict.TALK_ON, "no_words") if is_over else (verdict, reason)
        if state.speech_s >= MAX_UNKNOWN_S:
            return (InterruptionVerdict.YIELD, "speech") if is_voice else (InterruptionVerdict.TALK_ON, "steady_noise")
        is_over = self._quiet_s(now) >= FINAL_TIMEOUT_S and not self._listener.is_recognizing
        return (InterruptionVerdict.TALK_ON, "no_words") if is_over else (verdict, reason)

    def _begin(self, state: CallerTurnState) -> bool:
        loud_enough = self._min_level_db is None or state.level_db >= self._min_level_db
        started_at = self._listener.detector.started_at if state.is_speaking else self._line.now()
        is_new = started_at > self._judged_until
        is_speech = state.is_speaking and state.speech_s >= self.rules.times.react_s and is_new
        text = f"{state.text} {state.partial}".strip()
        if not loud_enough or not (is_speech or (text and text != self._judged_text)):
            return False
        sound_s = self._listener.sound.sound_age_s()
        self._is_early = not self._playback.is_audible
        self._started_at = max(min(started_at, self._line.now() - sound_s), self._judged_until)
        self._is_faint = bool(text) and self._line.now() - self._started_at < MIN_WORD_S
        self._agent_text = self._playback.current_text
        self._was_asked = self._playback.is_question_open
        self._verdict, self._reason = InterruptionVerdict.WAIT, ""
        self._has_resumed = self._was_held_long = False
        self._measured = None
        self._playback.lower_voice(is_lowered=True)
        self._listener.is_watched = True
        self._schedule(RECHECK_S)
        return True

    def _describe(self, state: CallerTurnState, now: float) -> SpeechOverlap:
        assert self._started_at is not None
        age = now - self._started_at
        overlap = SpeechOverlap(
            text=f"{state.text} {state.partial}".strip(),
            age_s=age,
            quiet_s=self._quiet_s(now),
            held_s=now - self._playback.silent_from if self._playback.is_paused else None,
            is_answer_due=self.is_answer_due,
            is_faint=self._is_faint,
            shows_words=self._listener.shows_words,
            agent_text=self._agent_text,
        )
        if (age >= MIN_MEASURED_S or self._is_faint) and (state.is_speaking or self._measured is None):
            # Not the silence behind it, which is no breath either.
            self._measured = self._listener.sound.measure_overlap(age + FAINT_SPAN_S * self._is_faint)
        if self._measured is not None:
            overlap.sound, overlap.distance_db, overlap.dullness_db = self._measured
        return overlap

    def _quiet_s(self, now: float) -> float:
        return max(0.0, now - max(self._listener.detector.stopped_at, self._started_at or 0.0))

    def _apply(self, verdict: InterruptionVerdict, reason: str, overlap: SpeechOverlap) -> None:
        self._verdict, self._reason = verdict, reason
        self._judged_text = overlap.text
        # what was nothing so far is talked through at full volume
        self._playback.lower_voice(is_lowered=verdict is not InterruptionVerdict.TALK_ON)
        if verdict is InterruptionVerdict.YIELD:
            self._report(verdict.value, overlap)
            self._yielded_at = self._line.now()
            self._end()
            self._turns.interrupt()
        elif verdict is InterruptionVerdict.HOLD:
            if not self._playback.is_paused:
                self._playback.pause()
                # not a window later: the pause would be heard
                self._schedule(self._playback.silent_from + BRIEF_S - self._line.now())
        elif self._playback.is_paused:
            self._has_resumed = True
            self._report("resumed", overlap)
            self._playback.resume()

    def _report(self, decision: str, overlap: SpeechOverlap) -> None:
        # the words themselves come with the caller's turn, where they can be redacted as a whole
        words, after_ms = len(self.rules.lexicon.split(overlap.text)), round(overlap.age_s * 1000)
        data: ReadableJsonObject = {
            "decision": decision,
            "reason": self._reason,
            "words": words,
            "after_ms": after_ms,
        }
        self._line.emit(events.INTERRUPTION_JUDGED, data)

    def judge_turn(self, text: str, *, is_expected: bool = False) -> str:
        """Returns why a whole turn over the agent needs no answer, and goes on speaking then; empty if it needs one.

        ``is_expected``: it is an answer that the agent waits for, however far away it is said after a question.
        """
        if not self.is_active:
            return ""
        reason = self.rules.is_ignorable(text, is_answer_due=self.is_answer_due, agent_text=self._agent_text)
        is_for_agent = is_expected and self.is_answer_due
        if not reason and self._reason == TURNED_AWAY and not is_for_agent:
            reason = self._reason
        if reason:
            self.finish()
        return reason

    def finish(self) -> None:
        """Goes on speaking at full volume: what was said over the agent was nothing."""
        if self._started_at is None:
            return
        if self._verdict is not InterruptionVerdict.YIELD and not self._has_resumed:
            age = self._line.now() - self._started_at
            decision = "resumed" if self._playback.is_paused else "talked_on"
            self._report(decision, SpeechOverlap(text=self._judged_text, age_s=age))
        self._end()
        if self._playback.is_paused:
            self._playback.resume()

    def release(self) -> None:
        """Forgets the overlap: the agent is about to answer it."""
        if self._started_at is not None:
            self._end()

    def _end(self) -> None:
        self._started_at = None
        self._judged_until = self._line.now()
        self._listener.is_watched = False
        self._playback.lower_voice(is_lowered=False)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self, delay_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._line.inputs.call_later("recheck", max(delay_s, 0.0), self._recheck)

    def _recheck(self) -> None:
        """Looks again without a window: a muted far end may send no audio, and the agent must not stay silent."""
        self._timer = None
        if self._started_at is not None:
            self._schedule(RECHECK_S)
            self._listener.evaluate_turn()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
