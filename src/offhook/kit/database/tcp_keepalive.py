"""Has the kernel end connections to the database whose other side is gone without a word."""

import socket
from typing import Any, Final, cast

import asyncpg

# A lost peer is found within 25 s without traffic, and within 20 s with it; the kernel's defaults are hours.
_IDLE_S: Final = 10
_INTERVAL_S: Final = 5
_PROBES: Final = 3
_UNACKNOWLEDGED_MS: Final = 20_000


def keep_socket_alive(connection: asyncpg.Connection) -> None:
    """Sets keep-alive probes and a limit for unacknowledged data; does nothing for a UNIX socket."""
    sock = cast(Any, connection)._transport.get_extra_info("socket")  # noqa: SLF001 - a test notices when it goes
    if sock is None or sock.family not in (socket.AF_INET, socket.AF_INET6):
        return
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    # Not everywhere: other systems keep their own intervals.
    for name, value in (
        ("TCP_KEEPIDLE", _IDLE_S),
        ("TCP_KEEPINTVL", _INTERVAL_S),
        ("TCP_KEEPCNT", _PROBES),
        ("TCP_USER_TIMEOUT", _UNACKNOWLEDGED_MS),
    ):
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
