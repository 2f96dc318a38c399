"""What a server does at the first and at the second signal to stop."""

import asyncio
import os
import signal
import socket

import httpx2
import uvicorn
from fastapi import FastAPI

from offhook.kit.http.server import HttpServer


async def test_the_first_signal_drains_and_the_second_ends() -> None:
    ready, drained, steps = asyncio.Event(), asyncio.Event(), list[str]()
    app = FastAPI()

    @app.get("/")
    async def answer() -> str:
        return "here"

    async def drain() -> None:
        drained.set()
        await asyncio.Event().wait()  # a call that goes on for long

    async def end_calls() -> None:
        steps.append("calls are ended in order")

    config = uvicorn.Config(app, log_config=None, lifespan="off", timeout_graceful_shutdown=1)
    server = HttpServer(config, on_ready=ready.set, drain=drain, before_shutdown=end_calls)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        serving = asyncio.create_task(server.serve(sockets=[listening]))
        async with asyncio.timeout(60), httpx2.AsyncClient(trust_env=False) as client:
            await ready.wait()
            os.kill(os.getpid(), signal.SIGTERM)
            await drained.wait()
            assert (await client.get(url)).json() == "here", "it serves on while its calls talk"
            assert not steps
            os.kill(os.getpid(), signal.SIGTERM)
            await serving
    assert steps == ["calls are ended in order"]
