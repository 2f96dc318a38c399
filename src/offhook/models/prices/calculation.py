"""Calculates the cost of a conversation's models and carriers, line by line. Pure."""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from decimal import Decimal
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.models.prices.published_prices import Price, price_table

ANY_MODEL: Final = "*"
# usage counter -> (unit of the line, price key, number of units per price)
_UNITS: Final = {
    "prompt_tokens": ("prompt_token", "prompt_million", 1_000_000),
    "completion_tokens": ("completion_token", "completion_million", 1_000_000),
    "characters": ("character", "character_million", 1_000_000),
    "seconds": ("second", "minute", 60),
}
_MODALITIES: Final = ("text_input", "text_cached", "text_output", "audio_input", "audio_cached", "audio_output")
# A response whose tokens were not reported has no price: it is unpriced, never free.
_REALTIME_UNITS: Final = {
    **{f"{name}_tokens": (name, f"{name}_million", 1_000_000) for name in _MODALITIES},
    "seconds": ("second", "minute", 60),
    "messages": ("text_message", "message", 1),
    "unreported_responses": ("response", "", 1),
}
_SNAPSHOT: Final = re.compile(r"-(\d{4}-?\d{2}-?\d{2}|latest)$")
# As many decimals as are stored, so that displayed amounts add up to the charge.
_STORED_PRECISION: Final = Decimal("0.00000001")
# What the columns of cost lines hold with room to spare. A larger amount would keep its run from ever being ended.
_MAX_QUANTITY: Final = Decimal(1_000_000_000)
_MAX_UNIT_CENTS: Final = Decimal(999_999)


@dataclass(frozen=True, slots=True)
class PricedUsage:
    """A quantity of units at ``unit_price_cents`` each, by the price in force since ``price_date``.

    ``kind`` is llm, tts, stt, realtime or carrier; ``unit`` is prompt_token, completion_token, character or second, tokens
    by modality (``audio_input``, ``text_cached`` …), text_message, or call for an amount that a carrier reported.
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
class UnpricedUsage:
    """Usage without a known price: it costs something, but the amount is unknown."""

    kind: str
    provider: str
    model: str
    unit: str
    quantity: float

    def as_dict(self) -> JsonObject:
        return asdict(self)


class PriceList:
    """The published table, overridden by an organization's own prices."""

    def __init__(self, own: Sequence[Price] = ()) -> None:
        self._own_prices = own

    def price_usage(self, usage: Mapping[str, Any], on: date) -> list[PricedUsage | UnpricedUsage]:
        """Prices the usage of a ``usage_counted`` event at the prices of the day ``on``; unused items have no line."""
        return [
            line
            for kind in ("llm", "tts", "stt", "realtime")
            for entry in usage.get(kind) or ()
            for line in self._usage_lines(kind, str(entry["provider"]), str(entry["model"]), entry, on)
        ]

    def price_call(
        self, carrier: str, direction: str, country: str | None, seconds: Decimal, on: date
    ) -> list[PricedUsage | UnpricedUsage]:
        """Prices a carrier's call of ``seconds``. ``country`` is that of the called number (ISO alpha-2)."""
        names = [f"{direction}/{country}"] if country else []
        model = names[0] if names else direction
        if seconds <= 0:
            return []
        price = self._find_price("carrier", carrier, (*names, direction, ANY_MODEL), on)
        if price is None:
            return [UnpricedUsage("carrier", carrier, model, "second", float(seconds))]
        begun = Decimal(math.ceil(seconds / price.step) * price.step) if price.step > 1 else seconds
        return [PricedUsage("carrier", carrier, model, "second", begun, _unit_cents(price, "minute", 60), price.since)]

    def price_of(self, kind: str, provider: str, model: str, on: date) -> Price | None:
        """Returns a model's price on a day. A dated snapshot (``gpt-4.1-2025-04-14``) costs the same as its model."""
        return self._find_price(kind, provider, (model, _SNAPSHOT.sub("", model), ANY_MODEL), on)

    def _find_price(self, kind: str, provider: str, models: Sequence[str], on: date) -> Price | None:
        for prices in (self._own_prices, price_table()):
            for model in models:
                known = [
                    price
                    for price in prices
                    if (price.kind, price.provider, price.model) == (kind, provider, model) and price.since <= on
                ]
                if known:
                    return max(known, key=lambda price: price.since)
        return None

    def _usage_lines(
        self, kind: str, provider: str, model: str, entry: Mapping[str, Any], on: date
    ) -> Iterator[PricedUsage | UnpricedUsage]:
        price = self.price_of(kind, provider, model, on)
        for counter, (unit, key, per) in (_REALTIME_UNITS if kind == "realtime" else _UNITS).items():
            quantity = min(Decimal(str(entry.get(counter) or 0)), _MAX_QUANTITY)
            if quantity <= 0:
                continue
            if price is None or key not in price.dollars:
                yield UnpricedUsage(kind, provider, model, unit, float(quantity))
            else:
                yield PricedUsage(kind, provider, model, unit, quantity, _unit_cents(price, key, per), price.since)


def _unit_cents(price: Price, key: str, per: int) -> Decimal:
    return min(price.dollars[key] * 100 / per, _MAX_UNIT_CENTS).quantize(_STORED_PRECISION)
