"""The caller state that turn rules see, and the two rule interfaces."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(slots=True)
class CallerTurnState:
    """The caller's turn so far. Seconds; ``silence_s`` counts from the last speech window on the clock.

    ``level_db`` is the loudness of the last frames (dBFS), measured only when a rule needs it.
    """

    text: str = ""
    partial: str = ""
    has_endpoint: bool = False
    is_speaking: bool = False
    speech_s: float = 0.0
    silence_s: float = 0.0
    level_db: float = 0.0

    @property
    def word_count(self) -> int:
        return len(f"{self.text} {self.partial}".split())


class TurnEndRule(Protocol):
    def is_over(self, state: CallerTurnState) -> bool: ...


class InterruptRule(Protocol):
    def should_interrupt(self, state: CallerTurnState) -> bool:
        """Returns whether to interrupt; called while the agent is audible."""
        ...

    def should_cut_off(self, words: int) -> bool:
        """Returns whether a whole turn of this many words, which has not interrupted yet, may do so at its end.

        A turn that may not is answered when the agent has finished.
        """
        ...
