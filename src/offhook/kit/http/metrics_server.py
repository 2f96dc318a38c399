"""A small metrics server for processes that have no API."""

import contextlib
from collections.abc import Callable, Iterator
from socket import socket

import uvicorn

from offhook.kit.http.health import build_monitored_app
from offhook.kit.http.server import bind_socket
from offhook.settings import Settings


class _MonitoredServer(uvicorn.Server):
    """Leaves the signals to the process that it reports on."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


async def serve_metrics(settings: Settings, port: int, on_ready: Callable[[int], None] = lambda port: None) -> None:
    """Answers ``/metrics`` and ``/health`` until canceled. Raises PortInUse. ``on_ready`` gets the port."""
    with bind_socket(settings.host, port) as bound:
        on_ready(bound.getsockname()[1])
        await _serve(settings, bound)


async def _serve(settings: Settings, bound: socket) -> None:
    config = uvicorn.Config(
        build_monitored_app(settings.metrics_token),
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=16,
        timeout_keep_alive=5,
    )
    await _MonitoredServer(config).serve(sockets=[bound])
