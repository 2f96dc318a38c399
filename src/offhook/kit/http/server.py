"""uvicorn with our settings: on a socket that is already bound, with our signals and our shutdown order."""

import asyncio
import contextlib
import gc
import os
import signal
import socket
import subprocess
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import cast

import uvicorn
from fastapi import FastAPI

from offhook.kit.http.connection_limits import ConnectionGuard, ConnectionLimits
from offhook.kit.http.http_protocol import GuardedHttpProtocol
from offhook.kit.media_sockets.media_socket_protocol import MediaSocketProtocol
from offhook.kit.processes.descriptors import descriptor_limit
from offhook.settings import Settings

SHUTDOWN_TIMEOUT_S = 10
# Of the descriptors that systemd passes.
FIRST_INHERITED = 3
LIST_TIMEOUT_S = 5


class PortInUse(Exception):
    """The address is not available; one sentence says why."""


@contextmanager
def listening_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Returns the socket that systemd listens on for us, or else a new one.

    Such a socket outlives this process: what is asked while the next one starts waits there instead of being refused, and a
    carrier that asks how the call of a crashed process goes on gets its answer. Raises :class:`PortInUse`.
    """
    inherited = _take_inherited_socket()
    if inherited is None:
        with bind_socket(host, port) as bound:
            yield bound
        return
    with inherited:
        yield inherited


def _take_inherited_socket() -> socket.socket | None:
    """Returns the socket of systemd's protocol (sd_listen_fds), which is meant for one process and named in its
    environment."""
    is_ours = os.environ.get("LISTEN_PID") == str(os.getpid())
    count = os.environ.get("LISTEN_FDS", "")
    if not is_ours or not count.isdecimal() or int(count) == 0:
        return None
    for name in ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"):
        os.environ.pop(name, None)
    if int(count) != 1:
        raise PortInUse(f"systemd passed {count} sockets. Keep only one ListenStream in the socket unit.")
    try:
        inherited = socket.socket(fileno=FIRST_INHERITED)
    except OSError as error:
        raise PortInUse(f"systemd passed something that is not a socket ({error.strerror}).") from None
    is_listening = inherited.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if inherited.family not in (socket.AF_INET, socket.AF_INET6) or not is_listening:
        inherited.close()
        raise PortInUse("systemd did not pass a listening TCP socket. Check ListenStream in the socket unit.")
    inherited.set_inheritable(False)
    inherited.setblocking(False)
    return inherited


@contextmanager
def bind_socket(host: str, port: int) -> Iterator[socket.socket]:
    """Returns a bound socket; port 0 takes a free one. Raises :class:`PortInUse` when another process has it."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((host, port))
            bound.listen(2048)
        except OSError as error:
            raise PortInUse(
                f"Port {port} on {host} cannot be used ({error.strerror}): stop the other program, or choose a port "
                "with --port or OFFHOOK_PORT."
            ) from None
        bound.setblocking(False)
        yield bound


def find_socket_unit(port: int, list_sockets: Callable[[], str] | None = None) -> str | None:
    """Returns the systemd unit that holds the port for a stopped service; None without one.

    Does not connect to the port: a connection would start the service.
    """
    for line in (list_sockets or _list_sockets)().splitlines():
        columns = line.split()
        if len(columns) > 1 and columns[0].endswith(f":{port}"):
            return columns[1]
    return None


def _list_sockets() -> str:
    command = ["systemctl", "list-sockets", "--no-legend", "--no-pager", "--plain"]
    try:
        done = subprocess.run(  # noqa: S603 - nothing of it comes from outside
            command, check=False, capture_output=True, text=True, timeout=LIST_TIMEOUT_S
        )
    except (OSError, subprocess.TimeoutExpired):  # no systemd
        return ""
    return done.stdout if done.returncode == 0 else ""


class HttpServer(uvicorn.Server):
    """Reports when it is ready. After the first signal it serves on until ``drain`` returns, and runs ``before_shutdown``
    while its connections are still open."""

    def __init__(
        self,
        config: uvicorn.Config,
        *,
        on_ready: Callable[[], None],
        drain: Callable[[], Awaitable[None]],
        before_shutdown: Callable[[], Awaitable[None]],
    ) -> None:
        super().__init__(config)
        self._drain = drain
        self._drain_task: asyncio.Task[None] | None = None
        self._on_ready = on_ready
        self._before_shutdown = before_shutdown

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Handles signals: the first one drains, the second shuts down cleanly, the third at once; uvicorn's own handler
        would end the process before us."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._request_exit)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    def _request_exit(self) -> None:
        if self._drain_task is None:
            self._drain_task = asyncio.get_running_loop().create_task(self._drain_and_exit(), name="drain")
            return
        self.force_exit = self.should_exit
        self.should_exit = True

    async def _drain_and_exit(self) -> None:
        try:
            await self._drain()
        finally:
            self.should_exit = True

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        # Objects alive now stay alive: the collector need not scan them again while audio flows.
        gc.collect()
        gc.freeze()
        self._on_ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        if self._drain_task is not None:
            self._drain_task.cancel()
        await self._before_shutdown()
        await super().shutdown(sockets=sockets)


def server_config(app: FastAPI, settings: Settings, limits: ConnectionLimits | None = None) -> uvicorn.Config:
    """Returns uvicorn's configuration. The caller sets up uvloop: the loop is already running at this point.

    ``limits`` are those of the settings and of this process's file descriptors by default.
    """
    limits = limits or ConnectionLimits.from_settings(settings, descriptor_limit())
    return uvicorn.Config(
        app,
        # uvicorn only calls it
        http=cast(type[asyncio.Protocol], partial(GuardedHttpProtocol, guard=ConnectionGuard(limits))),
        ws=MediaSocketProtocol,
        ws_max_size=settings.max_socket_message_bytes,
        ws_per_message_deflate=False,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # the application reads them (kit.http.proxies)
        timeout_keep_alive=settings.keep_alive_timeout_s,
        timeout_graceful_shutdown=SHUTDOWN_TIMEOUT_S,
    )
