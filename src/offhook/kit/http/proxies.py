"""Request data from trusted proxies: the client's address, the scheme and the host."""

from typing import Any, cast

from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

_FORWARDED_HOST = b"x-forwarded-host"


class AddressSet:
    """Addresses and networks, comma-separated; ``*`` has all. Read as uvicorn reads its trusted hosts."""

    def __init__(self, text: str) -> None:
        self._hosts = ProxyHeadersMiddleware(cast(Any, None), trusted_hosts=text).trusted_hosts

    def __contains__(self, address: str) -> bool:
        # a socket that listens on :: shows IPv4 clients so
        return address.removeprefix("::ffff:") in self._hosts


class TrustedProxies:
    """Applies ``X-Forwarded-For`` and ``-Proto`` as uvicorn reads them, and ``-Host``, only from addresses in
    ``trusted``. Without it a webhook's signature, which covers its URL, could not be checked behind a proxy."""

    def __init__(self, app: ASGIApp, trusted: str) -> None:
        self._app = app
        self._headers = ProxyHeadersMiddleware(cast(Any, app), trusted_hosts=trusted)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            client = scope.get("client")
            if client is not None and client[0] in self._headers.trusted_hosts:
                scope = _with_host(scope)
        await self._headers(cast(Any, scope), cast(Any, receive), cast(Any, send))


def _with_host(scope: Scope) -> Scope:
    """Applies the host that the nearest proxy added: those before it may come from the client."""
    host = next((value for name, value in reversed(scope["headers"]) if name == _FORWARDED_HOST), b"")
    host = host.rpartition(b",")[2].strip()
    if not host:
        return scope
    others = [(name, value) for name, value in scope["headers"] if name != b"host"]
    return {**scope, "headers": [*others, (b"host", host)]}
