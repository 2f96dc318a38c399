"""Decides if a number may be called at all: invalid numbers, premium lines and excluded countries."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone_number

INVALID: Final = "invalid_number"
BLOCKED: Final = "destination_blocked"


@dataclass(frozen=True, slots=True)
class DestinationPolicy:
    """The allowed destinations. ``countries``: ISO 3166-1 alpha-2, None for every country."""

    countries: frozenset[str] | None = None
    allows_premium: bool = False


@dataclass(frozen=True, slots=True)
class DestinationCheck:
    """A result. ``refusal`` is None, :data:`INVALID` or :data:`BLOCKED`; ``zones`` as in ``kit.phone_numbers``."""

    refusal: str | None
    zones: tuple[str, ...] = ()


def parse_destinations(stored: Mapping[str, Any] | None) -> DestinationPolicy:
    """Reads ``campaigns.destinations`` as stored."""
    stored = stored or {}
    countries = stored.get("countries")
    return DestinationPolicy(
        countries=frozenset(countries) if countries is not None else None,
        allows_premium=bool(stored.get("allow_premium")),
    )


def check_destination(allowed: DestinationPolicy, number: str) -> DestinationCheck:
    """Checks a number by the numbering plan alone."""
    try:
        phone = parse_phone_number(number)
    except PhoneNumberInvalid:
        return DestinationCheck(INVALID)
    if phone.e164 != number:
        return DestinationCheck(INVALID)
    if phone.line_type == "premium" and not allowed.allows_premium:
        return DestinationCheck(BLOCKED, phone.time_zones)
    if allowed.countries is not None and phone.country not in allowed.countries:
        return DestinationCheck(BLOCKED, phone.time_zones)
    return DestinationCheck(None, phone.time_zones)
