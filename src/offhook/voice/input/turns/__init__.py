"""Rules for when a caller's turn is over and when a caller interrupts: one per file, chosen by configuration."""

from dataclasses import dataclass

from offhook.voice.config import CallConfig
from offhook.voice.input.turns.final_transcript_ends_turn import FinalTranscriptEndsTurn
from offhook.voice.input.turns.finished_sentence_ends_turn import FinishedSentenceEndsTurn
from offhook.voice.input.turns.min_words_interrupt import MinWordsInterrupt
from offhook.voice.input.turns.never_interrupts import NeverInterrupts
from offhook.voice.input.turns.rule import CallerTurnState, InterruptRule, TurnEndRule
from offhook.voice.input.turns.silence_ends_turn import SilenceEndsTurn
from offhook.voice.input.turns.speech_interrupts import SpeechInterrupts
from offhook.voice.input.turns.stale_partial_ends_turn import StalePartialEndsTurn


@dataclass(frozen=True, slots=True)
class TurnRules:
    """The turn is over when any of ``ends`` says so. ``pauses``: makes the agent pause and listen without ending
    its turn."""

    end_rules: tuple[TurnEndRule, ...]
    interrupt_rule: InterruptRule
    pause_rule: InterruptRule

    def is_over(self, state: CallerTurnState) -> bool:
        return any(rule.is_over(state) for rule in self.end_rules)


def choose_turn_rules(config: CallConfig, *, has_endpointing: bool) -> TurnRules:
    """Returns the rules of a call. A recognizer without endpointing always needs the silence rule."""
    return TurnRules(_turn_end_rules(config, has_endpointing), *_interrupt_rules(config))


def _turn_end_rules(config: CallConfig, has_endpointing: bool) -> tuple[TurnEndRule, ...]:
    if config.turn_stop == "turn_analyzer":
        # a vendor that never reports its endpoint must not block the turn
        finished_s = max(1.5, config.turn_stop_silence_s) if has_endpointing else config.turn_stop_silence_s
        unfinished_s = max(config.turn_stop_silence_s, config.smart_turn_stop_s)
        stale = StalePartialEndsTurn(max(1.5, unfinished_s))
        return FinishedSentenceEndsTurn(finished_s, unfinished_s), stale
    if has_endpointing and config.turn_stop != "silence":
        late = SilenceEndsTurn(max(1.5, config.turn_stop_silence_s))
        return FinalTranscriptEndsTurn(), late, StalePartialEndsTurn()
    return SilenceEndsTurn(config.turn_stop_silence_s), StalePartialEndsTurn()


def _interrupt_rules(config: CallConfig) -> tuple[InterruptRule, InterruptRule]:
    """Returns the rule that interrupts and the rule that only pauses."""
    speech = SpeechInterrupts(config.interrupt_after_s, config.interrupt_min_level_db)
    if config.turn_start == "never":
        return NeverInterrupts(), NeverInterrupts()
    if config.turn_start == "min_words":
        return MinWordsInterrupt(config.turn_start_min_words), NeverInterrupts()
    if config.turn_start == "provisional_vad":
        return MinWordsInterrupt(1), speech
    return speech, NeverInterrupts()


__all__ = ["CallerTurnState", "InterruptRule", "TurnEndRule", "TurnRules", "choose_turn_rules"]
