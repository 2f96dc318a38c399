"""Interrupts the agent only after a number of recognized words: "mhm" and noise do not count."""

from dataclasses import dataclass

from offhook.voice.input.turns.rule import CallerTurnState


@dataclass(frozen=True, slots=True)
class MinWordsInterrupt:
    words: int

    def should_interrupt(self, state: CallerTurnState) -> bool:
        return state.word_count >= self.words

    def should_cut_off(self, words: int) -> bool:
        return words >= self.words
