"""Sells numbers of the simulated network, from ranges that numbering plans reserve for fiction where these exist."""

import re
import secrets
from typing import Final, Protocol

from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone_number
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed

MONTHLY_COST_CENTS: Final = 100
_NORTH_AMERICA: Final = frozenset({"US", "CA"})
_CITIES: Final = {"201": "Jersey City", "212": "New York", "312": "Chicago", "415": "San Francisco"}
# Prefixes to which three digits are added; other countries get valid numbers of the form +CC 2 000 00nn.
_PREFIXES: Final = {"GB": "+441632960", "AU": "+61291106", "FR": "+33199001", "IE": "+35312040", "DE": "+4930231251"}


class NumberBook(Protocol):
    """The sold numbers of the network."""

    async def add(self, organization_id: int, number: str, carrier_id: str) -> bool:
        """Adds a sold number. Returns False if it was already sold."""
        ...

    async def find_carrier_id(self, organization_id: int, number: str) -> str | None: ...

    async def find_sold(self, numbers: list[str]) -> set[str]: ...

    async def remove(self, organization_id: int, number: str) -> None: ...


class SandboxCatalog:
    """Implements ``ports.NumberCatalog``."""

    def __init__(self, book: NumberBook) -> None:
        self._book = book

    async def search_numbers(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]:
        numbers = [one for one in _numbers_in_range(country, area_code) if number is None or number in one]
        sold = await self._book.find_sold(numbers)
        return [_build_offer(one, country, area_code) for one in numbers if one not in sold][:limit]

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        if not _is_ours(number):
            raise CarrierFailed("number_not_for_sale", "The sandbox does not sell this number.", retryable=False)
        carrier_id = f"SBN{secrets.token_hex(16)}"
        if not await self._book.add(account.organization_id, number, carrier_id):
            raise CarrierFailed("number_taken", "This number has been sold already.", retryable=False)
        return carrier_id

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        return await self._book.find_carrier_id(account.organization_id, number)

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        await self._book.remove(account.organization_id, number)


def _numbers_in_range(country: str, area_code: str | None) -> list[str]:
    """Returns numbers of the country in order; none where the plan has no such area."""
    if country in _NORTH_AMERICA:
        area = area_code or ("201" if country == "US" else "416")
        # from 0110: the numbers before it belong to the simulated callees
        found = [f"+1{area}55501{index:02d}" for index in range(10, 100)]
    elif country in _PREFIXES:
        found = [f"{_PREFIXES[country]}{index:03d}" for index in range(100)]
    else:
        found = [_parse_national(country, f"{area_code or '2'}00{index:05d}") for index in range(20)]
    return [one for one in found if one and _is_possible(one)]


def _parse_national(country: str, national: str) -> str:
    try:
        return parse_phone_number(national, country).e164
    except PhoneNumberInvalid:
        return ""


def _is_possible(number: str) -> bool:
    try:
        return parse_phone_number(number).e164 == number
    except PhoneNumberInvalid:
        return False


def _is_ours(number: str) -> bool:
    if re.fullmatch(r"\+1[2-9]\d\d55501[1-9]\d", number):
        return True
    try:
        country = parse_phone_number(number).country or ""
    except PhoneNumberInvalid:
        return False
    if country in _NORTH_AMERICA:
        return False
    prefix = _PREFIXES.get(country)
    return number.startswith(prefix) if prefix else number[-5:-2] == "000"


def _build_offer(number: str, country: str, area_code: str | None) -> AvailableNumber:
    return AvailableNumber(
        phone_number=number,
        friendly_name=number,
        country=country,
        number_type="local",
        locality=_CITIES.get(number[2:5]) if number.startswith("+1") else None,
        capabilities=("voice",),
        monthly_cost_cents=MONTHLY_COST_CENTS,
    )
