"""Connections to OpenAI-compatible servers, one client for each address and key, and what each server cannot do."""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from openai import AsyncOpenAI

# Requests of many calls at once share a client: a new TLS connection in a turn costs the caller 100 ms and more.
_READ_S: Final = 120.0


@dataclass(slots=True)
class Endpoint:
    """One client. ``refused`` remembers, by model, which optional parts of a request the server does not take."""

    client: "AsyncOpenAI"
    refused: dict[str, set[str]] = field(default_factory=dict)


# Clients belong to the event loop whose sockets they hold.
_endpoints: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[tuple[str | None, str], Endpoint]] = WeakKeyDictionary()


async def endpoint_for(base_url: str | None, api_key: str, *, connect_s: float) -> Endpoint:
    """The shared client of an address (None: the vendor's own) and a key. The first call loads the SDK in a thread."""
    endpoints = _endpoints.setdefault(asyncio.get_running_loop(), {})
    key = (base_url, api_key)
    if key not in endpoints:
        client = await asyncio.to_thread(_client, base_url, api_key, connect_s)
        if key in endpoints:
            await client.close()
        else:
            endpoints[key] = Endpoint(client)
    return endpoints[key]


async def close_endpoints() -> None:
    """Close every connection of the running loop."""
    for endpoint in _endpoints.pop(asyncio.get_running_loop(), {}).values():
        await endpoint.client.close()


def _client(base_url: str | None, api_key: str, connect_s: float) -> "AsyncOpenAI":
    import openai  # noqa: PLC0415 - takes 0.7 s to load, which a process without such a model does not pay

    return openai.AsyncOpenAI(
        base_url=base_url,
        # servers of one's own often need no key, the SDK does
        api_key=api_key or "none",
        max_retries=0,
        timeout=openai.Timeout(_READ_S, connect=connect_s),
    )
