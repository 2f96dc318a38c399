"""Sells numbers of the simulated network, from ranges that numbering plans reserve for fiction where these exist."""

import re
import secrets
from typing import Final

from offhook.kit.database.database import Database
from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone_number
from offhook.telephony.ports import AvailableNumber, CarrierAccount, CarrierFailed
from offhook.telephony.providers.sandbox import number_queries

MONTHLY_COST_CENTS: Final = 100
_NORTH_AMERICA: Final = frozenset({"US", "CA"})
_CITIES: Final = {"201": "Jersey City", "212": "New York", "312": "Chicago", "415": "San Francisco"}
# Prefixes to which three digits are added; other countries get valid numbers of the form +CC 2 000 00nn.
_PREFIXES: Final = {"GB": "+441632960", "AU": "+61291106", "FR": "+33199001", "IE": "+35312040", "DE": "+4930231251"}


class SandboxCatalog:
    """Implements ``ports.NumberCatalog`` and records the sold numbers in transactions of its own."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def search_numbers(
        self, account: CarrierAccount, country: str, area_code: str | None, number: str | None, limit: int
    ) -> list[AvailableNumber]:
        numbers = [one for one in _numbers_in_range(country, area_code) if number is None or number in one]
        async with self._db.transaction() as session:
            sold = await number_queries.find_sold(session, numbers)
        return [_build_offer(one, country, area_code) for one in numbers if one not in sold][:limit]

    async def buy_number(self, account: CarrierAccount, number: str, country: str) -> str:
        if not _is_ours(number):
            raise CarrierFailed("number_not_for_sale", "The sandbox does not sell this number.", retryable=False)
        carrier_id = f"SBN{secrets.token_hex(16)}"
        async with self._db.transaction() as session:
            is_free = await number_queries.insert_number(session, account.organization_id, number, carrier_id)
        if not is_free:
            raise CarrierFailed("number_taken", "This number has been sold already.", retryable=False)
        return carrier_id

    async def find_owned(self, account: CarrierAccount, number: str) -> str | None:
        async with self._db.transaction() as session:
            return await number_queries.find_carrier_id(session, account.organization_id, number)

    async def release_number(self, account: CarrierAccount, number: str, carrier_id: str | None) -> None:
        async with self._db.transaction() as session:
            await number_queries.delete_number(session, account.organization_id, number)


def _numbers_in_range(country: str, area_code: str | None) -> list[str]:
    """Returns numbers of the country in order; none where the plan has no such area."""
    if country in _NORTH_AMERICA:
        area = area_code or ("201" if country == "US" else "416")
        # from 0110: the numbers before it belong to the simulated callees
        found = [f"+1{area}55501{index:02d}" for index in range(10, 100)]
    elif country in _PREFIXES:
        found = [f"{_PREFIXES[country]}{index:03d}" for index in range(100)]
    else:
        found = [_parse_number(f"{area_code or '2'}00{index:05d}", country) for index in range(20)]
    return [number for number in found if number and _parse_number(number) == number]


def _parse_number(number: str, country: str | None = None) -> str:
    try:
        return parse_phone_number(number, country).e164
    except PhoneNumberInvalid:
        return ""


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
