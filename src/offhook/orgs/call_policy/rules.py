"""Decides by the numbering plan where calls may go. Pure."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal

from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone_number

Refusal = Literal["invalid_number", "satellite", "premium", "high_risk", "country", "price"]

# Numbers of no country: satellite telephones, networks of ships and airlines, personal and premium numbers. Not +800,
# which costs the caller nothing.
SATELLITE_PREFIXES: Final = ("+870", "+878", "+881", "+882", "+883", "+888", "+979")
# Premium lines that the numbering plan of the library does not know as such.
PREMIUM_PREFIXES: Final = ("+1900", "+1976", "+808")
# Ranges that fraud with shared revenue uses most: personal numbers of the United Kingdom, and countries to which calls
# cost much and hardly anybody's customers are.
HIGH_RISK_PREFIXES: Final = (
    "+4470",
    *("+53", "+220", "+224", "+232", "+235", "+236", "+239", "+240", "+242", "+243", "+245", "+246", "+247", "+252"),
    *("+257", "+261", "+269", "+290", "+291", "+298", "+299", "+500", "+509", "+670", "+672", "+674", "+675", "+676"),
    *("+677", "+678", "+680", "+681", "+682", "+683", "+685", "+686", "+688", "+689", "+690", "+691", "+692", "+850"),
)


@dataclass(frozen=True, slots=True)
class CallPolicy:
    """Where calls, triggers, transfers and campaigns may go, and who may call.

    ``countries``: ISO 3166-1 alpha-2, None for every country; a country that is named is allowed although it is of high
    risk. ``max_cents_per_minute``: the highest price of a destination, where its price is known; None without a limit.
    The last two limit one caller's inbound calls at a time and in an hour; None without a limit.
    """

    countries: frozenset[str] | None = None
    allows_premium: bool = False
    allows_satellite: bool = False
    allows_high_risk: bool = False
    max_cents_per_minute: Decimal | None = None
    max_live_calls_per_caller: int | None = None
    max_hourly_calls_per_caller: int | None = None


@dataclass(frozen=True, slots=True)
class DestinationVerdict:
    """``refusal`` is None where the number may be called. ``country``: ISO 3166-1 alpha-2, None for none."""

    refusal: Refusal | None
    country: str | None = None


def judge_destination(policy: CallPolicy, number: str) -> DestinationVerdict:
    """Judges a number in E.164, without its price."""
    try:
        phone = parse_phone_number(number)
    except PhoneNumberInvalid:
        return DestinationVerdict("invalid_number")
    if phone.e164 != number:
        return DestinationVerdict("invalid_number")
    return DestinationVerdict(_refusal(policy, number, phone.line_type, phone.country), phone.country)


def _refusal(policy: CallPolicy, number: str, line_type: str, country: str | None) -> Refusal | None:
    if number.startswith(SATELLITE_PREFIXES) and not policy.allows_satellite:
        return "satellite"
    is_premium = line_type == "premium" or number.startswith(PREMIUM_PREFIXES)
    if is_premium and not policy.allows_premium:
        return "premium"
    if policy.countries is not None and country is not None and country not in policy.countries:
        return "country"
    is_named = policy.countries is not None and country in policy.countries
    # Personal numbers stay closed in a country that is named: they are no different from premium ones.
    is_open = policy.allows_high_risk or (is_named and not number.startswith("+4470"))
    if number.startswith(HIGH_RISK_PREFIXES) and not is_open:
        return "high_risk"
    return None
