"""The SDK's client for an address and a key, and the limitations of each server."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

import httpx2

from offhook.kit.egress import EgressClient
from offhook.models.http_clients import close_http_clients, http_client

if TYPE_CHECKING:
    from openai import AsyncOpenAI

_READ_TIMEOUT_S: Final = 120.0
# Clients share their connections, so recreating one is cheap.
_MAX_CLIENTS: Final = 200
EndpointKey = tuple[str | None, str, EgressClient | None]


@dataclass(slots=True)
class SdkEndpoint:
    """One client. ``refused`` holds, by model, the optional parts of a request that the server refuses."""

    client: "AsyncOpenAI"
    refused: dict[str, set[str]] = field(default_factory=dict)


# Clients belong to the event loop whose sockets they use.
_endpoints: WeakKeyDictionary[asyncio.AbstractEventLoop, OrderedDict[EndpointKey, SdkEndpoint]] = WeakKeyDictionary()


async def endpoint_for(
    base_url: str | None, api_key: str, *, connect_s: float, egress: EgressClient | None = None
) -> SdkEndpoint:
    """Returns the client for an address (None: the vendor's own) and a key; with ``egress``, behind its guard.

    The first call loads the SDK in a thread.
    """
    endpoints = _endpoints.setdefault(asyncio.get_running_loop(), OrderedDict())
    key = (base_url, api_key, egress)
    if key not in endpoints:
        connections = await http_client(egress)
        client = await asyncio.to_thread(_create_client, base_url, api_key, connect_s, connections)
        endpoints.setdefault(key, SdkEndpoint(client))
        while len(endpoints) > _MAX_CLIENTS:
            endpoints.popitem(last=False)
    endpoint = endpoints[key]
    endpoints.move_to_end(key)
    return endpoint


async def close_endpoints() -> None:
    """Closes every connection of the running loop."""
    _endpoints.pop(asyncio.get_running_loop(), None)
    await close_http_clients()


def _create_client(
    base_url: str | None, api_key: str, connect_s: float, connections: httpx2.AsyncClient
) -> "AsyncOpenAI":
    import openai  # noqa: PLC0415 - takes 0.7 s to load, which a process without such a model does not pay

    return openai.AsyncOpenAI(
        base_url=base_url,
        # self-hosted servers often need no key, but the SDK does
        api_key=api_key or "none",
        max_retries=0,
        timeout=openai.Timeout(_READ_TIMEOUT_S, connect=connect_s),
        http_client=connections,
    )
