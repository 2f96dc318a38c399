"""Only that many recognized words interrupt the agent: "mhm" and noise do not."""

from dataclasses import dataclass

from offhook.voice.input.turns.rule import Listening


@dataclass(frozen=True, slots=True)
class MinWordsInterrupt:
    words: int

    def interrupts(self, state: Listening) -> bool:
        return state.words >= self.words

    def cuts_off(self, words: int) -> bool:
        return words >= self.words
