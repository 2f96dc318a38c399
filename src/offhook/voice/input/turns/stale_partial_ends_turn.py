"""Ends the turn on a partial transcript whose final never came, which is better than no answer."""

from dataclasses import dataclass

from offhook.voice.input.turns.rule import CallerTurnState


@dataclass(frozen=True, slots=True)
class StalePartialEndsTurn:
    """``silence_s``: 1.5 s is longer than any vendor's endpointing default (0.3 to 1.0 s)."""

    silence_s: float = 1.5

    def is_over(self, state: CallerTurnState) -> bool:
        return bool(state.partial) and not state.is_speaking and state.silence_s >= self.silence_s
