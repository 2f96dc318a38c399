"""When a caller's turn is over and when a caller interrupts: one rule per file, chosen by configuration."""

from dataclasses import dataclass

from offhook.voice.config import CallConfig
from offhook.voice.turns.final_transcript_ends_turn import FinalTranscriptEndsTurn
from offhook.voice.turns.min_words_interrupt import MinWordsInterrupt
from offhook.voice.turns.never_interrupts import NeverInterrupts
from offhook.voice.turns.rule import InterruptRule, Listening, TurnEndRule
from offhook.voice.turns.silence_ends_turn import SilenceEndsTurn
from offhook.voice.turns.speech_interrupts import SpeechInterrupts
from offhook.voice.turns.stale_partial_ends_turn import StalePartialEndsTurn


@dataclass(frozen=True, slots=True)
class TurnRules:
    """The turn is over when any of ``ends`` says so."""

    ends: tuple[TurnEndRule, ...]
    interrupts: InterruptRule

    def is_over(self, state: Listening) -> bool:
        return any(rule.is_over(state) for rule in self.ends)


def choose(config: CallConfig, *, has_endpointing: bool) -> TurnRules:
    """The rules of a call. A recogniser without endpointing of its own always needs the silence rule."""
    ends: list[TurnEndRule] = []
    if has_endpointing and config.turn_stop != "silence":
        ends.append(FinalTranscriptEndsTurn())
        # a vendor that forgets its endpoint must not hold the turn
        ends.append(SilenceEndsTurn(max(1.5, config.turn_stop_silence_s)))
    else:
        ends.append(SilenceEndsTurn(config.turn_stop_silence_s))
    ends.append(StalePartialEndsTurn())
    interrupts: InterruptRule
    if config.turn_start == "never":
        interrupts = NeverInterrupts()
    elif config.turn_start == "min_words":
        interrupts = MinWordsInterrupt(config.turn_start_min_words)
    else:
        interrupts = SpeechInterrupts(config.interrupt_after_s)
    return TurnRules(tuple(ends), interrupts)


__all__ = ["InterruptRule", "Listening", "TurnEndRule", "TurnRules", "choose"]
