"""HTTP clients for speech over plain requests: one per event loop and route; connections persist between sentences."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final
from weakref import WeakKeyDictionary

import httpx2

from offhook.kit.egress import EgressError, refuse_cookies
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.network_route import NetworkRoute

# Longer than the pause between two turns of a conversation.
KEEP_ALIVE_S: Final = 120.0
CONNECT_TIMEOUT_S: Final = 3.0
# Of a server that an organization chose: more than ten minutes of speech.
MAX_ANSWER_BYTES: Final = 64_000_000
_clients: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[NetworkRoute, httpx2.AsyncClient]] = WeakKeyDictionary()


def _client_for(way: NetworkRoute, errors: VendorErrors) -> httpx2.AsyncClient:
    clients = _clients.setdefault(asyncio.get_running_loop(), {})
    if way not in clients:
        if not way.is_guarded:
            limits = httpx2.Limits(max_connections=500, max_keepalive_connections=50, keepalive_expiry=KEEP_ALIVE_S)
            timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S)
            clients[way] = refuse_cookies(httpx2.AsyncClient(limits=limits, timeout=timeout, trust_env=False))
        elif way.egress is not None:
            clients[way] = way.egress.vendor_client(KEEP_ALIVE_S, max_bytes=MAX_ANSWER_BYTES)
        else:
            raise errors.make_error("forbidden", "This address is not the operator's.")
    return clients[way]


async def close_clients() -> None:
    """Closes the connections of the running loop."""
    for client in _clients.pop(asyncio.get_running_loop(), {}).values():
        await client.aclose()


@asynccontextmanager
async def post_request(
    url: str, api_key: str, errors: VendorErrors, limit_s: float, way: NetworkRoute, **body: Any
) -> AsyncIterator[httpx2.Response]:
    """Sends a POST and yields the open answer (only status 200) within ``limit_s``; every failure is a ModelError."""
    headers = {"Authorization": f"Bearer {api_key}"} if api_key else {}
    response: httpx2.Response | None = None
    try:
        client = _client_for(way, errors)
        async with asyncio.timeout(limit_s):
            response = await client.send(client.build_request("POST", url, headers=headers, **body), stream=True)
            if response.status_code != 200:
                raise errors.status_error(
                    response.status_code, await response.aread(), response.headers.get("retry-after")
                )
        yield response
    except (TimeoutError, httpx2.TimeoutException):
        raise errors.timeout_error("answer", limit_s) from None
    except EgressError as error:
        raise errors.make_error("connection" if error.retryable else "forbidden", error) from error
    except (httpx2.ConnectError, httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
        raise errors.unreachable_error(error) from error
    except httpx2.ProtocolError as error:
        raise errors.make_error("cut_off", f"The response was cut off: {error}") from error
    except httpx2.HTTPError as error:
        raise errors.unreachable_error(error) from error
    finally:
        if response is not None:
            await response.aclose()
