"""Opens WebSockets to vendors within a time limit and raises the port's errors."""

import asyncio
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from socket import AF_INET, AF_INET6, SOCK_STREAM
from socket import socket as TcpSocket  # noqa: N812 - ours are WebSockets

from picows import WSError, WSHandshakeError, WSInvalidURL, WSParsedURL

from offhook.kit.egress import EgressError
from offhook.kit.media_sockets.client import PONG_TIMEOUT_S, ClientSocket, connect_socket
from offhook.kit.media_sockets.sockets import MessageReceiver
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.network_route import DIRECT_ROUTE, NetworkRoute


@dataclass(frozen=True, slots=True)
class VendorAddress:
    """The address of a connection. Keys are only in ``headers``: addresses appear in logs."""

    url: str
    headers: Mapping[str, str]


async def open_socket(
    address: VendorAddress,
    receiver: MessageReceiver,
    errors: VendorErrors,
    *,
    limit_s: float,
    way: NetworkRoute = DIRECT_ROUTE,
    pong_timeout_s: float = PONG_TIMEOUT_S,
) -> ClientSocket:
    """Opens a socket within ``limit_s`` (DNS, TCP, TLS, handshake); raises ModelError. Accepts http(s) as ws(s)."""
    try:
        async with asyncio.timeout(limit_s):
            return await connect_socket(
                re.sub("^http", "ws", address.url),
                receiver,
                headers=address.headers,
                open_tcp=partial(_open_guarded_tcp, way, errors) if way.is_guarded else None,
                pong_timeout_s=pong_timeout_s,
            )
    except TimeoutError:
        raise errors.timeout_error("connection", limit_s) from None
    except WSHandshakeError as error:
        response = error.response
        if response is None:
            raise errors.malformed_error("no HTTP answer to the handshake") from error
        raise errors.status_error(
            int(response.status), error.raw_body or b"", response.headers.get("retry-after")
        ) from error
    except WSInvalidURL as error:
        raise errors.make_error("bad_request", "This is not a WebSocket address.") from error
    except WSError as error:
        raise errors.malformed_error(type(error).__name__) from error
    except EgressError as error:
        raise errors.make_error("connection" if error.retryable else "forbidden", error) from error
    except (OSError, ValueError) as error:
        raise errors.unreachable_error(error) from error


async def _open_guarded_tcp(way: NetworkRoute, errors: VendorErrors, url: WSParsedURL) -> TcpSocket:
    """Opens a socket to an address that the guard has resolved and permitted; TLS and Host keep the name."""
    if way.egress is None:
        raise errors.make_error("forbidden", "This address is not the operator's.")
    address = (await way.egress.permitted_addresses(url.host, url.port))[0]
    tcp = TcpSocket(AF_INET6 if ":" in address else AF_INET, SOCK_STREAM)
    tcp.setblocking(False)
    try:
        await asyncio.get_running_loop().sock_connect(tcp, (address, url.port))
    except BaseException:
        tcp.close()
        raise
    return tcp
