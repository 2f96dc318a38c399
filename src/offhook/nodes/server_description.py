"""What a server says of itself to the other processes."""

import socket
from contextlib import closing
from typing import Final

from offhook.nodes.node_beat import NodeDescription
from offhook.settings import Settings

_EVERY_ADDRESS: Final = frozenset({"0.0.0.0", "::"})  # noqa: S104 - compared, not bound
# Of a network that is reserved for documentation: nothing is sent there.
_FAR_AWAY: Final = ("198.51.100.1", 9)


def describe_server(settings: Settings) -> NodeDescription:
    return NodeDescription(
        "serve",
        address=(settings.node_url or f"http://{_own_host(settings.host)}:{settings.port}").rstrip("/"),
        call_limit=settings.max_calls_per_process,
        public_url=settings.node_public_url.rstrip("/") if settings.node_public_url else None,
    )


def _own_host(host: str) -> str:
    """Returns where others reach what listens on ``host``: for all addresses, the one of this machine's route."""
    if host not in _EVERY_ADDRESS:
        return f"[{host}]" if ":" in host else host
    try:
        with closing(socket.socket(socket.AF_INET, socket.SOCK_DGRAM)) as probe:
            probe.connect(_FAR_AWAY)
            return str(probe.getsockname()[0])
    except OSError:
        return "127.0.0.1"
