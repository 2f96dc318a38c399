"""The dated table of the prices that vendors and carriers publish."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

PRICE_KEYS: Final[dict[str, tuple[str, ...]]] = {
    "llm": ("prompt_million", "completion_million"),
    "tts": ("character_million",),
    "stt": ("minute",),
    "realtime": (
        "text_input_million",
        "text_cached_million",
        "text_output_million",
        "audio_input_million",
        "audio_cached_million",
        "audio_output_million",
    ),
    "carrier": ("minute",),
}


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars by price key for one model from a day on. ``step``: billing increment in seconds."""

    since: date
    kind: str
    provider: str
    model: str
    dollars: Mapping[str, Decimal]
    step: int = 1
    source: str = ""
    seen: date | None = None
    is_estimate: bool = False


@cache
def price_table() -> tuple[Price, ...]:
    """Returns every price of ``prices.yaml``; a price with a missing amount is an error in the table."""
    text = (files(__package__) / "prices.yaml").read_text("utf-8")
    table: dict[str, dict[str, list[dict[str, Any]]]] = yaml.load(text, Loader=yaml.CSafeLoader)
    return tuple(
        Price(
            since=row["from"],
            kind=kind,
            provider=provider,
            model=str(row["model"]),
            dollars={key: Decimal(row[key]) for key in PRICE_KEYS[kind]},
            step=row.get("step", 1),
            source=row["source"],
            seen=row.get("seen"),
            is_estimate=row.get("estimate", False),
        )
        for kind, providers in table.items()
        for provider, rows in providers.items()
        for row in rows
    )
