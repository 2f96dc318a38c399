"""Requests to an identity provider: what it publishes about itself, its keys, and the exchange of a code for an ID token.

Its addresses come from strangers, so they go through :class:`EgressClient`, without redirects.
"""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode, urlsplit

from offhook.kit.egress import EgressClient, EgressError, EgressResponse
from offhook.orgs.identity_provider.errors import IdentityProviderUnusable, IssuerInvalid

PROVIDER_TIMEOUT_S: Final = 8.0
MAX_PROVIDER_BYTES: Final = 256_000
MAX_URL_CHARS: Final = 1000
_DISCOVERY_PATH: Final = "/.well-known/openid-configuration"
# What never leaves this machine needs no TLS; the guard refuses it anyway unless the operator allows it.
_LOOPBACK_HOSTS: Final = frozenset({"localhost", "127.0.0.1", "::1"})


@dataclass(frozen=True, slots=True)
class ProviderMetadata:
    """What a provider publishes about itself. ``names_issuer``: it says in each answer who it is (RFC 9207)."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    posts_secret: bool
    names_issuer: bool


@dataclass(frozen=True, slots=True)
class CodeExchange:
    """A code that the browser brought back, and what proves that it is ours to redeem."""

    client_id: str
    client_secret: str | None
    code: str
    verifier: str
    redirect_uri: str


def check_issuer(issuer: str) -> str:
    """Returns the issuer as it was given; raises ``IssuerInvalid`` (422)."""
    try:
        parts = urlsplit(issuer)
        is_plain = not (parts.query or parts.fragment or parts.username or parts.password)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK_HOSTS)
    except ValueError:
        raise IssuerInvalid(field="issuer") from None
    if not (is_plain and is_safe and parts.hostname and issuer.isascii() and issuer.isprintable()):
        raise IssuerInvalid(field="issuer")
    return issuer


class ProviderHttp:
    """Speaks with identity providers. Nothing is cached: a key that the provider withdrew fails with the next sign-in."""

    def __init__(self, egress: EgressClient) -> None:
        self._egress = egress

    async def fetch_metadata(self, issuer: str) -> ProviderMetadata:
        """Reads the provider's discovery document; raises ``IdentityProviderUnusable`` (422)."""
        document = await self._get_json(issuer.rstrip("/") + _DISCOVERY_PATH)
        if document.get("issuer") != issuer:
            # Otherwise one provider could speak for another one.
            raise IdentityProviderUnusable(
                f"The identity provider calls itself {str(document.get('issuer'))[:200]!r}. Enter exactly this as the issuer."
            )
        methods = document.get("token_endpoint_auth_methods_supported")
        return ProviderMetadata(
            issuer=issuer,
            authorization_endpoint=_read_address(document, "authorization_endpoint"),
            token_endpoint=_read_address(document, "token_endpoint"),
            jwks_uri=_read_address(document, "jwks_uri"),
            posts_secret=isinstance(methods, list) and "client_secret_basic" not in methods,
            names_issuer=document.get("authorization_response_iss_parameter_supported") is True,
        )

    async def fetch_keys(self, metadata: ProviderMetadata) -> dict[str, Any]:
        """Returns the provider's JWK set; raises ``IdentityProviderUnusable`` (422)."""
        return await self._get_json(metadata.jwks_uri)

    async def redeem_code(self, metadata: ProviderMetadata, exchange: CodeExchange) -> str:
        """Exchanges a code for its ID token; raises ``IdentityProviderUnusable`` (422)."""
        form = {
            "grant_type": "authorization_code",
            "code": exchange.code,
            "redirect_uri": exchange.redirect_uri,
            "code_verifier": exchange.verifier,
        }
        headers = {"content-type": "application/x-www-form-urlencoded", "accept": "application/json"}
        if exchange.client_secret is None or metadata.posts_secret:
            form["client_id"] = exchange.client_id
            if exchange.client_secret is not None:
                form["client_secret"] = exchange.client_secret
        else:
            pair = f"{quote(exchange.client_id, safe='')}:{quote(exchange.client_secret, safe='')}"
            headers["authorization"] = "Basic " + base64.b64encode(pair.encode()).decode()
        response = await self._send("POST", metadata.token_endpoint, headers=headers, content=urlencode(form).encode())
        if not response.is_success:
            raise IdentityProviderUnusable(f"The identity provider refused the code: {_error_of(response)}.")
        id_token = _read_object(response).get("id_token")
        if not isinstance(id_token, str):
            raise IdentityProviderUnusable("The identity provider sent no ID token.")
        return id_token

    async def _get_json(self, url: str) -> dict[str, Any]:
        response = await self._send("GET", url, headers={"accept": "application/json"}, content=None)
        if not response.is_success:
            raise IdentityProviderUnusable(
                f"The identity provider answers with status {response.status} at {url[:200]}."
            )
        return _read_object(response)

    async def _send(
        self, method: str, url: str, *, headers: Mapping[str, str], content: bytes | None
    ) -> EgressResponse:
        try:
            return await self._egress.request(
                method,
                url,
                headers=headers,
                content=content,
                timeout_s=PROVIDER_TIMEOUT_S,
                max_bytes=MAX_PROVIDER_BYTES,
                max_redirects=0,
            )
        except EgressError as error:
            raise IdentityProviderUnusable(f"The identity provider cannot be reached: {error.message}") from error


def _read_object(response: EgressResponse) -> dict[str, Any]:
    try:
        document = response.json()
    except EgressError:
        document = None
    if not isinstance(document, dict):
        raise IdentityProviderUnusable("The identity provider's answer is not JSON.")
    return document


def _read_address(document: Mapping[str, Any], name: str) -> str:
    """Returns an address of the discovery document, which the browser or we are about to open."""
    address = document.get(name)
    if not isinstance(address, str) or len(address) > MAX_URL_CHARS:
        raise IdentityProviderUnusable(f"The identity provider publishes no usable {name}.")
    try:
        parts = urlsplit(address)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK_HOSTS)
        is_usable = is_safe and bool(parts.hostname) and not parts.fragment and not parts.username
    except ValueError:
        is_usable = False
    if not is_usable or not address.isprintable():
        raise IdentityProviderUnusable(f"The identity provider publishes no usable {name}.")
    return address


def _error_of(response: EgressResponse) -> str:
    try:
        document = response.json()
    except EgressError:
        document = None
    error = document.get("error") if isinstance(document, dict) else None
    return error[:60] if isinstance(error, str) and error.isprintable() else f"status {response.status}"
