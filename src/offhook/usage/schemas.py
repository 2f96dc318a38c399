"""Request and response bodies of usage and billing."""

from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator, ConfigDict, Field, StringConstraints, field_validator

from offhook.kit.json_numbers import WholeNumber, reject_boolean
from offhook.kit.schema import Schema

_MAX_CENTS = 10**12
Price = Annotated[Decimal, BeforeValidator(reject_boolean), Field(ge=0, le=100_000, decimal_places=4)]


class CurrentPeriod(Schema):
    """The calendar month in the organization's time zone. ``minutes_remaining``: what included minutes and balance
    allow at
    the platform's price; ``is_unlimited`` when that price is nothing. Included minutes are counted by month in UTC."""

    period_start: datetime
    period_end: datetime
    total_calls: int
    total_minutes: float
    total_cost_cents: int
    minutes_remaining: float
    balance_cents: int
    is_unlimited: bool
    is_enforced: bool = Field(description="Whether an empty balance refuses new calls")
    included_minutes: int
    included_minutes_left: float = Field(description="Included minutes left in the current month (UTC)")
    included_until: datetime = Field(
        description="When the included minutes are renewed: midnight UTC on the first of a month"
    )
    held_cents: int = Field(description="Reserved for live calls and chats")
    spent_today_cents: int = Field(description="Since midnight UTC")
    daily_limit_cents: int | None = Field(description="The daily spend limit; null without a limit")
    total_duration_seconds: float
    used_dograh_tokens: int = Field(description="total_cost_cents, under the name that older clients read")
    used_amount_usd: float
    currency: Literal["USD"] = "USD"
    price_per_second_usd: float | None


class StorageUsage(Schema):
    """Bytes of uploaded files by type. ``limit_bytes`` is null if there is no limit."""

    used_bytes: int
    limit_bytes: int | None
    documents: int
    recordings: int
    contact_files: int


class UsageDay(Schema):
    """``date`` is a day in the organization's time zone."""

    date: date
    call_count: int
    total_minutes: float
    total_cost_cents: int


class ModelUsageItem(Schema):
    """``calls`` are requests to a language model, ``runs`` the conversations that used the model. ``is_priced`` is false
    when a part of it has no known price: ``cost_cents`` is then null, or the cost of the rest."""

    provider: str
    model: str
    kind: str
    prompt_tokens: int
    completion_tokens: int
    characters: int
    seconds: float
    calls: int
    runs: int
    cost_cents: float | None
    is_priced: bool


class LedgerEntryItem(Schema):
    """``amount_cents`` is what the balance changed by, ``balance_cents`` the balance after it."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    kind: Literal["credit", "run", "charge", "adjustment"]
    amount_cents: int
    balance_cents: int
    run_id: int | None
    note: str | None
    created_at: datetime


class Ledger(Schema):
    entries: list[LedgerEntryItem]
    balance_cents: int
    total_count: int
    page: int
    limit: int
    total_pages: int


class AddCreditRequest(Schema):
    """A negative amount is an adjustment."""

    cents: WholeNumber = Field(ge=-_MAX_CENTS, le=_MAX_CENTS)
    note: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] | None = None

    @field_validator("cents")
    @classmethod
    def _is_something(cls, cents: int) -> int:
        if cents == 0:
            raise ValueError("an amount of zero changes nothing")
        return cents

    @field_validator("note")
    @classmethod
    def _is_storable(cls, note: str | None) -> str | None:
        if note is not None and "\0" in note:
            raise ValueError("a note has no NUL characters")
        return note


class CreditAdded(LedgerEntryItem):
    organization_id: int


class BillingTerms(Schema):
    """Null uses the installation's setting."""

    platform_cents_per_minute: Price | None = None
    included_minutes: WholeNumber | None = Field(default=None, ge=0, le=10**9)
    is_enforced: bool | None = None
    daily_limit_cents: WholeNumber | None = Field(default=None, ge=0, le=_MAX_CENTS, description="0: without limit")


class SpendLimit(Schema):
    """``own_limit_cents``: your own limit of one day (UTC), or null. ``limit_cents``: the one that applies, which is the
    lower of yours and your operator's; null without any."""

    own_limit_cents: int | None
    limit_cents: int | None
    spent_today_cents: int


class SpendLimitUpdate(Schema):
    """``null`` removes your own limit; your operator's stays."""

    own_limit_cents: WholeNumber | None = Field(ge=1, le=_MAX_CENTS)


class BillingAccountResponse(BillingTerms):
    """The organization's own terms, and the ones that apply (``effective``)."""

    organization_id: int
    balance_cents: int
    effective: BillingTerms
