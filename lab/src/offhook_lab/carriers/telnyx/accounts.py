"""Telnyx's accounts: the one of the emulator, and its managed accounts, with keys, applications and profiles of their
own."""

import base64
import json
import secrets
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from offhook.kit.clock import Clock
from offhook_lab.carriers.core.callbacks import OutgoingCallback
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.core.sub_accounts import EmulatedSubAccount, SubAccountEmulator
from offhook_lab.carriers.telnyx.replies import failure_reply, ok_reply

if TYPE_CHECKING:
    from offhook_lab.carriers.telnyx.server import TelnyxEmulator


class TelnyxAccounts(SubAccountEmulator):
    """The accounts of an emulated Telnyx. Every account sees its own calls, applications and profiles only."""

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        self.api_key = f"KEY{secrets.token_hex(16).upper()}_lab"
        self.key = Ed25519PrivateKey.generate()
        self.user_id = str(uuid.uuid4())
        self.connection_id = str(secrets.randbelow(9 * 10**18) + 10**18)
        self.applications: dict[str, dict[str, Any]] = {
            self.connection_id: {"application_name": "Lab", "webhook_event_url": ""}
        }
        self.voice_profiles: dict[str, dict[str, Any]] = {}
        # of applications and profiles: the account that made them
        self.owners: dict[str, str] = {}

    @property
    def account_reference(self) -> str:
        return self.user_id

    def account_asking(self, request: RestRequest) -> str | None:
        token = request.bearer_token()
        if token == self.api_key:
            return self.user_id
        active = (one for one in self.sub_accounts.values() if one.status == "active")
        return next((one.reference for one in active if one.secret == token), None)

    def credentials_of(self, sub_account: EmulatedSubAccount) -> dict[str, str]:
        connection = next(name for name in self.applications if self.owner_of(name) == sub_account.reference)
        public = public_key(self.key_of(sub_account.reference))
        return {"api_key": sub_account.secret, "connection_id": connection, "webhook_public_key": public}

    def key_of(self, account: str) -> Ed25519PrivateKey:
        found: Ed25519PrivateKey = (
            self.key if account == self.user_id else self.sub_accounts[account].keys["signing_key"]
        )
        return found

    def owner_of(self, name: str) -> str:
        """Returns the account that has the application or profile."""
        return self.owners.get(name, self.user_id)

    def is_seen(self, request: RestRequest, name: object) -> bool:
        """Returns whether the account that asks has an application or profile of this id."""
        is_there = name in self.applications or name in self.voice_profiles
        return is_there and self.owner_of(str(name)) == self.account_asking(request)

    def may_dial_with(self, connection: str) -> bool:
        """Returns whether the application has a profile for calls. The emulator's own account needs none."""
        profile = (self.applications[connection].get("outbound") or {}).get("outbound_voice_profile_id")
        owner = self.owner_of(connection)
        return owner == self.user_id or (profile in self.voice_profiles and self.owner_of(str(profile)) == owner)

    def sign_as(self, account: str, callback: OutgoingCallback, keys_of: str | None = None) -> Mapping[str, str]:
        """Signs with Ed25519 over the time and the raw body, which contains the attempt's number."""
        if callback.method == "GET":
            return {}
        if callback.attempt > 1:
            body = callback.json
            body["meta"]["attempt"] = callback.attempt
            callback.body = json.dumps(body).encode()
        if callback.forgery == "unsigned":
            return {}
        key = Ed25519PrivateKey.generate() if callback.forgery == "forged" else self.key_of(keys_of or account)
        at = str(int(self.now().timestamp()))
        signed = key.sign(f"{at}|".encode() + callback.body)
        return {"telnyx-signature-ed25519": base64.b64encode(signed).decode(), "telnyx-timestamp": at}


def public_key(key: Ed25519PrivateKey) -> str:
    """Returns the key as the portal shows it: base64 of 32 bytes."""
    return base64.b64encode(key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)).decode()


def add_routes(server: "TelnyxEmulator") -> None:
    routes = _AccountRoutes(server)
    server.add_route("GET", "/v2/public_key", routes.get_public_key)
    server.add_route("GET", "/v2/managed_accounts", routes.list_accounts)
    server.add_route("POST", "/v2/managed_accounts", routes.create_account)
    server.add_route("GET", "/v2/managed_accounts/{id}", routes.fetch_account)
    server.add_route("POST", "/v2/managed_accounts/{id}/actions/disable", routes.disable_account)
    server.add_route("GET", "/v2/outbound_voice_profiles", routes.list_profiles)
    server.add_route("POST", "/v2/outbound_voice_profiles", routes.create_profile)
    server.add_route("GET", "/v2/outbound_voice_profiles/{id}", routes.fetch_profile)


class _AccountRoutes:
    def __init__(self, server: "TelnyxEmulator") -> None:
        self._server = server

    async def get_public_key(self, request: RestRequest) -> RestReply:
        account = self._server.account_asking(request) or ""
        return ok_reply(
            public=public_key(self._server.key_of(account)), record_type="public_key", organization_id=account
        )

    def _render(self, account: EmulatedSubAccount) -> dict[str, Any]:
        return {
            "record_type": "managed_account",
            "id": account.reference,
            "email": f"{account.reference}@managed.example",
            "manager_account_id": self._server.user_id,
            "organization_name": account.name,
            "rollup_billing": account.keys["rollup_billing"],
            "created_at": account.keys["created_at"],
        }

    def _refusal(self, request: RestRequest) -> RestReply | None:
        """Only accounts that Telnyx has approved are managers."""
        if self._server.is_sub_account or self._server.account_asking(request) != self._server.user_id:
            return failure_reply(403, "10010", "Authorization failed", "You are not a manager account.")
        return None

    async def list_accounts(self, request: RestRequest) -> RestReply:
        """Lists without keys, which only the single resource has."""
        if refusal := self._refusal(request):
            return refusal
        name = (request.query.get("filter[organization_name][eq]") or [""])[0]
        found = [self._render(one) for one in self._server.sub_accounts.values() if name in ("", one.name)]
        return RestReply(200, {"data": found, "meta": {"total_results": len(found), "total_pages": 1}})

    async def create_account(self, request: RestRequest) -> RestReply:
        if refusal := self._refusal(request):
            return refusal
        if self._server.refuses_sub_accounts:
            return failure_reply(403, "10010", "Authorization failed", "You may not create managed accounts.")
        name = request.json.get("business_name")
        if not name:
            return failure_reply(422, "10004", "Missing required parameter", "It is required.", "/business_name")
        reference, secret = str(uuid.uuid4()), f"KEY{secrets.token_hex(16).upper()}_sub"
        keys = {
            "signing_key": Ed25519PrivateKey.generate(),
            "rollup_billing": request.json.get("rollup_billing") is True,
            "created_at": self._server.now().isoformat(),
        }
        made = self._server.sub_accounts[reference] = EmulatedSubAccount(reference, secret, str(name), keys=keys)
        return ok_reply(**self._render(made), api_key=secret)

    async def fetch_account(self, request: RestRequest) -> RestReply:
        found = self._server.sub_accounts.get(request.parts["id"])
        if (refusal := self._refusal(request)) or found is None:
            return refusal or self._server.not_found_reply(request)
        return ok_reply(**self._render(found), api_key=found.secret)

    async def disable_account(self, request: RestRequest) -> RestReply:
        found = self._server.sub_accounts.get(request.parts["id"])
        if (refusal := self._refusal(request)) or found is None:
            return refusal or self._server.not_found_reply(request)
        self._server.end_account(found)
        return ok_reply(**self._render(found))

    async def list_profiles(self, request: RestRequest) -> RestReply:
        seen = [name for name in self._server.voice_profiles if self._server.is_seen(request, name)]
        return RestReply(200, {"data": [{"id": name, **self._server.voice_profiles[name]} for name in seen]})

    async def create_profile(self, request: RestRequest) -> RestReply:
        if not request.json.get("name"):
            return failure_reply(422, "10004", "Missing required parameter", "name is required.", "/name")
        name = self._server.new_id("number")
        self._server.voice_profiles[name] = dict(request.json)
        self._server.owners[name] = self._server.account_asking(request) or ""
        return ok_reply(id=name, record_type="outbound_voice_profile", **request.json)

    async def fetch_profile(self, request: RestRequest) -> RestReply:
        name = request.parts["id"]
        if not self._server.is_seen(request, name):
            return self._server.not_found_reply(request)
        return ok_reply(id=name, record_type="outbound_voice_profile", **self._server.voice_profiles[name])
