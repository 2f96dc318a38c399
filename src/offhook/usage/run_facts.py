"""The facts about a finished run that the runs domain passes to this one. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, TypedDict

from offhook.kit.json_values import JsonObject

UNKNOWN: Final = "unknown"
# A million dollars. What made-up figures or prices come to would not fit into the sums.
MAX_RUN_CENTS: Final = Decimal(100_000_000)
_INPUT_COUNTERS: Final = (
    "prompt_tokens",
    "text_input_tokens",
    "text_cached_tokens",
    "audio_input_tokens",
    "audio_cached_tokens",
)
# What sums over many runs have room for.
_MAX_COUNTED: Final = 1_000_000_000
_OUTPUT_COUNTERS: Final = ("completion_tokens", "text_output_tokens", "audio_output_tokens")


class ModelCounters(TypedDict):
    """The counters of :class:`ModelUse`."""

    prompt_tokens: int
    completion_tokens: int
    characters: int
    seconds: Decimal
    calls: int


@dataclass(frozen=True, slots=True)
class ModelUse:
    """A run's use of one model and its cost; ``is_priced`` is false when part of it has no known price."""

    kind: str
    provider: str
    model: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    characters: int = 0
    seconds: Decimal = Decimal(0)
    calls: int = 0
    cost_cents: Decimal = Decimal(0)
    is_priced: bool = True

    def as_sums(self) -> JsonObject:
        """Returns the use as columns of the sums; numbers are JSON."""
        sums = asdict(self)
        is_priced = sums.pop("is_priced")
        return sums | {
            "seconds": str(self.seconds),
            "cost_cents": str(self.cost_cents),
            "runs": 1,
            "unpriced_runs": 0 if is_priced else 1,
        }


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A finished run. ``cost_cents`` is the vendors' and the carrier's cost; the platform's own price is added here.

    ``is_billable``: the platform's price per minute applies (a conversation with audio). Its day is that of
    ``created_at``.
    """

    run_id: int
    organization_id: int
    workflow_id: int
    campaign_id: int | None
    created_at: datetime
    duration_ms: int
    is_billable: bool
    cost_cents: Decimal
    models: Sequence[ModelUse] = ()
    outcome: str = UNKNOWN


@dataclass(frozen=True, slots=True)
class RunCost:
    """A run's total cost in whole cents, and the platform's part: seconds beyond the included ones, at a price."""

    cost_cents: int
    platform_seconds: Decimal
    platform_cents_per_minute: Decimal


def parse_counters(entry: Mapping[str, Any]) -> ModelCounters:
    """Returns the counters of one entry of a run's ``usage`` as arguments of :class:`ModelUse`.

    Those of a speech-to-speech model, text and audio, are added up.
    """
    return {
        "prompt_tokens": sum(_count_units(entry, name) for name in _INPUT_COUNTERS),
        "completion_tokens": sum(_count_units(entry, name) for name in _OUTPUT_COUNTERS),
        "characters": _count_units(entry, "characters"),
        "seconds": min(Decimal(str(entry.get("seconds") or 0)), Decimal(_MAX_COUNTED)),
        "calls": _count_units(entry, "calls"),
    }


def _count_units(entry: Mapping[str, Any], name: str) -> int:
    return max(0, min(int(entry.get(name) or 0), _MAX_COUNTED))
