"""Twilio's accounts: the one of the emulator, and its sub-accounts."""

import secrets
from collections.abc import Mapping
from typing import Any

from offhook.kit.clock import Clock
from offhook_lab.carriers.core.callbacks import OutgoingCallback
from offhook_lab.carriers.core.calls import EmulatedCall
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.core.sub_accounts import EmulatedSubAccount, SubAccountEmulator
from offhook_lab.carriers.twilio.signature import compute_signature

# Twilio documents 64 characters for a friendly name.
NAME_CHARS = 64
# The owner of an emulated account that is itself a sub-account.
_PARENT = "AC" + "9" * 32


class TwilioAccounts(SubAccountEmulator):
    """The accounts of an emulated Twilio."""

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        self.account_sid = f"AC{secrets.token_hex(16)}"
        self.auth_token = secrets.token_hex(16)

    @property
    def account_reference(self) -> str:
        return self.account_sid

    def account_asking(self, request: RestRequest) -> str | None:
        sid, token = request.basic_credentials() or ("", "")
        return sid if token and token == self.token_of(sid) else None

    def credentials_of(self, sub_account: EmulatedSubAccount) -> dict[str, str]:
        return {"account_sid": sub_account.reference, "auth_token": sub_account.secret}

    def token_of(self, sid: str) -> str | None:
        """Returns the auth token of the account or of an active sub-account."""
        if sid == self.account_sid:
            return self.auth_token
        found = self.find_active(sid)
        return found.secret if found is not None else None

    def calls_in(self, request: RestRequest) -> list[EmulatedCall]:
        """Returns the calls of the account that the request's path names."""
        return [call for call in self.calls if self.account_of_call(call) == request.parts["account"]]

    def find_call_in(self, request: RestRequest) -> EmulatedCall | None:
        return next((call for call in self.calls_in(request) if call.id == request.parts["sid"]), None)

    def sign_as(self, account: str, callback: OutgoingCallback, keys_of: str | None = None) -> Mapping[str, str]:
        headers = {"I-Twilio-Idempotency-Token": secrets.token_hex(16)}
        if callback.forgery == "unsigned":
            return headers
        signer = keys_of or account
        own = self.auth_token if signer == self.account_sid else self.sub_accounts[signer].secret
        token = secrets.token_hex(16) if callback.forgery == "forged" else own
        form = () if callback.method == "GET" else callback.form
        return {**headers, "X-Twilio-Signature": compute_signature(token, callback.url, form)}


def account_in_path(path: str) -> str:
    """Returns the account that a request's path names; empty for the list of accounts and for other interfaces."""
    return path.partition("/Accounts/")[2].partition("/")[0].removesuffix(".json")


def add_routes(server: TwilioAccounts, base: str) -> None:
    """Serves the accounts below ``base``."""
    routes = _AccountRoutes(server)
    server.add_route("GET", f"{base}/Accounts.json", routes.list_accounts)
    server.add_route("POST", f"{base}/Accounts.json", routes.create_account)
    server.add_route("GET", f"{base}/Accounts/{{account}}.json", routes.fetch_account)
    server.add_route("POST", f"{base}/Accounts/{{account}}.json", routes.update_account)


class _AccountRoutes:
    def __init__(self, server: TwilioAccounts) -> None:
        self._server = server

    def _render(self, sid: str) -> dict[str, Any]:
        own = EmulatedSubAccount(self._server.account_sid, self._server.auth_token, "Lab")
        found = self._server.sub_accounts.get(sid, own)
        return {
            "sid": found.reference,
            "owner_account_sid": _PARENT if found is own and self._server.is_sub_account else self._server.account_sid,
            "friendly_name": found.name,
            "status": found.status,
            "type": "Full",
            "auth_token": found.secret,
        }

    async def list_accounts(self, request: RestRequest) -> RestReply:
        """Lists newest first. Friendly names have to match exactly."""
        asked_by = (request.basic_credentials() or ("", ""))[0]
        seen = [asked_by]
        if asked_by == self._server.account_sid:
            seen = [*reversed(self._server.sub_accounts), asked_by]
        wanted = {name: request.query[name][0] for name in ("FriendlyName", "Status") if name in request.query}
        rendered = [self._render(sid) for sid in seen]
        found = [
            one
            for one in rendered
            if wanted.get("FriendlyName", one["friendly_name"]) == one["friendly_name"]
            and wanted.get("Status", one["status"]) == one["status"]
        ]
        return RestReply(200, {"accounts": found, "page": 0, "page_size": 50})

    async def create_account(self, request: RestRequest) -> RestReply:
        name = request.first_value("FriendlyName") or "SubAccount Created"
        if len(name) > NAME_CHARS:
            return _refusal(400, 20001, "FriendlyName is too long")
        is_child = (request.basic_credentials() or ("", ""))[0] != self._server.account_sid
        if is_child or self._server.refuses_sub_accounts:
            return _refusal(403, 20403, "This account may not create sub-accounts")
        sid = f"AC{secrets.token_hex(16)}"
        self._server.sub_accounts[sid] = EmulatedSubAccount(sid, secrets.token_hex(16), name)
        return RestReply(201, self._render(sid))

    async def fetch_account(self, request: RestRequest) -> RestReply:
        return RestReply(200, self._render(request.parts["account"]))

    async def update_account(self, request: RestRequest) -> RestReply:
        """Renames, suspends or closes a sub-account. A closed one loses its numbers and calls and stays closed."""
        found = self._server.sub_accounts.get(request.parts["account"])
        status = request.first_value("Status")
        if found is None or (found.status == "closed" and status != "closed"):
            return self._server.not_found_reply(request)
        found.name = request.first_value("FriendlyName") or found.name
        if status == "closed":
            self._server.end_account(found)
        found.status = status or found.status
        return RestReply(200, self._render(found.reference))


def _refusal(status: int, code: int, message: str) -> RestReply:
    more = f"https://www.twilio.com/docs/errors/{code}"
    return RestReply(status, {"code": code, "message": message, "more_info": more, "status": status})
