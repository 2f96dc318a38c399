"""Looks up the network of a phone number: at a carrier that offers look-ups, else in the numbering plan."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime

import structlog

from offhook.kit.database.database import Database
from offhook.kit.phone_numbers import parse_phone_number
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierRegistry, NumberLookup
from offhook.usage import service as usage

OFFLINE = "offline"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class NumberReport:
    """The result of a look-up. ``source`` is the carrier that answered, or ``offline`` for the numbering plan."""

    number: str
    e164: str
    valid: bool
    country_code: str | None
    carrier: str | None
    line_type: str
    time_zones: list[str]
    source: str


class CarrierLookup:
    def __init__(self, db: Database, carriers: CarrierRegistry, accounts: CarrierAccounts, cents: int) -> None:
        self._cents = cents
        self._db = db
        self._carriers = carriers
        self._accounts = accounts

    async def look_up(self, organization_id: int, number: str) -> NumberReport:
        """Returns the carrier's data on the number, or the numbering plan's when no carrier is available or the
        look-up fails. A look-up with the platform's account is charged. Raises PhoneNumberInvalid (422) for an
        impossible number, OutOfCredit and DailySpendLimitReached (402)."""
        phone = parse_phone_number(number.strip())
        report = NumberReport(
            number=number,
            e164=phone.e164,
            valid=phone.is_valid,
            country_code=phone.country,
            carrier=None,
            line_type=phone.line_type,
            time_zones=list(phone.time_zones),
            source=OFFLINE,
        )
        provider = await self._find_provider(organization_id)
        if provider is None:
            return report
        lookup, account = provider
        is_charged, asked_at = account.id is None, datetime.now(UTC)
        if is_charged:
            async with self._db.transaction() as session:
                await usage.charge_credit(session, organization_id, self._cents, f"Look-up of {phone.e164}")
        try:
            result = await lookup.look_up(account, phone.e164)
        except CarrierFailed as failure:
            if is_charged:
                async with self._db.transaction() as session:
                    note = f"Look-up of {phone.e164} failed"
                    await usage.refund_credit(session, organization_id, self._cents, note, charged_at=asked_at)
            log.warning("carrier_lookup_failed", provider=account.provider, code=failure.code)
            return report
        line_type = result.line_type if result.line_type != "unknown" else phone.line_type
        return replace(report, carrier=result.carrier, line_type=line_type, source=account.provider)

    async def _find_provider(self, organization_id: int) -> tuple[NumberLookup, CarrierAccount] | None:
        """Prefers the organization's own accounts, the default one first, then the platform's."""
        async with self._db.transaction() as session:
            rows = await repository.list_configurations(session, organization_id)
            for row in sorted(rows, key=lambda row: (not row.is_default_outbound, row.id)):
                spec = self._carriers.find(row.provider)
                has_lookup = spec is not None and spec.numbers.lookup is not None
                if has_lookup and not row.is_managed and not row.inactive_since:
                    assert spec is not None
                    assert spec.numbers.lookup is not None
                    return spec.numbers.lookup, await self._accounts.open_account(session, row)
        platform = self._accounts.platform_account(organization_id)
        spec = self._carriers.find(platform.provider)
        if spec is None or spec.numbers.lookup is None:
            return None
        return spec.numbers.lookup, platform
