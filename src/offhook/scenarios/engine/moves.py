"""What a caller does next."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScenarioMove:
    """What the caller does next: one of say, press, silence and hanging up. ``agent_says`` is expected in the reply.

    ``turn`` is the place in the scenario's turns; None for rules and wrong answers. ``filler`` is what a sentence begins
    with when the caller hesitates.
    """

    say: str | None = None
    press: str | None = None
    silence_s: float | None = None
    hangs_up: bool = False
    agent_says: str | None = None
    turn: int | None = None
    filler: str = ""
