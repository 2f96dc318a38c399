"""What is asked for, and what came of it; chooses a number to buy, with the price of its first month."""

from dataclasses import dataclass
from typing import Final

from offhook.kit.phone_numbers import normalize_e164
from offhook.telephony.errors import CarrierUnavailable, NoNumberForSale
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed, NumberCatalog

MAX_OFFERED: Final = 20


@dataclass(frozen=True, slots=True)
class NumberSearch:
    """What is wanted: a number in E.164, or any in a country (ISO 3166-1 alpha-2) and area."""

    country: str
    area_code: str | None = None
    number: str | None = None


@dataclass(frozen=True, slots=True)
class PurchaseRequest:
    """A request to quick-connect. ``mode``: forward or new; numbers are E.164."""

    mode: str
    country: str
    area_code: str | None = None
    phone_number: str | None = None
    existing_number: str | None = None
    workflow_id: int | None = None
    label: str | None = None


@dataclass(frozen=True, slots=True)
class ConnectedNumber:
    """A purchased number. ``forward_to`` and ``instructions`` apply to the mode forward."""

    phone_number_id: int
    phone_number: str
    mode: str
    status: str
    is_primary: bool
    forward_to: str | None
    instructions: str | None
    workflow_id: int | None


async def search_numbers(
    catalog: NumberCatalog, account: CarrierAccount, wanted: NumberSearch
) -> list[AvailableNumber]:
    """Searches for numbers on sale. Raises CarrierUnavailable (502)."""
    try:
        return await catalog.search_numbers(account, wanted.country, wanted.area_code, wanted.number, MAX_OFFERED)
    except CarrierFailed as failure:
        raise CarrierUnavailable(f"The carrier did not respond: {failure.message}") from None


async def choose_number(
    catalog: NumberCatalog, account: CarrierAccount, wanted: NumberSearch, default_cents: int
) -> tuple[str, int]:
    """Returns the number to buy and its first month's price in cents: ``default_cents`` where the carrier names none,
    and 0 if that is 0 (numbers of simulated carriers). Raises NoNumberForSale (409) and CarrierUnavailable (502)."""
    if wanted.number is not None and not default_cents:
        return wanted.number, 0
    offers = await search_numbers(catalog, account, wanted)
    if wanted.number is None:
        if not offers:
            raise NoNumberForSale
        return normalize_e164(offers[0].phone_number), _price_of(offers[0], default_cents)
    offer = next((one for one in offers if normalize_e164(one.phone_number) == wanted.number), None)
    return wanted.number, default_cents if offer is None else _price_of(offer, default_cents)


def _price_of(offer: AvailableNumber, default_cents: int) -> int:
    return offer.monthly_cost_cents if default_cents and offer.monthly_cost_cents is not None else default_cents
