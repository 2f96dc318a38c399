"""HTTP connections to vendors: two pools per process, shared by all SDKs, keys and calls."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from contextvars import ContextVar
from typing import Final, Generic, TypeVar
from weakref import WeakKeyDictionary

import httpx2

from offhook.kit.egress import EgressClient, refuse_cookies

_READ_TIMEOUT_S: Final = 120.0
# Of servers that organizations choose; far more than an answer with all its chunks has.
MAX_ANSWER_BYTES: Final = 32_000_000
# An SDK's clients share their connections, so recreating a client is cheap.
_MAX_SDK_CLIENTS: Final = 200
Sdk = TypeVar("Sdk")
_Key = tuple[str | None, str, EgressClient | None]
# Pauses between turns often exceed the library's 5 s, and a new TLS connection costs the turn 100 ms.
_LIMITS: Final = httpx2.Limits(max_connections=2000, max_keepalive_connections=200, keepalive_expiry=60.0)
_Clients = dict[EgressClient | None, httpx2.AsyncClient]

# Answers opened while a list is set here: an SDK that hides its answer cannot close it at once.
OPENED_RESPONSES: Final[ContextVar[list[httpx2.Response] | None]] = ContextVar("opened", default=None)

# Sockets belong to the event loop that opened them.
_clients_by_loop: WeakKeyDictionary[asyncio.AbstractEventLoop, _Clients] = WeakKeyDictionary()


async def http_client(egress: EgressClient | None) -> httpx2.AsyncClient:
    """Returns the shared client; with ``egress``, the one that connects only where organizations may.

    Callers set their own timeouts. Only :func:`close_http_clients` closes it.
    """
    clients = _clients_by_loop.setdefault(asyncio.get_running_loop(), {})
    if egress not in clients:
        # in a thread: reading the trusted certificates takes 50 ms
        made = await asyncio.to_thread(_make_client, egress)
        if egress in clients:
            await made.aclose()
        else:
            clients[egress] = made
    return clients[egress]


def _make_client(egress: EgressClient | None) -> httpx2.AsyncClient:
    if egress is not None:
        client = egress.vendor_client(_READ_TIMEOUT_S, max_bytes=MAX_ANSWER_BYTES)
    else:
        client = refuse_cookies(httpx2.AsyncClient(timeout=_READ_TIMEOUT_S, limits=_LIMITS))
    client.event_hooks = {"request": [], "response": [_record_opened_response]}
    return client


async def _record_opened_response(response: httpx2.Response) -> None:
    opened = OPENED_RESPONSES.get()
    if opened is not None:
        opened.append(response)


async def close_http_clients() -> None:
    """Closes every connection of the running loop."""
    for client in _clients_by_loop.pop(asyncio.get_running_loop(), {}).values():
        await client.aclose()


class SdkClients(Generic[Sdk]):
    """The clients of one vendor's SDK, one per address and key. ``make`` runs in a thread because it loads the SDK."""

    def __init__(self, make: Callable[[str | None, str, httpx2.AsyncClient], Sdk]) -> None:
        self._make = make
        self._clients_by_loop: WeakKeyDictionary[
            asyncio.AbstractEventLoop, OrderedDict[_Key, tuple[Sdk, httpx2.AsyncClient]]
        ]
        self._clients_by_loop = WeakKeyDictionary()

    async def get(self, base_url: str | None, api_key: str, egress: EgressClient | None) -> Sdk:
        """Returns the client for an address (None: the vendor's own) and a key; with ``egress``, behind its guard."""
        clients = self._clients_by_loop.setdefault(asyncio.get_running_loop(), OrderedDict())
        connections = await http_client(egress)
        key = (base_url, api_key, egress)
        if key not in clients or clients[key][1] is not connections:
            made = await asyncio.to_thread(self._make, base_url, api_key, connections)
            clients[key] = (made, connections)
            while len(clients) > _MAX_SDK_CLIENTS:
                clients.popitem(last=False)
        clients.move_to_end(key)
        return clients[key][0]
