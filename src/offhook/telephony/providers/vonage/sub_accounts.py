"""Vonage's sub-accounts: an API key, a secret, an application and a signature secret of their own, on the balance of the
primary account.

Requests and answers are those of Vonage's OpenAPI document of the Subaccounts API (1.0.3) and of its Python SDK
(``vonage-subaccounts``). Neither has the signature secret. That the answer to a creation with ``sensitive-data=true``
contains it is taken from ``nexmo-se/vonage-subaccounts-proxy``, which Vonage's solution engineers publish; an account
that does not get it cannot have sub-accounts here. No later request returns it, nor the secret or the private key.
"""

import secrets
import string
from dataclasses import replace
from typing import Any, Final
from urllib.parse import quote

from offhook.telephony.carrier_kit.http import CarrierHttp, CarrierResponse
from offhook.telephony.ports import CarrierAccount, CarrierFailed, SubAccount
from offhook.telephony.providers.vonage.api import VonageApi

# Vonage takes 8 to 25 characters with a lower-case letter, a capital and a digit.
_DRAWN_LETTERS: Final = 22
_EACH_KIND: Final = "aA1"


class VonageSubAccounts:
    """Implements ``SubAccountManager``. The keys are known only to the attempt that created them, so that a sub-account
    whose creation was interrupted is found without them. Vonage deletes none: closed ones are suspended."""

    def __init__(self, http: CarrierHttp) -> None:
        self._api = VonageApi(http)

    async def check_parent(self, parent: CarrierAccount) -> None:
        """Only accounts that Vonage has enabled for them can have sub-accounts, and a sub-account cannot."""
        await self._list_accounts(parent)

    async def find_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount | None:
        found = [one for one in await self._list_accounts(parent) if one.get("name") == name and one.get("api_key")]
        return next((SubAccount(str(one["api_key"]), {}) for one in found if not one.get("suspended")), None)

    async def create_sub_account(self, parent: CarrierAccount, name: str) -> SubAccount:
        body = {"name": name, "secret": _new_secret(), "use_primary_account_balance": True}
        made = await self._api.request_sub_accounts(parent, "POST", "", body, params={"sensitive-data": "true"})
        key = made.require_text("api_key")
        try:
            return await self._complete(parent, made, name)
        except CarrierFailed as failure:
            await self.close_sub_account(parent, key)
            raise CarrierFailed(failure.code, failure.message, retryable=failure.retryable) from failure

    async def close_sub_account(self, parent: CarrierAccount, reference: str) -> None:
        """Suspends it: its key and secret authorize nothing any more."""
        path = f"/{quote(reference, safe='')}"
        await self._api.request_sub_accounts(parent, "PATCH", path, {"suspended": True}, may_be_gone=True)

    # helpers

    async def _complete(self, parent: CarrierAccount, made: CarrierResponse, name: str) -> SubAccount:
        """Returns the new sub-account with its application, whose key pair Vonage creates. Its events go where those of
        the primary account's application go, until a number is routed."""
        if not made.json().get("signature_secret"):
            message = "Vonage does not return the signature secrets of this account's sub-accounts."
            raise CarrierFailed("carrier_refused", message, retryable=False)
        key, secret = made.require_text("api_key"), made.require_text("secret")
        own = replace(parent, config={"api_key": key, "api_secret": secret})
        model = (await self._api.request_application(parent)).json().get("capabilities")
        voice = model.get("voice") if isinstance(model, dict) else None
        capabilities = {"voice": {**(voice if isinstance(voice, dict) else {}), "signed_callbacks": True}}
        application = await self._api.create_application(own, {"name": name, "capabilities": capabilities})
        fields = {
            "api_key": key,
            "api_secret": secret,
            "application_id": application.require_text("id"),
            "private_key": application.require_text("keys", "private_key"),
            "signature_secret": made.require_text("signature_secret"),
        }
        return SubAccount(key, fields)

    async def _list_accounts(self, parent: CarrierAccount) -> list[dict[str, Any]]:
        """Returns all sub-accounts: Vonage's list has no pages. Raises CarrierFailed when it is unreadable."""
        embedded = (await self._api.request_sub_accounts(parent, "GET")).json().get("_embedded")
        listed = embedded.get("subaccounts") if isinstance(embedded, dict) else None
        if not isinstance(listed, list):
            raise CarrierFailed("carrier_cannot_say", "Vonage's answer has no sub-accounts.", retryable=True)
        return [one for one in listed if isinstance(one, dict)]


def _new_secret() -> str:
    drawn = (secrets.choice(string.ascii_letters + string.digits) for _ in range(_DRAWN_LETTERS))
    return "".join(drawn) + _EACH_KIND
