"""Ends the turn when words were recognized and the caller has been silent for a while."""

from dataclasses import dataclass

from offhook.voice.input.turns.rule import CallerTurnState


@dataclass(frozen=True, slots=True)
class SilenceEndsTurn:
    silence_s: float

    def is_over(self, state: CallerTurnState) -> bool:
        return bool(state.text) and not state.is_speaking and state.silence_s >= self.silence_s
