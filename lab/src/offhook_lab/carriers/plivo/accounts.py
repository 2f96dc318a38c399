"""Plivo's accounts: the one of the emulator, and its sub-accounts, which have numbers and applications of their own."""

import secrets
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from offhook_lab.carriers.core.callbacks import OutgoingCallback
from offhook_lab.carriers.core.plivo_like import PlivoLikeEmulator
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.core.sub_accounts import EmulatedSubAccount, SubAccountEmulator
from offhook_lab.carriers.plivo.signature import sign_v2, sign_v3

if TYPE_CHECKING:
    from offhook_lab.carriers.plivo.server import PlivoEmulator

_PAGE = 20


class PlivoAccounts(SubAccountEmulator, PlivoLikeEmulator):
    """The accounts of an emulated Plivo. Every account sees its own calls and applications only."""

    @property
    def account_reference(self) -> str:
        return self.auth_id

    def account_asking(self, request: RestRequest) -> str | None:
        auth_id, token = request.basic_credentials() or ("", "")
        return auth_id if token and token == self.token_of(auth_id) else None

    def credentials_of(self, sub_account: EmulatedSubAccount) -> dict[str, str]:
        path = self.path_of(sub_account.reference)
        found = next(name for name, one in self.applications.items() if one.get("sub_account") == path)
        return {"auth_id": sub_account.reference, "auth_token": sub_account.secret, "application_id": found}

    def token_of(self, auth_id: str) -> str | None:
        if auth_id == self.auth_id:
            return self.auth_token
        found = self.find_active(auth_id)
        return found.secret if found is not None else None

    def path_of(self, account: str | None) -> str | None:
        """Returns how resources name the sub-account that they belong to; None for the main account."""
        is_main = account in (None, self.auth_id)
        return None if is_main else f"{self.base}/{self.auth_id}/Subaccount/{account}/"

    def is_main(self, request: RestRequest) -> bool:
        return self.account_asking(request) == self.auth_id

    def applications_seen(self, request: RestRequest) -> dict[str, dict[str, Any]]:
        path = self.path_of(self.account_asking(request))
        return {name: one for name, one in self.applications.items() if one.get("sub_account") == path}

    def application_fields(self, request: RestRequest) -> dict[str, Any]:
        return {"sub_account": self.path_of(self.account_asking(request))}

    def sign_as(self, account: str, callback: OutgoingCallback, keys_of: str | None = None) -> Mapping[str, str]:
        """Signs with V3 over URL and parameters, and V2 over the URL, both also with the main account's token."""
        if callback.forgery == "unsigned":
            return {}
        signer = keys_of or account
        own = self.auth_token if signer == self.auth_id else self.sub_accounts[signer].secret
        nonce = str(secrets.randbelow(10**20))
        form = callback.form if callback.method == "POST" else ()
        headers = {"X-Plivo-Signature-V3-Nonce": nonce, "X-Plivo-Signature-V2-Nonce": nonce}
        for mark, token in (("", own), ("Ma-", self.auth_token)):
            used = secrets.token_hex(20) if callback.forgery == "forged" else token
            headers[f"X-Plivo-Signature-{mark}V3"] = sign_v3(used, callback.method, callback.url, nonce, form)
            headers[f"X-Plivo-Signature-{mark}V2"] = sign_v2(used, callback.url, nonce)
        return headers


def add_routes(server: "PlivoEmulator", base: str) -> None:
    routes = _SubAccountRoutes(server)
    server.add_route("GET", f"{base}/Subaccount/", routes.list_accounts)
    server.add_route("POST", f"{base}/Subaccount/", routes.create_account)
    server.add_route("GET", f"{base}/Subaccount/{{id}}/", routes.fetch_account)
    server.add_route("POST", f"{base}/Subaccount/{{id}}/", routes.update_account)
    server.add_route("DELETE", f"{base}/Subaccount/{{id}}/", routes.delete_account)


def list_page(request: RestRequest, entries: list[dict[str, Any]]) -> RestReply:
    """Returns one page of a list: at most twenty entries from the offset that is asked for."""
    limit = min(_PAGE, int((request.query.get("limit") or [str(_PAGE)])[0]))
    offset = int((request.query.get("offset") or ["0"])[0])
    meta = {"limit": limit, "offset": offset, "total_count": len(entries)}
    listed = entries[offset : offset + limit]
    return RestReply(200, {"api_id": str(uuid.uuid4()), "meta": meta, "objects": listed})


class _SubAccountRoutes:
    def __init__(self, server: "PlivoEmulator") -> None:
        self._server = server

    def _render(self, account: EmulatedSubAccount) -> dict[str, Any]:
        return {
            "account": f"{self._server.base}/{self._server.auth_id}/",
            "auth_id": account.reference,
            "auth_token": account.secret,
            "name": account.name,
            "enabled": account.status == "active",
            "created": "2026-11-27",
            "modified": None,
            "resource_uri": self._server.path_of(account.reference),
        }

    def _refusal(self, request: RestRequest) -> RestReply | None:
        """A sub-account has no sub-accounts."""
        if self._server.is_sub_account or not self._server.is_main(request):
            return self._server.failure_reply(403, "only a main account has subaccounts")
        return None

    def _find(self, request: RestRequest) -> EmulatedSubAccount | None:
        found = self._server.sub_accounts.get(request.parts["id"])
        return found if found is not None and found.status != "closed" else None

    async def list_accounts(self, request: RestRequest) -> RestReply:
        if refusal := self._refusal(request):
            return refusal
        kept = [one for one in self._server.sub_accounts.values() if one.status != "closed"]
        return list_page(request, [self._render(one) for one in kept])

    async def create_account(self, request: RestRequest) -> RestReply:
        if refusal := self._refusal(request):
            return refusal
        if self._server.refuses_sub_accounts:
            return self._server.failure_reply(403, "this account may not create subaccounts")
        name = request.json.get("name")
        if not name:
            return self._server.failure_reply(400, "name parameter not present")
        reference, secret = f"SA{secrets.token_hex(9).upper()}", secrets.token_hex(20)
        # a sub-account is disabled unless it is asked for otherwise
        status = "active" if request.json.get("enabled") is True else "suspended"
        self._server.sub_accounts[reference] = EmulatedSubAccount(reference, secret, str(name), status)
        body = {"auth_id": reference, "auth_token": secret, "message": "created"}
        return RestReply(201, {"api_id": str(uuid.uuid4()), **body})

    async def fetch_account(self, request: RestRequest) -> RestReply:
        found = self._find(request)
        if (refusal := self._refusal(request)) or found is None:
            return refusal or self._server.not_found_reply(request)
        return RestReply(200, {"api_id": str(uuid.uuid4()), **self._render(found)})

    async def update_account(self, request: RestRequest) -> RestReply:
        found = self._find(request)
        if (refusal := self._refusal(request)) or found is None:
            return refusal or self._server.not_found_reply(request)
        found.name = str(request.json.get("name") or found.name)
        found.status = "active" if request.json.get("enabled") is True else "suspended"
        return RestReply(202, {"api_id": str(uuid.uuid4()), "message": "changed"})

    async def delete_account(self, request: RestRequest) -> RestReply:
        """Deletes a sub-account. With ``cascade``, its numbers and applications go too; else the main account gets them."""
        found = self._find(request)
        if (refusal := self._refusal(request)) or found is None:
            return refusal or self._server.not_found_reply(request)
        path, applications = self._server.path_of(found.reference), self._server.applications
        for name in [name for name, one in applications.items() if one.get("sub_account") == path]:
            if request.json.get("cascade") is True:
                del applications[name]
            else:
                applications[name]["sub_account"] = None
        if request.json.get("cascade") is not True:
            for number in self._server.numbers.values():
                number.owner = "" if number.owner == found.reference else number.owner
        self._server.end_account(found)
        return RestReply(204)
