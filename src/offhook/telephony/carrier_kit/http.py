"""Sends requests to carriers: one client per process, one error type, and no retries."""

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2

from offhook.kit.egress import EgressClient, EgressError, EgressPolicy, ResponseTooLarge, ResponseUnreadable
from offhook.telephony.ports import CarrierAccount, CarrierFailed

CONNECT_TIMEOUT_S: Final = 5.0
RESPONSE_TIMEOUT_S: Final = 10.0
# Total timeout: name resolution, connection, request, last byte.
TOTAL_TIMEOUT_S: Final = 20.0
MAX_ANSWER_BYTES: Final = 2_000_000
MAX_MESSAGE: Final = 300
_NOT_SENT: Final = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.UnsupportedProtocol,
    httpx2.LocalProtocolError,
)
# Exceptions for responses that arrived and could not be read.
_UNREAD: Final = (ResponseTooLarge, ResponseUnreadable)
_BY_STATUS: Final = {
    401: "unauthorized",
    402: "insufficient_funds",
    403: "unauthorized",
    404: "not_found",
    429: "rate_limited",
}


@dataclass(frozen=True, slots=True)
class CarrierRequest:
    """A request to a carrier. ``body`` is sent as JSON, ``form`` as a form (lists repeat the key)."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    auth: tuple[str, str] | None = None
    params: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    form: Mapping[str, str | list[str]] | None = None


@dataclass(frozen=True, slots=True)
class CarrierResponse:
    status: int
    headers: Mapping[str, str]
    content: bytes

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    def json(self) -> dict[str, Any]:
        """Returns the JSON object; an empty one when the body is none."""
        try:
            found = json.loads(self.content)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}

    def require_text(self, *path: str) -> str:
        """Returns the text or number at ``path`` of the JSON object as text. Raises CarrierFailed when it is
        missing."""
        found: Any = self.json()
        for name in path:
            found = found.get(name) if isinstance(found, dict) else None
        if not isinstance(found, str | int) or found == "":
            raise CarrierFailed(
                "carrier_failed",
                f"The carrier's answer has no {'.'.join(path)}.",
                retryable=False,
                is_fate_unknown=True,
            )
        return str(found)


class CarrierHttp:
    """The HTTP client for carriers, one per process. ``addresses`` are the settings' replacements of carriers' origins,
    by the carrier's name.

    The guard of ``kit.egress`` protects it: carriers are public, and redirects in their responses are not followed. The
    addresses in the settings come from the operator and are allowed.
    """

    def __init__(self, addresses: Mapping[str, str] | None = None) -> None:
        self._origins = {name: urlsplit(url) for name, url in (addresses or {}).items()}
        hosts = {(origin.hostname, origin.port) for origin in self._origins.values() if origin.hostname}
        self._egress = EgressClient(EgressPolicy(hosts=frozenset(hosts)))
        self._client: httpx2.AsyncClient | None = None

    def resolve_url(self, carrier: str, url: str) -> str:
        """Returns the carrier's ``url`` at the origin that the settings define for it."""
        origin = self._origins.get(carrier)
        if origin is None:
            return url
        return urlsplit(url)._replace(scheme=origin.scheme, netloc=origin.netloc).geturl()

    async def send(self, request: CarrierRequest) -> CarrierResponse:
        """Returns the response, whatever its status. Raises CarrierFailed (``carrier_unreachable``) when there was
        none; the fate is unknown as soon as a byte of a request that changes something may have been sent."""
        if self._client is None:
            self._client = self._egress.vendor_client(RESPONSE_TIMEOUT_S, max_bytes=MAX_ANSWER_BYTES)
            self._client.timeout = httpx2.Timeout(RESPONSE_TIMEOUT_S, connect=CONNECT_TIMEOUT_S)
        try:
            async with asyncio.timeout(TOTAL_TIMEOUT_S):
                response = await self._client.request(
                    request.method,
                    request.url,
                    headers=dict(request.headers),
                    auth=request.auth or httpx2.USE_CLIENT_DEFAULT,
                    params=dict(request.params) or None,
                    json=request.body,
                    data=request.form,
                )
        except (*_NOT_SENT, EgressError) as error:
            raise _unreachable_failure(request, error, was_sent=isinstance(error, _UNREAD)) from error
        except (TimeoutError, httpx2.TransportError) as error:
            raise _unreachable_failure(request, error, was_sent=True) from error
        return CarrierResponse(response.status_code, response.headers, response.content)

    async def aclose(self) -> None:
        if self._client is not None:
            await self._client.aclose()
        await self._egress.aclose()


def _unreachable_failure(request: CarrierRequest, error: Exception, *, was_sent: bool) -> CarrierFailed:
    host = urlsplit(request.url).hostname
    what = "did not answer" if was_sent else "could not be reached"
    return CarrierFailed(
        "carrier_unreachable",
        f"{host} {what}: {str(error) or type(error).__name__}"[:MAX_MESSAGE],
        retryable=True,
        is_fate_unknown=was_sent and request.method != "GET",
    )


def failure_from_response(
    request: CarrierRequest,
    answer: CarrierResponse,
    message: str,
    *,
    code: str | None = None,
    now: datetime | None = None,
) -> CarrierFailed:
    """Returns the failure behind an unsuccessful response. ``code`` wins over the status. A carrier that failed with
    5xx may have acted before it did."""
    broke = answer.status >= 500
    found = code or _BY_STATUS.get(answer.status) or ("carrier_failed" if broke else "carrier_refused")
    return CarrierFailed(
        found,
        message[:MAX_MESSAGE] or f"HTTP {answer.status}",
        retryable=broke or found == "rate_limited",
        is_fate_unknown=broke and request.method != "GET",
        retry_after_s=_retry_after(answer.headers.get("retry-after", ""), now or datetime.now(UTC)),
    )


def _retry_after(text: str, now: datetime) -> float | None:
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:6])
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - now).total_seconds())


def require_setting(account: CarrierAccount, name: str) -> str:
    """Returns a text setting that the account requires. Raises CarrierFailed (``carrier_misconfigured``) when it is
    missing."""
    found = get_setting(account, name)
    if found is None:
        raise CarrierFailed("carrier_misconfigured", f"This {account.provider} account has no {name}.", retryable=False)
    return found


def get_setting(account: CarrierAccount, name: str) -> str | None:
    found = account.config.get(name)
    return found.strip() or None if isinstance(found, str) else None
