"""Which of the caller's turns need no answer: listening sounds over the agent, fillers, coughs, words to others."""

from offhook.voice import events
from offhook.voice.agent_turns import AgentTurns
from offhook.voice.aside_timer import AsideTimer
from offhook.voice.call_context import CallContext
from offhook.voice.config import CallConfig
from offhook.voice.events import TurnTiming
from offhook.voice.input.interruption_rules import TURNED_AWAY
from offhook.voice.input.listener import CallerListener
from offhook.voice.input.spoken_signals import SpeechSignal
from offhook.voice.output.playback import Playback
from offhook.voice.overlap import OverlapController


class TurnFilter:
    """Looks at the turns of one call. Words that seem to be for others are answered if nothing comes after them."""

    def __init__(
        self,
        config: CallConfig,
        *,
        turns: AgentTurns,
        playback: Playback,
        listener: CallerListener,
        overlap: OverlapController,
        line: CallContext,
    ) -> None:
        self._config = config
        self._turns = turns
        self._playback = playback
        self._listener = listener
        self._overlap = overlap
        self._line = line
        self._asides = AsideTimer(self._answer_aside)
        self._held_turns = 0

    def reason_to_ignore(self, text: str) -> str:
        """Returns why a turn needs no answer, at least not now; empty if it needs one."""
        if self._config.turn_start != "default" or not text:
            return ""
        if self._overlap.is_active and (self._playback.is_audible or self._playback.is_paused):
            return self._overlap.judge_turn(text, is_expected=self._is_expected(text))
        reason = self._judge_words(text)
        is_idle = not self._turns.is_agent_busy and not self._overlap.has_just_yielded
        # it is measured in any case: a journal plays the call again by what was measured
        if not reason and is_idle and self._listener.sound.was_turned_away() and not self._is_expected(text):
            self._asides.hold(text)
            self._held_turns += 1
            return TURNED_AWAY
        return reason

    def _is_expected(self, text: str) -> bool:
        """Returns whether a turn is one of the answers that this step waits for: "the food" is not said to anyone
        else."""
        return self._overlap.rules.lexicon.is_one_of(text, self._listener.expectation.phrases)

    def _judge_words(self, text: str) -> str:
        lexicon, is_busy = self._overlap.rules.lexicon, self._turns.is_agent_busy
        signal = lexicon.classify(text, stop_words=self._config.interruption_words)
        is_listening = signal in (SpeechSignal.BACKCHANNEL, SpeechSignal.FRAGMENT)
        if is_listening and is_busy and not self._playback.is_question_open:
            return str(signal.value)
        if not is_busy and len(lexicon.split(text)) == 1 and self._listener.sound.was_breath():
            return "no_voice"
        is_idle_talk = signal is SpeechSignal.FILLER or (signal is SpeechSignal.ASIDE and lexicon.is_short_aside(text))
        return str(signal.value) if is_idle_talk else ""

    def may_need_answer(self, text: str) -> bool:
        """Returns whether a turn is likely to be answered, by its words."""
        if self._config.turn_start != "default":
            return True
        lexicon = self._overlap.rules.lexicon
        signal = lexicon.classify(text, stop_words=self._config.interruption_words)
        return signal not in (SpeechSignal.FILLER, SpeechSignal.ASIDE)

    def _answer_aside(self, text: str) -> None:
        turns, self._held_turns = self._held_turns, 0
        if not self._turns.is_agent_busy:
            self._line.emit(events.HELD_TURNS_ANSWERED, {"turns": turns})
            self._turns.answer_caller(text, TurnTiming(turn_decided=self._line.since_start()))

    def caller_speaks(self) -> None:
        """Lets words to others wait for longer."""
        self._asides.postpone()

    def turn_accepted(self) -> None:
        """Drops words to others: the caller has turned to the agent."""
        self._held_turns = 0
        self._asides.forget()

    def close(self) -> None:
        self._asides.forget()
