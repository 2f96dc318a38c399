"""May this number be called at all? Impossible numbers, premium lines and countries that are not wished for."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone

INVALID: Final = "invalid_number"
BLOCKED: Final = "destination_blocked"


@dataclass(frozen=True, slots=True)
class Destinations:
    """``countries``: ISO 3166-1 alpha-2, None for every country."""

    countries: frozenset[str] | None = None
    allows_premium: bool = False


@dataclass(frozen=True, slots=True)
class Destination:
    """``refusal`` is None, :data:`INVALID` or :data:`BLOCKED`; ``zones`` as of ``kit.phone``."""

    refusal: str | None
    zones: tuple[str, ...] = ()


def destinations(stored: Mapping[str, Any] | None) -> Destinations:
    """``campaigns.destinations`` as stored."""
    stored = stored or {}
    countries = stored.get("countries")
    return Destinations(
        countries=frozenset(countries) if countries is not None else None,
        allows_premium=bool(stored.get("allow_premium")),
    )


def check(allowed: Destinations, number: str) -> Destination:
    """What is known of a number without asking anybody."""
    try:
        phone = parse_phone(number)
    except PhoneNumberInvalid:
        return Destination(INVALID)
    if phone.e164 != number:
        return Destination(INVALID)
    if phone.line_type == "premium" and not allowed.allows_premium:
        return Destination(BLOCKED, phone.time_zones)
    if allowed.countries is not None and phone.country not in allowed.countries:
        return Destination(BLOCKED, phone.time_zones)
    return Destination(None, phone.time_zones)
