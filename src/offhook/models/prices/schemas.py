"""Prices as the API takes and shows them."""

from datetime import date
from decimal import Decimal
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StringConstraints, model_validator

from offhook.kit.json_numbers import WholeNumber, reject_boolean
from offhook.kit.schema import Schema
from offhook.models.prices.published_prices import PRICE_KEYS

Kind = Literal["llm", "tts", "stt", "realtime", "carrier"]
Dollars = Annotated[
    Decimal, BeforeValidator(reject_boolean), Field(ge=0, le=1_000_000, max_digits=16, decimal_places=8)
]
Provider = Annotated[str, StringConstraints(pattern=r"^[a-z0-9_.:-]{1,32}$")]
Model = Annotated[str, StringConstraints(pattern=r"^[\x21-\x7e]{1,64}$")]
Day = Annotated[date, Field(ge=date(2000, 1, 1), le=date(2200, 1, 1))]


class Amounts(Schema):
    """US dollars: LLMs ``prompt_million`` and ``completion_million``, TTS ``character_million``, STT and carriers ``minute``.

    Realtime models have all six amounts of text and audio: input, cached input and output. Those whose vendor charges
    for time have ``minute`` (of audio, sent and received) and ``message`` (one entry of text).
    """

    prompt_million: Dollars | None = None
    completion_million: Dollars | None = None
    character_million: Dollars | None = None
    minute: Dollars | None = None
    text_input_million: Dollars | None = None
    text_cached_million: Dollars | None = None
    text_output_million: Dollars | None = None
    audio_input_million: Dollars | None = None
    audio_cached_million: Dollars | None = None
    audio_output_million: Dollars | None = None
    message: Dollars | None = None


class OwnPriceRequest(Amounts):
    """``model`` ``*`` is every model of the provider; a carrier's is ``outbound`` or ``inbound``, or with the country of
    the called number ``outbound/US``. ``step``: calls are billed in full steps of this many seconds."""

    kind: Kind
    provider: Provider
    model: Model = "*"
    valid_from: Day
    step: WholeNumber = Field(default=1, ge=1, le=3600)

    @model_validator(mode="after")
    def _has_its_amounts(self) -> Self:
        given = set(self.amounts_by_key())
        ways = PRICE_KEYS[self.kind]
        if not any(given == set(keys) for keys in ways):
            allowed = ", or ".join(" and ".join(keys) for keys in ways)
            raise ValueError(f"a price of kind {self.kind} must have exactly {allowed}")
        return self

    def amounts_by_key(self) -> dict[str, str]:
        amounts = {name: getattr(self, name) for name in Amounts.model_fields}
        return {name: str(amount) for name, amount in amounts.items() if amount is not None}


class PriceItem(Amounts):
    """``source``: where the price comes from; ``organization`` for the organization's own."""

    kind: Kind
    provider: str
    model: str
    valid_from: date
    step: int
    is_own: bool
    is_estimate: bool
    source: str
    seen: date | None


class PriceListResponse(Schema):
    """The organization's own prices, then the table's; own prices override the table's."""

    prices: list[PriceItem]


class PriceRemoved(Schema):
    success: bool = True
