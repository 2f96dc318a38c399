"""The process for the HTTP API and the voice loop."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from socket import socket

from fastapi import FastAPI

from offhook import jobs
from offhook.bootstrap import stop_domains
from offhook.kit.http import install_http
from offhook.kit.http.metrics import REQUEST_SHARE
from offhook.kit.http.server import HttpServer, server_config
from offhook.kit.http.turns.request_share import RequestShare
from offhook.root import Root
from offhook.voice.output.metronome import Metronome


def create_app(root: Root, share: RequestShare | None = None) -> FastAPI:
    """Returns the ASGI application of a built root; its lifespan opens and closes the domains' resources.

    Routes, checks and the lifespan find the root in ``app.state``, where tests may replace it between two lifespans.
    """
    app = FastAPI(lifespan=_lifespan, openapi_url=None)  # install_http serves the description, without a CDN's page
    app.state.root = root
    app.include_router(root.api, prefix="/api/v1")
    # Included routers have no lifespan; the framework nests one for each all the same, which takes longer than ours.
    app.router.lifespan_context = _lifespan
    install_http(app, root, checks={"jobs": jobs.is_healthy}, share=share)
    return app


@asynccontextmanager
async def _lifespan(app: FastAPI) -> AsyncIterator[None]:
    root: Root = app.state.root
    for hook in root.on_start:
        await hook()
    yield
    await stop_domains(root)


async def run_api(root: Root, listening: socket, on_ready: Callable[[], None]) -> None:
    """Serves until a signal arrives and its calls are over; a second signal ends them in order before connections are cut."""
    share = RequestShare()
    Metronome.of_running_loop().on_beat = share.note_beat
    loop = asyncio.get_running_loop()
    REQUEST_SHARE.set_function(lambda: share.current_share(loop.time()))
    config = server_config(create_app(root, share), root.settings)
    server = HttpServer(config, on_ready=on_ready, drain=root.drain, before_shutdown=partial(stop_domains, root))
    await server.serve(sockets=[listening])
