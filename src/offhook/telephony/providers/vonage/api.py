"""Vonage's REST interfaces: calls and look-ups use a token signed by the application's key; numbers and applications
use key and secret."""

import time
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import jwt
from cryptography.exceptions import InternalError, UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from offhook.telephony.carrier_kit.http import (
    CarrierHttp,
    CarrierRequest,
    CarrierResponse,
    failure_from_response,
    require_setting,
)
from offhook.telephony.ports import CarrierAccount, CarrierFailed

NAME: Final = "vonage"
GONE: Final = 404
_PAGE: Final = 100
_MAX_PAGES: Final = 20
TOKEN_TTL_S: Final = 300
MAX_KEY_BITS: Final = 4096
# One of 4,096 bits has 3,300.
MAX_KEY_CHARS: Final = 4000
_VOICE: Final = "https://api.nexmo.com/v1/calls"
_APPLICATIONS: Final = "https://api.nexmo.com/v2/applications"
_ACCOUNTS: Final = "https://api.nexmo.com/accounts"
_NUMBERS: Final = "https://rest.nexmo.com"
_INSIGHTS: Final = "https://api-eu.vonage.com/identity-insights/v1/requests"


def application_token(account: CarrierAccount, now_s: float) -> str:
    """Returns an RS256 token; its ``jti`` must never repeat. Raises CarrierFailed when the key is invalid."""
    claims = {
        "application_id": require_setting(account, "application_id"),
        "iat": int(now_s),
        "exp": int(now_s) + TOKEN_TTL_S,
        "jti": str(uuid4()),
    }
    try:
        return jwt.encode(claims, _load_key(require_setting(account, "private_key")), algorithm="RS256")
    except (jwt.PyJWTError, ValueError, TypeError, InternalError, UnsupportedAlgorithm):
        raise CarrierFailed(
            "carrier_misconfigured",
            "The Vonage application's private key is not an RSA key in PEM format of at most 4,096 bits.",
            retryable=False,
        ) from None


def _load_key(pem: str) -> RSAPrivateKey:
    """Loads a key as it is; Vonage notices one that is wrong. Whether its factors are primes takes seconds to find out, in
    which nothing else runs. Raises ValueError and what the library raises."""
    if len(pem) > MAX_KEY_CHARS:
        raise ValueError("The key is too long.")
    key = load_pem_private_key(pem.encode(), None, unsafe_skip_rsa_key_validation=True)
    if not isinstance(key, RSAPrivateKey) or key.key_size > MAX_KEY_BITS:
        raise ValueError("The key is not an RSA key, or too long.")
    return key


class VonageApi:
    def __init__(self, http: CarrierHttp) -> None:
        self._http = http

    async def request_call(
        self, account: CarrierAccount, method: str, call_id: str, body: Mapping[str, Any], *, may_be_gone: bool = False
    ) -> CarrierResponse:
        """Sends a call request; ``call_id`` is empty for a new call. Raises CarrierFailed."""
        url = f"{_VOICE}/{quote(call_id, safe='')}" if call_id else _VOICE
        return await self._send_checked(self._signed_request(account, method, url, body), may_be_gone=may_be_gone)

    async def list_calls(self, account: CarrierAccount, params: Mapping[str, str]) -> list[dict[str, Any]]:
        """Returns the records of calls, live ones included. Raises CarrierFailed, also when they are unreadable or
        endless."""
        calls: list[dict[str, Any]] = []
        for _ in range(_MAX_PAGES):
            page = {**params, "page_size": str(_PAGE), "record_index": str(len(calls))}
            body = (await self._send_checked(self._signed_request(account, "GET", _VOICE, None, page))).json()
            embedded = body.get("_embedded")
            found = embedded.get("calls") if isinstance(embedded, dict) else None
            if not isinstance(found, list):
                break
            calls += [call for call in found if isinstance(call, dict)]
            if len(found) < _PAGE:
                return calls
        raise CarrierFailed("carrier_cannot_say", "Vonage's list of calls is incomplete.", retryable=True)

    async def request_insights(self, account: CarrierAccount, number: str) -> dict[str, Any]:
        body = {
            "phone_number": number.removeprefix("+"),
            "purpose": "FraudPreventionAndDetection",
            "insights": {"format": {}, "current_carrier": {}},
        }
        found = (
            (await self._send_checked(self._signed_request(account, "POST", _INSIGHTS, body))).json().get("insights")
        )
        return found if isinstance(found, dict) else {}

    async def request_application(
        self, account: CarrierAccount, method: str = "GET", body: Mapping[str, Any] | None = None
    ) -> CarrierResponse:
        """Reads the account's application, or replaces it as a whole. A 404 is a valid response."""
        url = f"{_APPLICATIONS}/{quote(require_setting(account, 'application_id'), safe='')}"
        request = CarrierRequest(method, self._http.resolve_url(NAME, url), auth=_basic_auth(account), body=body)
        return await self._send_checked(request, may_be_gone=True)

    async def create_application(self, account: CarrierAccount, body: Mapping[str, Any]) -> CarrierResponse:
        """Creates an application of the account; the answer has the private key that Vonage made for it."""
        url = self._http.resolve_url(NAME, _APPLICATIONS)
        return await self._send_checked(CarrierRequest("POST", url, auth=_basic_auth(account), body=body))

    async def request_sub_accounts(
        self,
        parent: CarrierAccount,
        method: str,
        path: str = "",
        body: Mapping[str, Any] | None = None,
        *,
        params: Mapping[str, str] | None = None,
        may_be_gone: bool = False,
    ) -> CarrierResponse:
        """Sends a request of the Subaccounts API; ``path`` follows the list's. Raises CarrierFailed."""
        own = quote(require_setting(parent, "api_key"), safe="")
        url = self._http.resolve_url(NAME, f"{_ACCOUNTS}/{own}/subaccounts{path}")
        request = CarrierRequest(method, url, auth=_basic_auth(parent), params=params or {}, body=body)
        return await self._send_checked(request, may_be_gone=may_be_gone)

    async def request_numbers(
        self,
        account: CarrierAccount,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        form: Mapping[str, str | list[str]] | None = None,
    ) -> dict[str, Any]:
        url = self._http.resolve_url(NAME, f"{_NUMBERS}{path}")
        request = CarrierRequest(method, url, auth=_basic_auth(account), params=params or {}, form=form)
        return (await self._send_checked(request)).json()

    def _signed_request(
        self,
        account: CarrierAccount,
        method: str,
        url: str,
        body: Mapping[str, Any] | None,
        params: Mapping[str, str] | None = None,
    ) -> CarrierRequest:
        headers = {"authorization": f"Bearer {application_token(account, time.time())}"}
        return CarrierRequest(
            method, self._http.resolve_url(NAME, url), headers=headers, params=params or {}, body=body
        )

    async def _send_checked(self, request: CarrierRequest, *, may_be_gone: bool = False) -> CarrierResponse:
        answer = await self._http.send(request)
        if answer.is_success or (may_be_gone and answer.status == GONE):
            return answer
        error_body = answer.json()
        names = ("detail", "title", "error_title", "error-code-label")
        found = next((error_body[name] for name in names if isinstance(error_body.get(name), str)), None)
        message = found or f"HTTP {answer.status}"
        raise failure_from_response(request, answer, f"Vonage: {message}", code=_error_code(answer.status, error_body))


def _basic_auth(account: CarrierAccount) -> tuple[str, str]:
    return require_setting(account, "api_key"), require_setting(account, "api_secret")


def _error_code(status: int, error_body: Mapping[str, Any]) -> str | None:
    """Returns our code for an error. For a refused call, Vonage names the invalid fields."""
    if status != 400:
        return None
    wrong = error_body.get("invalid_parameters")
    text = str(wrong if isinstance(wrong, list | dict) else error_body.get("detail", "")).lower()
    if "from" in text:
        return "invalid_caller_id"
    return "invalid_number" if "number" in text or "'to" in text else None
