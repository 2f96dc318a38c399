"""A bounded HTTP client for URLs that users enter."""

import asyncio
import json
import time
import zlib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from http.cookiejar import DefaultCookiePolicy
from typing import Any, Final

import httpx2

from offhook.kit.egress.errors import (
    EgressError,
    EgressTimeout,
    HeaderInvalid,
    MediaTypeRefused,
    RedirectRefused,
    ResponseTooLarge,
    ResponseUnreadable,
    UrlInvalid,
)
from offhook.kit.egress.headers import encode_headers, normalize_headers
from offhook.kit.egress.policy import EgressPolicy, EgressTarget
from offhook.kit.egress.resolver import HostResolver, SystemHostResolver
from offhook.kit.egress.transport import EgressGuard, GuardedTransport

DEFAULT_TIMEOUT_S: Final = 10.0
DEFAULT_MAX_BYTES: Final = 1_000_000
DEFAULT_MAX_REDIRECTS: Final = 3
_REDIRECTS: Final = {301, 302, 303, 307, 308}
_BODY_HEADERS: Final = {"content-type", "content-length", "content-encoding"}
# Headers kept when a redirect leads to another origin: none that could hold a secret.
_SAFE_HEADERS: Final = {"accept", "accept-language", "user-agent", *_BODY_HEADERS}
_USER_AGENT: Final = "Offhook"


@dataclass(frozen=True, slots=True)
class EgressResponse:
    """A complete response. ``content`` is decompressed and within the limit; ``url`` is the final address."""

    status: int
    headers: httpx2.Headers
    content: bytes
    url: str
    elapsed_ms: int

    @property
    def is_success(self) -> bool:
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """Returns ``application/json`` for ``application/json; charset=utf-8``; empty when not given."""
        return str(self.headers.get("content-type", "")).partition(";")[0].strip().lower()

    @property
    def text(self) -> str:
        """Returns the content as text; invalid bytes become replacement characters."""
        return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        """Returns the parsed content. Raises :class:`ResponseUnreadable`."""
        try:
            return json.loads(self.content)
        except (ValueError, RecursionError) as error:
            raise ResponseUnreadable("The remote server's response is not JSON.") from error


def refuse_cookies(client: httpx2.AsyncClient) -> httpx2.AsyncClient:
    """Returns the client, which from now on keeps no cookies. A cookie that a server sets for one organization would be sent
    with the requests of all others that share the client, and servers can set any number of them."""
    client.cookies.jar.set_policy(DefaultCookiePolicy(allowed_domains=()))
    return client


class EgressClient:
    """Calls URLs that users enter. One per process: ``root.get(EgressClient)``.

    Allows only http and https to public addresses, and what ``OFFHOOK_EGRESS_ALLOW`` names. The name is resolved
    once per connection, and the connection goes to the address that was checked; redirects are followed manually
    and checked like the first address. No cookies, no proxies of the environment, no retries.
    """

    def __init__(self, policy: EgressPolicy | None = None, resolver: HostResolver | None = None) -> None:
        self._guard = EgressGuard(policy or EgressPolicy(), resolver or SystemHostResolver())
        self._transport = GuardedTransport(self._guard)

    async def request(
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        content: bytes | None = None,
        timeout_s: float = DEFAULT_TIMEOUT_S,
        max_bytes: int = DEFAULT_MAX_BYTES,
        max_redirects: int = DEFAULT_MAX_REDIRECTS,
        media_types: Collection[str] | None = None,
    ) -> EgressResponse:
        """Sends one request and reads the full response, whatever its status.

        ``timeout_s`` bounds the whole request: name, connection, redirects, last byte. ``max_bytes`` bounds the
        decompressed content. ``max_redirects`` 0 returns a redirect as the response. ``media_types`` are the
        accepted content types (``application/json``, ``text/*``); a response without content is always accepted.
        Raises subclasses of EgressError; ``error.retryable`` says whether another attempt makes sense.
        """
        started = time.monotonic()
        target = self._guard.policy.parse_url(url)
        sent = {
            "user-agent": _USER_AGENT,
            "accept": "*/*",
            **normalize_headers(headers or {}),
            "accept-encoding": "gzip",
        }
        request = httpx2.Request(
            method, target.url.copy_with(fragment=None), headers=encode_headers(sent), content=content
        )
        try:
            async with asyncio.timeout(timeout_s):
                return await self._follow_redirects(request, started, max_bytes, max_redirects, media_types)
        except (TimeoutError, httpx2.TimeoutException):
            raise EgressTimeout(f"The remote server did not respond within {timeout_s:g} s.") from None
        except httpx2.LocalProtocolError as error:
            raise HeaderInvalid(f"The request cannot be sent: {error}") from error
        except httpx2.RemoteProtocolError as error:
            raise ResponseUnreadable(f"The remote server's response is not HTTP: {error}") from error
        except httpx2.TransportError as error:
            raise EgressError(f"The remote server could not be reached: {error or type(error).__name__}") from error

    async def check_url(self, url: str) -> None:
        """Checks a URL as :meth:`request` would before it connects, with name resolution; raises the same errors."""
        target = self._guard.policy.parse_url(url)
        try:
            async with asyncio.timeout(DEFAULT_TIMEOUT_S):
                await self._guard.permitted_addresses(target.host, target.port)
        except TimeoutError:
            raise EgressTimeout(f"The name lookup of {target.host!r} timed out.") from None

    async def permitted_addresses(self, host: str, port: int) -> list[str]:
        """Returns the permitted addresses of a host, for callers that open the socket; raises the same errors."""
        return await self._guard.permitted_addresses(host, port)

    def parse_url(self, url: str) -> EgressTarget:
        """Checks a URL without resolving its name (for saving a form). Raises UrlInvalid, AddressRefused."""
        return self._guard.policy.parse_url(url)

    def vendor_client(
        self,
        timeout_s: float,
        *,
        headers: Mapping[str, str] | None = None,
        max_bytes: int | None = None,
        keeps_cookies: bool = False,
    ) -> httpx2.AsyncClient:
        """Returns a client for an SDK that accepts one: the same guard, no redirects. The caller closes it.

        ``max_bytes`` bounds each response (and requests uncompressed ones); None is for trusted vendors.
        ``keeps_cookies`` is for clients of one organization only.
        """
        sent = {"user-agent": _USER_AGENT, **normalize_headers(headers or {})}
        if max_bytes is not None:
            sent["accept-encoding"] = "identity"
        client = httpx2.AsyncClient(
            transport=GuardedTransport(self._guard, max_bytes),
            headers=encode_headers(sent),
            timeout=timeout_s,
            trust_env=False,
            follow_redirects=False,
        )
        return client if keeps_cookies else refuse_cookies(client)

    async def aclose(self) -> None:
        await self._transport.aclose()

    async def _follow_redirects(
        self,
        request: httpx2.Request,
        started: float,
        max_bytes: int,
        max_redirects: int,
        media_types: Collection[str] | None,
    ) -> EgressResponse:
        for left in range(max_redirects, -1, -1):
            response = await self._transport.handle_async_request(request)
            try:
                if response.status_code in _REDIRECTS and "location" in response.headers and max_redirects:
                    if not left:
                        raise RedirectRefused(f"The remote server redirected more than {max_redirects} times.")
                    request = self._redirect_request(request, response)
                    continue
                content = await _read_content(response, max_bytes, media_types)
            finally:
                await response.aclose()
            elapsed_ms = round((time.monotonic() - started) * 1000)
            return EgressResponse(response.status_code, response.headers, content, str(request.url), elapsed_ms)
        raise RedirectRefused

    def _redirect_request(self, request: httpx2.Request, response: httpx2.Response) -> httpx2.Request:
        try:
            url = str(request.url.join(response.headers["location"]))
            target = self._guard.policy.parse_url(url)
        except (httpx2.InvalidURL, UrlInvalid, ValueError) as error:
            raise RedirectRefused("The remote server redirected to an invalid URL.") from error
        if request.url.scheme == "https" and target.url.scheme == "http":
            raise RedirectRefused("The remote server redirected from https to http.")
        method, keeps_body = request.method, True
        if response.status_code == 303 or (response.status_code in {301, 302} and method == "POST"):
            method, keeps_body = "HEAD" if method == "HEAD" else "GET", False
        is_same = (request.url.scheme, request.url.raw_host, request.url.port) == (
            target.url.scheme,
            target.url.raw_host,
            target.url.port,
        )
        headers = {
            name: value
            for name, value in request.headers.items()
            if name not in {"host", "content-length"}
            and (is_same or name in _SAFE_HEADERS)
            and (keeps_body or name not in _BODY_HEADERS)
        }
        headers["accept-encoding"] = "gzip"
        return httpx2.Request(
            method,
            target.url.copy_with(fragment=None),
            headers=encode_headers(headers),
            content=request.content if keeps_body else None,
        )


async def _read_content(response: httpx2.Response, max_bytes: int, media_types: Collection[str] | None) -> bytes:
    too_large = ResponseTooLarge(f"The remote server's response is larger than {max_bytes} bytes.")
    length = response.headers.get("content-length", "")
    if length.isdecimal() and int(length) > max_bytes:
        raise too_large
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if encoding not in {"identity", "", "gzip", "x-gzip"}:
        raise ResponseUnreadable(f"The remote server's response is encoded as {encoding[:40]!r}.")
    # Decompressed here in steps, because a library given 64 kB may return 64 MB before the limit is checked again.
    unzip = zlib.decompressobj(31) if "gzip" in encoding else None
    content = bytearray()
    async for part in response.stream:  # type: ignore[union-attr]
        if not content and media_types is not None:
            _check_media_type(response, media_types)
        # The library keeps what follows the end, and copies all of it again with each part.
        if unzip is not None and unzip.eof:
            break
        try:
            content += unzip.decompress(part, max_bytes - len(content) + 1) if unzip else part
        except zlib.error as error:
            raise ResponseUnreadable("The remote server's response is damaged.") from error
        if len(content) > max_bytes:
            raise too_large
    if unzip is not None and content and not unzip.eof:
        raise ResponseUnreadable("The remote server's response is incomplete.")
    return bytes(content)


def _check_media_type(response: httpx2.Response, media_types: Collection[str]) -> None:
    found = str(response.headers.get("content-type", "")).partition(";")[0].strip().lower()
    if found not in media_types and f"{found.partition('/')[0]}/*" not in media_types:
        raise MediaTypeRefused(found, response.status_code)
