"""Vonage's accounts: the primary one, which is the emulator's, and its sub-accounts, with applications of their own.

The Subaccounts API is that of Vonage's OpenAPI document (1.0.3) with the limits of its Python SDK; the signature secret
in the answer to a creation with ``sensitive-data=true`` is from ``nexmo-se/vonage-subaccounts-proxy``.
"""

import hashlib
import json
import re
import secrets
import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from offhook.kit.clock import Clock
from offhook_lab.carriers.core.callbacks import OutgoingCallback
from offhook_lab.carriers.core.phones import Voice, hum_words
from offhook_lab.carriers.core.rest import RestReply, RestRequest
from offhook_lab.carriers.core.sub_accounts import EmulatedSubAccount, SubAccountEmulator
from offhook_lab.carriers.vonage.jwt import claims_of, sign_hs256
from offhook_lab.carriers.vonage.replies import problem_reply

if TYPE_CHECKING:
    from offhook_lab.carriers.vonage.server import VonageEmulator

# Requests that bear an application's token instead of key and secret.
_BY_TOKEN: Final = ("/v1/calls", "/identity-insights")
_SECRET: Final = re.compile(r"(?=.*[a-z])(?=.*[A-Z])(?=.*\d).{8,25}")
_MAX_NAME_LENGTH: Final = 80


class VonageAccounts(SubAccountEmulator):
    """The accounts of an emulated Vonage. Every account sees its own numbers, calls and applications only."""

    def __init__(self, *, clock: Clock | None = None, voice: Voice = hum_words) -> None:
        super().__init__(clock=clock, voice=voice)
        self.api_key, self.api_secret = secrets.token_hex(4), secrets.token_urlsafe(12)
        self.signature_secret = secrets.token_urlsafe(24)
        # whether creations return the signature secret
        self.tells_signature_secrets = True
        self.application_id = str(uuid.uuid4())
        self.key = new_key()
        self.applications: dict[str, dict[str, Any]] = {
            self.application_id: {"name": "Lab", "capabilities": {"voice": {"webhooks": {}, "signed_callbacks": True}}}
        }
        # of applications that were created: their keys, and the accounts that made them
        self.application_keys: dict[str, rsa.RSAPrivateKey] = {}
        self.owners: dict[str, str] = {}

    @property
    def credentials(self) -> dict[str, str]:
        return {
            "api_key": self.api_key,
            "api_secret": self.api_secret,
            "application_id": self.application_id,
            "private_key": private_pem(self.key),
            "signature_secret": self.signature_secret,
        }

    def credentials_of(self, sub_account: EmulatedSubAccount) -> dict[str, str]:
        application = self.application_of(sub_account.reference)
        return {
            "api_key": sub_account.reference,
            "api_secret": sub_account.secret,
            "application_id": application,
            "private_key": private_pem(self.application_keys[application]),
            "signature_secret": sub_account.keys["signature_secret"],
        }

    @property
    def account_reference(self) -> str:
        return self.api_key

    def account_asking(self, request: RestRequest) -> str | None:
        if request.path.startswith(_BY_TOKEN):
            claims = self.token_claims(request)
            owner = self.owner_of(str(claims["application_id"])) if claims is not None else None
            return owner if owner is not None and self.secret_of(owner) is not None else None
        in_request = (request.first_value("api_key") or "", request.first_value("api_secret") or "")
        key, secret = request.basic_credentials() or in_request
        return key if secret and secret == self.secret_of(key) else None

    def token_claims(self, request: RestRequest) -> dict[str, Any] | None:
        """Returns the claims of the request's token if the application that it names has signed it."""
        token = request.bearer_token() or ""
        for name, key in {self.application_id: self.key, **self.application_keys}.items():
            claims = claims_of(token, key.public_key())
            if claims is not None:
                return claims if claims.get("application_id") == name else None
        return None

    def secret_of(self, account: str) -> str | None:
        """Returns the API secret of an account that is not suspended."""
        if account == self.api_key:
            return self.api_secret
        found = self.find_active(account)
        return found.secret if found is not None else None

    def owner_of(self, application: str) -> str:
        return self.owners.get(application, self.api_key)

    def application_of(self, account: str) -> str:
        """Returns the account's first application."""
        if account == self.api_key:
            return self.application_id
        return next(name for name in self.applications if self.owner_of(name) == account)

    def is_seen(self, request: RestRequest, application: str | None) -> bool:
        """Returns whether the account that asks has an application of this id."""
        return application in self.applications and self.owner_of(str(application)) == self.account_asking(request)

    def sign_as(self, account: str, callback: OutgoingCallback, keys_of: str | None = None) -> Mapping[str, str]:
        """Returns a token over the hash of the payload: the body, or a GET's parameters as JSON in their order."""
        application = self.application_of(account)
        voice = self.applications[application].get("capabilities", {}).get("voice", {})
        if callback.forgery == "unsigned" or not voice.get("signed_callbacks", True):
            return {}
        payload = callback.body
        if callback.method == "GET":
            pairs = parse_qsl(urlsplit(callback.url).query, keep_blank_values=True)
            payload = json.dumps(dict(pairs), separators=(",", ":")).encode()
        claims = {
            "iat": int(self.now().timestamp()),
            "jti": str(uuid.uuid4()),
            "iss": "Vonage",
            "payload_hash": hashlib.sha256(payload).hexdigest(),
            "api_key": account,
            "application_id": application,
        }
        signer = keys_of or account
        is_own = signer == self.api_key
        secret = self.signature_secret if is_own else str(self.sub_accounts[signer].keys["signature_secret"])
        used = secrets.token_urlsafe(24) if callback.forgery == "forged" else secret
        return {"Authorization": f"Bearer {sign_hs256(claims, used)}"}


def new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def private_pem(key: rsa.RSAPrivateKey) -> str:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


def add_routes(server: "VonageEmulator") -> None:
    routes = _SubAccountRoutes(server)
    server.add_route("GET", "/accounts/{account}/subaccounts", routes.list_accounts)
    server.add_route("POST", "/accounts/{account}/subaccounts", routes.create_account)
    server.add_route("GET", "/accounts/{account}/subaccounts/{id}", routes.fetch_account)
    server.add_route("PATCH", "/accounts/{account}/subaccounts/{id}", routes.modify_account)


class _SubAccountRoutes:
    def __init__(self, server: "VonageEmulator") -> None:
        self._server = server

    def _render(self, account: EmulatedSubAccount) -> dict[str, Any]:
        return {
            "api_key": account.reference,
            "primary_account_api_key": self._server.api_key,
            "use_primary_account_balance": account.keys["shares_balance"],
            "name": account.name,
            "balance": None if account.keys["shares_balance"] else 0.0,
            "credit_limit": None if account.keys["shares_balance"] else 0.0,
            "suspended": account.status != "active",
            "created_at": account.keys["created_at"],
        }

    def _refusal(self, request: RestRequest) -> RestReply | None:
        """Only accounts that Vonage has enabled have sub-accounts, and only one level of them."""
        asking = self._server.account_asking(request)
        if request.parts["account"] != asking:
            return problem_reply(404, reason=f"API key '{request.parts['account']}' does not exist.")
        if self._server.is_sub_account or asking != self._server.api_key:
            reason = f"Account {asking} is not provisioned to access Subaccount Provisioning API"
            return problem_reply(403, reason=reason)
        return None

    async def list_accounts(self, request: RestRequest) -> RestReply:
        """Lists all of them in one answer, suspended ones included, without their secrets."""
        if refusal := self._refusal(request):
            return refusal
        listed = [self._render(one) for one in self._server.sub_accounts.values()]
        own = {
            "api_key": self._server.api_key,
            "name": "Lab",
            "balance": 100.0,
            "credit_limit": 0.0,
            "suspended": False,
        }
        totals = {"total_balance": 100.0, "total_credit_limit": 0.0}
        return RestReply(200, {**totals, "_embedded": {"primary_account": own, "subaccounts": listed}})

    async def create_account(self, request: RestRequest) -> RestReply:
        if refusal := self._refusal(request):
            return refusal
        if self._server.refuses_sub_accounts:
            return problem_reply(403, reason="This account may not create subaccounts.")
        name, secret = request.json.get("name"), request.json.get("secret") or f"{secrets.token_hex(10)}aA1"
        if not isinstance(name, str) or not 1 <= len(name) <= _MAX_NAME_LENGTH:
            return problem_reply(422, "name", "Should have 1 to 80 characters")
        if not isinstance(secret, str) or not _SECRET.fullmatch(secret):
            return problem_reply(422, "secret", "Does not meet complexity requirements")
        keys = {
            "signature_secret": secrets.token_urlsafe(24),
            "shares_balance": request.json.get("use_primary_account_balance") is not False,
            "created_at": self._server.now().isoformat(),
        }
        made = EmulatedSubAccount(secrets.token_hex(4), secret, name, keys=keys)
        self._server.sub_accounts[made.reference] = made
        body = {**self._render(made), "secret": secret}
        if self._server.tells_signature_secrets and request.query.get("sensitive-data") == ["true"]:
            body["signature_secret"] = keys["signature_secret"]
        return RestReply(200, body)

    async def fetch_account(self, request: RestRequest) -> RestReply:
        found = self._server.sub_accounts.get(request.parts["id"])
        if (refusal := self._refusal(request)) or found is None:
            return refusal or self._server.not_found_reply(request)
        return RestReply(200, self._render(found))

    async def modify_account(self, request: RestRequest) -> RestReply:
        """Suspends a sub-account or lets it go on; there is no deletion."""
        found = self._server.sub_accounts.get(request.parts["id"])
        if (refusal := self._refusal(request)) or found is None:
            return refusal or self._server.not_found_reply(request)
        suspended = request.json.get("suspended")
        if suspended is not None and not isinstance(suspended, bool):
            return problem_reply(422, "suspended", "Should be either 'true' or 'false'")
        if suspended is not None:
            found.status = "suspended" if suspended else "active"
        found.name = str(request.json.get("name") or found.name)
        return RestReply(200, self._render(found))
