"""Plivo's sub-accounts: an auth id and a token of their own, with numbers that the main account buys."""

from collections.abc import AsyncIterator, Mapping
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from offhook.telephony.carrier_kit.forms import strip_plus
from offhook.telephony.carrier_kit.http import CarrierHttp, require_setting
from offhook.telephony.ports import CarrierAccount, CarrierFailed, SubAccount
from offhook.telephony.providers.plivo.api import GONE, PlivoApi

SUB_ACCOUNTS: Final = "/Subaccount/"
APPLICATIONS: Final = "/Application/"
# Plivo lists at most 20 entries in one answer.
_PAGE: Final = 20
_MAX_PAGES: Final = 500


class PlivoSubAccounts:
    """Implements ``SubAccountManager`` and ``SubAccountNumbers``. A sub-account has an application of its own, which the
    main account's applications cannot be; its token signs its webhooks beside the main account's."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = PlivoApi(http)

    async def check_parent(self, parent: CarrierAccount) -> None:
        await self._api.send_request(parent, "GET", SUB_ACCOUNTS, params={"limit": "1"})

    async def find_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount | None:
        listed = [one async for one in self._list_entries(parent, SUB_ACCOUNTS)]
        found = [one for one in listed if one.get("name") == name and one.get("auth_id") and one.get("enabled")]
        if not found:
            return None
        # Plivo names the day of the creation only; of several, every process has to choose the same.
        first = min(found, key=lambda one: (str(one.get("created")), str(one["auth_id"])))
        path = f"{SUB_ACCOUNTS}{quote(str(first['auth_id']), safe='')}/"
        read = await self._api.send_request(parent, "GET", path)
        return await self._complete(parent, read.require_text("auth_id"), read.require_text("auth_token"), name)

    async def create_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount:
        made = await self._api.send_request(parent, "POST", SUB_ACCOUNTS, {"name": name, "enabled": True})
        return await self._complete(parent, made.require_text("auth_id"), made.require_text("auth_token"), name)

    async def close_sub_account(self, parent: CarrierAccount, reference: str) -> None:
        """Deletes it with its application."""
        path = f"{SUB_ACCOUNTS}{quote(reference, safe='')}/"
        await self._api.send_request(parent, "DELETE", path, {"cascade": True}, may_be_gone=True)

    async def find_number(self, parent: CarrierAccount, account: CarrierAccount, number: str) -> str | None:
        answer = await self._api.send_request(parent, "GET", _number_path(number), may_be_gone=True)
        if answer.status == GONE or not _may_have(account, answer.json()):
            return None
        return strip_plus(number)

    async def move_number(self, parent: CarrierAccount, account: CarrierAccount, number: str) -> None:
        known = (await self._api.send_request(parent, "GET", _number_path(number))).json()
        if not _may_have(account, known):
            raise CarrierFailed("number_taken", f"Plivo: {number} is in another sub-account.", retryable=False)
        if not known.get("sub_account"):
            body = {"subaccount": require_setting(account, "auth_id")}
            await self._api.send_request(parent, "POST", _number_path(number), body)

    # helpers

    async def _complete(self, parent: CarrierAccount, auth_id: str, token: str, name: str) -> SubAccount:
        """Returns the sub-account with its application, which is created unless an earlier attempt has done that."""
        own = replace(parent, config={"auth_id": auth_id, "auth_token": token})
        listed = [one async for one in self._list_entries(own, APPLICATIONS)]
        application_id = next((str(one.get("app_id")) for one in listed if one.get("app_name") == name), None)
        if application_id is None:
            made = await self._api.send_request(own, "POST", APPLICATIONS, {"app_name": name, "answer_method": "POST"})
            application_id = made.require_text("app_id")
        return SubAccount(auth_id, {"auth_id": auth_id, "auth_token": token, "application_id": application_id})

    async def _list_entries(self, account: CarrierAccount, path: str) -> AsyncIterator[dict[str, Any]]:
        """Yields the entries of a list, page after page. Raises CarrierFailed when it is unreadable or endless."""
        for page in range(_MAX_PAGES):
            params = {"limit": str(_PAGE), "offset": str(page * _PAGE)}
            entries = (await self._api.send_request(account, "GET", path, params=params)).json().get("objects")
            if not isinstance(entries, list):
                break
            for entry in entries:
                if isinstance(entry, dict):
                    yield entry
            if len(entries) < _PAGE:
                return
        raise CarrierFailed("carrier_cannot_say", "Plivo's list is incomplete.", retryable=True)


def _may_have(account: CarrierAccount, number: Mapping[str, Any]) -> bool:
    """Returns whether the number is the main account's or this sub-account's. Plivo names the owner by its path."""
    owner = str(number.get("sub_account") or "").rstrip("/").rpartition("/")[2]
    return owner in {"", require_setting(account, "auth_id")}


def _number_path(number: str) -> str:
    return f"/Number/{quote(strip_plus(number), safe='')}/"
