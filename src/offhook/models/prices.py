"""What a conversation's use of models costs, line by line, from the dated price table ``prices.toml``."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from functools import cache
from importlib.resources import files
from typing import Any, Final

from offhook.models.ports import ModelRef

ANY_MODEL: Final = "*"
# usage counter -> (unit of the line, price key, how many units that price is for)
_UNITS: Final = {
    "prompt_tokens": ("prompt_token", "prompt_million", 1_000_000),
    "completion_tokens": ("completion_token", "completion_million", 1_000_000),
    "characters": ("character", "character_million", 1_000_000),
    "seconds": ("second", "minute", 60),
}
_SNAPSHOT: Final = re.compile(r"-\d{4}-?\d{2}-?\d{2}$")


@dataclass(frozen=True, slots=True)
class CostLine:
    """``quantity`` units at ``unit_price_cents`` each, by the price that held since ``price_date``.

    ``unit`` is prompt_token, completion_token, character or second.
    """

    kind: str
    provider: str
    model: str
    unit: str
    quantity: Decimal
    unit_price_cents: Decimal
    price_date: date

    @property
    def cost_cents(self) -> Decimal:
        return self.quantity * self.unit_price_cents


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars by price key of one model from one day on."""

    since: date
    ref: ModelRef
    dollars: Mapping[str, Decimal]


def cost_lines(usage: Mapping[str, Any], on: date) -> list[CostLine]:
    """The cost of what a ``usage_counted`` event counted, at the prices of the day ``on``.

    A model that the table does not know (a server of one's own) has no line: its price is not ours to guess.
    """
    return [
        line
        for kind in ("llm", "tts", "stt")
        for entry in usage.get(kind) or ()
        for line in _lines(ModelRef(kind, str(entry["provider"]), str(entry["model"])), entry, on)
    ]


def price_of(ref: ModelRef, on: date) -> Price | None:
    """The price of a model on a day. A dated snapshot (``gpt-4.1-2025-04-14``) costs what its model costs."""
    for model in (ref.model, _SNAPSHOT.sub("", ref.model), ANY_MODEL):
        known = [
            price
            for price in price_table()
            if (price.ref.kind, price.ref.provider, price.ref.model) == (ref.kind, ref.provider, model)
            and price.since <= on
        ]
        if known:
            return max(known, key=lambda price: price.since)
    return None


@cache
def price_table() -> tuple[Price, ...]:
    text = (files(__package__) / "prices.toml").read_text("utf-8")
    keys = {key for _, key, _ in _UNITS.values()}
    return tuple(
        Price(
            since=row["from"],
            ref=ModelRef(row["kind"], row["provider"], row["model"]),
            dollars={key: Decimal(value) for key, value in row.items() if key in keys},
        )
        for row in tomllib.loads(text)["price"]
    )


def _lines(ref: ModelRef, entry: Mapping[str, Any], on: date) -> Iterator[CostLine]:
    price = price_of(ref, on)
    if price is None:
        return
    for counter, (unit, key, per) in _UNITS.items():
        quantity = Decimal(str(entry.get(counter) or 0))
        if quantity > 0 and key in price.dollars:
            unit_price = price.dollars[key] * 100 / per
            yield CostLine(ref.kind, ref.provider, ref.model, unit, quantity, unit_price, price.since)
