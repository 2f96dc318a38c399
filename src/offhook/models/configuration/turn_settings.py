"""What an agent's settings say about the end of its callers' turns, for recognizers that decide it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

SERVER_VAD: Final = "server_vad"
SEMANTIC_VAD: Final = "semantic_vad"
_TAKINGS: Final = ("eager", "balanced", "patient")


@dataclass(frozen=True, slots=True)
class TurnSettings:
    """``detection``: a pause ends a turn, or what was said counts as well. ``taking``: eager, balanced or patient.
    ``wants_likely_ends``: the call uses the end of a turn that is not certain yet."""

    detection: str = SERVER_VAD
    taking: str = "balanced"
    wants_likely_ends: bool = False

    @classmethod
    def from_configurations(cls, configurations: Mapping[str, Any]) -> "TurnSettings":
        taking = configurations.get("turn_taking")
        return cls(
            SEMANTIC_VAD if configurations.get("turn_detection") == SEMANTIC_VAD else SERVER_VAD,
            taking if taking in _TAKINGS else "balanced",
            configurations.get("early_answers") is True,
        )


DEFAULT_TURNS: Final = TurnSettings()
