"""Twilio's sub-accounts: accounts with their own SID and auth token, whose bills the parent pays."""

from typing import Any
from urllib.parse import quote

from offhook.telephony.carrier_kit.http import CarrierHttp, CarrierResponse, require_setting
from offhook.telephony.ports import CarrierAccount, CarrierFailed, SubAccount
from offhook.telephony.providers.twilio.api import ACCOUNTS, TwilioApi


class TwilioSubAccounts:
    """Implements ``SubAccountManager``. A sub-account's own auth token signs its webhooks."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = TwilioApi(http)

    async def check_parent(self, parent: CarrierAccount) -> None:
        account = (await self._api.send_request(parent, "GET", ".json")).json()
        if account.get("owner_account_sid") not in {None, account.get("sid")}:
            raise CarrierFailed("carrier_refused", "This Twilio account is itself a sub-account.", retryable=False)

    async def find_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount | None:
        params = {"FriendlyName": name, "Status": "active", "PageSize": "50"}
        answer = await self._api.send_request(parent, "GET", f"{ACCOUNTS}.json", params=params)
        listed = answer.json().get("accounts")
        if not isinstance(listed, list):
            raise CarrierFailed("carrier_cannot_say", "Twilio's answer has no accounts.", retryable=True)
        own_sid = require_setting(parent, "account_sid")
        # Newest first, as Twilio lists them.
        found = [one for one in listed if _is_named(one, name) and one.get("sid") != own_sid]
        return await self._read_account(parent, found[-1]) if found else None

    async def _read_account(self, parent: CarrierAccount, listed: dict[str, Any]) -> SubAccount:
        path = f"{ACCOUNTS}/{quote(str(listed.get('sid')), safe='')}.json"
        return _parse_account(await self._api.send_request(parent, "GET", path))

    async def create_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount:
        form = {"FriendlyName": name}
        return _parse_account(await self._api.send_request(parent, "POST", f"{ACCOUNTS}.json", form=form))

    async def close_sub_account(self, parent: CarrierAccount, reference: str) -> None:
        """Closes it for good; Twilio deletes a closed account after thirty days."""
        if reference == require_setting(parent, "account_sid"):
            raise CarrierFailed("carrier_refused", "This is the platform's own account.", retryable=False)
        path = f"{ACCOUNTS}/{quote(reference, safe='')}.json"
        await self._api.send_request(parent, "POST", path, form={"Status": "closed"}, may_be_gone=True)


def _is_named(entry: object, name: str) -> bool:
    return isinstance(entry, dict) and entry.get("friendly_name") == name and bool(entry.get("sid"))


def _parse_account(answer: CarrierResponse) -> SubAccount:
    sid, token = answer.require_text("sid"), answer.require_text("auth_token")
    return SubAccount(sid, {"account_sid": sid, "auth_token": token})
