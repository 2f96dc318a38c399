"""Whose network a phone number is on: by a carrier that can say, else by the numbering plan."""

from typing import Any

import structlog

from offhook.kit.database.database import Database
from offhook.kit.phone_numbers import parse_phone_number
from offhook.telephony.accounts import repository
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.ports import CarrierAccount, CarrierFailed, CarrierRegistry, NumberLookup

OFFLINE = "offline"
log = structlog.get_logger(__name__)


class CarrierLookup:
    def __init__(self, db: Database, carriers: CarrierRegistry, accounts: CarrierAccounts) -> None:
        self._db = db
        self._carriers = carriers
        self._accounts = accounts

    async def look_up(self, organization_id: int, number: str) -> dict[str, Any]:
        """PhoneNumberInvalid (422) for an impossible one. ``source`` names who said it; a carrier that fails is not
        waited for twice: the numbering plan answers."""
        phone = parse_phone_number(number.strip())
        answer = {
            "number": number,
            "e164": phone.e164,
            "valid": phone.is_valid,
            "country_code": phone.country,
            "carrier": None,
            "line_type": phone.line_type,
            "time_zones": list(phone.time_zones),
            "source": OFFLINE,
        }
        found = await self._find_provider(organization_id)
        if found is None:
            return answer
        lookup, account = found
        try:
            said = await lookup.look_up(account, phone.e164)
        except CarrierFailed as failure:
            log.warning("carrier_lookup_failed", provider=account.provider, code=failure.code)
            return answer
        line_type = said.line_type if said.line_type != "unknown" else phone.line_type
        return {**answer, "carrier": said.carrier, "line_type": line_type, "source": account.provider}

    async def _find_provider(self, organization_id: int) -> tuple[NumberLookup, CarrierAccount] | None:
        """The organization's own account first, its default before others, then the platform's."""
        async with self._db.transaction() as session:
            rows = await repository.list_configurations(session, organization_id)
            for row in sorted(rows, key=lambda one: (not one.is_default_outbound, one.id)):
                spec = self._carriers.find(row.provider)
                if spec is not None and spec.numbers.lookup is not None and not row.inactive_since:
                    return spec.numbers.lookup, await self._accounts.open_account(session, row)
        platform = self._accounts.platform_account(organization_id)
        spec = self._carriers.find(platform.provider)
        if spec is None or spec.numbers.lookup is None:
            return None
        return spec.numbers.lookup, platform
