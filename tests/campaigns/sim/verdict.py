"""What a world may be made of instead of the engine, and what came of it."""

from dataclasses import dataclass, field

from offhook.campaigns.engine.engine import CampaignEngine
from tests.campaigns.sim.far_end import SimCarrier
from tests.campaigns.sim.twin import TwinTx


@dataclass
class Variant:
    """What of the engine is replaced, to see whether the witness notices."""

    tx: type[TwinTx] | None = None
    engine: type[CampaignEngine] | None = None
    carrier: type[SimCarrier] | None = None
    # Chances that replace those of the seed, to look for a fault where it hides.
    storm: dict[str, float] = field(default_factory=dict)
    # All campaigns of an organization go by one account with so many numbers.
    lines: int | None = None


@dataclass
class Verdict:
    seed: int
    violations: list[str]
    steps: int
    calls: int
    log: list[str] = field(default_factory=list)
