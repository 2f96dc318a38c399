"""Runs uvicorn inside a test, on a free loopback port."""

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Iterator

import uvicorn

from offhook.kit.http.server import HttpServer


class _WithoutSignals(uvicorn.Server):
    """Leaves the signals of the process to the test runner."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


class BareServer(_WithoutSignals):
    """uvicorn's own server."""


class ProductServer(_WithoutSignals, HttpServer):
    """The product's server."""


@contextlib.asynccontextmanager
async def serving(server: BareServer | ProductServer) -> AsyncIterator[str]:
    """Runs the server until the block ends; yields its ``127.0.0.1:port``."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        task = asyncio.create_task(server.serve(sockets=[listening]))
        try:
            async with asyncio.timeout(60):
                while not (server.started or task.done()):
                    await asyncio.sleep(0.005)
            if task.done():
                await task
                raise RuntimeError("the server did not start")
            yield f"127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task
