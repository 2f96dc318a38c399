"""Only that many recognized words interrupt the agent: "mhm" and noise do not."""

from dataclasses import dataclass

from offhook.voice.input.turns.rule import CallerTurnState


@dataclass(frozen=True, slots=True)
class MinWordsInterrupt:
    words: int

    def should_interrupt(self, state: CallerTurnState) -> bool:
        return state.word_count >= self.words

    def should_cut_off(self, words: int) -> bool:
        return words >= self.words
