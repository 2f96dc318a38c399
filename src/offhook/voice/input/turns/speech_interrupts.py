"""Interrupts the agent after speech of a set length and, if configured, loudness (a television is quieter)."""

from dataclasses import dataclass

from offhook.voice.input.turns.rule import CallerTurnState


@dataclass(frozen=True, slots=True)
class SpeechInterrupts:
    after_s: float
    min_level_db: float | None = None

    def should_interrupt(self, state: CallerTurnState) -> bool:
        if self.min_level_db is not None and state.level_db < self.min_level_db:
            return False
        return state.is_speaking and state.speech_s >= self.after_s

    def should_cut_off(self, words: int) -> bool:
        return self.min_level_db is None
