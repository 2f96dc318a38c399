"""The dated table of the prices that vendors and carriers publish."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final

import yaml

# The amounts of a price, all of one line; vendors of one kind may charge in different ways.
PRICE_KEYS: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    "llm": (("prompt_million", "completion_million"),),
    "tts": (("character_million",),),
    "stt": (("minute",),),
    "realtime": (
        (
            "text_input_million",
            "text_cached_million",
            "text_output_million",
            "audio_input_million",
            "audio_cached_million",
            "audio_output_million",
        ),
        ("minute", "message"),
    ),
    "carrier": (("minute",),),
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
            dollars={key: Decimal(row[key]) for key in _keys_of(kind, row)},
            step=row.get("step", 1),
            source=row["source"],
            seen=row.get("seen"),
            is_estimate=row.get("estimate", False),
        )
        for kind, providers in table.items()
        for provider, rows in providers.items()
        for row in rows
    )


def _keys_of(kind: str, row: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the amounts that a row must have, by the first one that it has."""
    return next((keys for keys in PRICE_KEYS[kind] if keys[0] in row), PRICE_KEYS[kind][0])
