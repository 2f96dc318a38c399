"""Connects to the exact address that was checked: the guard sits where the socket is opened."""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterable
from functools import cache, cached_property
from ipaddress import ip_address
from typing import cast

import httpcore2
import httpx2

from offhook.kit.egress.errors import AddressRefused, HostNotFound, ResponseTooLarge, ResponseUnreadable
from offhook.kit.egress.policy import EgressPolicy, literal_address
from offhook.kit.egress.resolver import HostResolver

_MAX_ATTEMPTS = 3
_ATTEMPT_TIMEOUT_S = 4.0


class EgressGuard:
    """Resolves a host to the addresses that may be connected to."""

    def __init__(self, policy: EgressPolicy, resolver: HostResolver) -> None:
        self.policy = policy
        self._resolver = resolver

    async def permitted_addresses(self, host: str, port: int) -> list[str]:
        """Returns the addresses of ``host``. One forbidden address refuses the whole name: mixed answers are an
        attack.

        Raises UrlInvalid, HostNotFound, AddressRefused.
        """
        host = host.lower().rstrip(".")
        literal = literal_address(host)
        try:
            found = [str(literal)] if literal is not None else await self._resolver.resolve(host, port)
            addresses = [ip_address(text) for text in found]
        except (OSError, UnicodeError, ValueError):
            raise HostNotFound(_not_found(host)) from None
        if not addresses:
            raise HostNotFound(_not_found(host))
        if not all(self.policy.permits(host, port, address) for address in addresses):
            raise AddressRefused
        return [str(address) for address in addresses]


def _not_found(host: str) -> str:
    """Also without a network no name is found: it says nothing about the host."""
    return f"The host {host[:80]!r} was not found. Check its name, and this server's internet connection."


class _GuardedSockets(httpcore2.AsyncNetworkBackend):
    """Resolves once, checks, and connects to the checked address. TLS and ``Host`` keep using the name."""

    def __init__(self, guard: EgressGuard) -> None:
        self._guard = guard
        self._sockets = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        addresses = (await self._guard.permitted_addresses(host, port))[:_MAX_ATTEMPTS]
        for later, address in enumerate(addresses, 1 - len(addresses)):
            limit = timeout if later == 0 else min(_ATTEMPT_TIMEOUT_S, timeout or _ATTEMPT_TIMEOUT_S)
            try:
                return await self._sockets.connect_tcp(address, port, limit, local_address, socket_options)
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout):
                if later == 0:
                    raise
        raise HostNotFound

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class _BoundedBody(httpx2.AsyncByteStream):
    def __init__(self, stream: AsyncIterator[bytes], max_bytes: int | None) -> None:
        self._stream = stream
        self._left = max_bytes

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._stream:
                if self._left is not None:
                    self._left -= len(part)
                    if self._left < 0:
                        raise ResponseTooLarge
                yield part
        except _FAILURES as error:
            raise _translate_error(error) from error

    async def aclose(self) -> None:
        close = getattr(self._stream, "aclose", None)
        if close is not None:
            await close()


_FAILURES = (httpcore2.TimeoutException, httpcore2.NetworkError, httpcore2.ProtocolError, httpcore2.UnsupportedProtocol)


def _translate_error(error: Exception) -> httpx2.TransportError:
    """Translates errors of the library's two layers, which have the same names."""
    return cast(httpx2.TransportError, getattr(httpx2, type(error).__name__)(str(error)))


@cache
def _trusted_certificates() -> ssl.SSLContext:
    """Loads the trusted certificates once and not before the first call, as that takes 50 ms and 2 MB."""
    return httpx2.create_ssl_context()


class GuardedTransport(httpx2.AsyncBaseTransport):
    """An httpx2 transport for any client, including a vendor's SDK. Ignores proxies of the environment.

    ``max_bytes`` bounds each response, which must then be uncompressed. Raises this package's errors for addresses
    and sizes, httpx2's for everything else.
    """

    def __init__(self, guard: EgressGuard, max_bytes: int | None = None) -> None:
        self._guard = guard
        self._max_bytes = max_bytes

    @cached_property
    def _pool(self) -> httpcore2.AsyncConnectionPool:
        return httpcore2.AsyncConnectionPool(
            ssl_context=_trusted_certificates(),
            # Far more than one process needs: one slow server must not use up all connections.
            max_connections=2000,
            max_keepalive_connections=50,
            keepalive_expiry=15.0,
            network_backend=_GuardedSockets(self._guard),
        )

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url = request.url
        try:
            answer = await self._pool.handle_async_request(
                httpcore2.Request(
                    method=request.method,
                    url=httpcore2.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
                    headers=request.headers.raw,
                    content=cast(httpx2.AsyncByteStream, request.stream),
                    extensions=request.extensions,
                )
            )
        except _FAILURES as error:
            raise _translate_error(error) from error
        body = _BoundedBody(cast(AsyncIterator[bytes], answer.stream), self._max_bytes)
        if self._max_bytes is not None and any(name.lower() == b"content-encoding" for name, _ in answer.headers):
            await body.aclose()
            raise ResponseUnreadable("The remote server compressed its response without being asked to.")
        return httpx2.Response(
            answer.status,
            headers=answer.headers,
            stream=body,
            extensions=answer.extensions,
            request=request,
        )

    async def aclose(self) -> None:
        if "_pool" in self.__dict__:
            await self._pool.aclose()
