"""The attack of ``bench.neighbours``: everything at once that a hostile organization and strangers can send.

Bounded in time and number, to this machine only. Prints what was sent and how it was answered as one JSON object.
"""

import asyncio
import contextlib
import json
import os
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final
from urllib.parse import urlsplit

import httpx2
import uvloop

from bench.callers import Caller, Clock, Measures, audio
from bench.speech import clip, noise
from bench.voice import pace

SIGNUPS_A_SECOND: Final = 30
HALF_OPEN: Final = 1_500
CHATS: Final = 20
CALLS: Final = 30
HOOKS: Final = 10
DOCUMENTS: Final = 12
NICENESS: Final = 15
HALF_REQUESTS: Final = (
    b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nX-Slow: ",
    b"POST /api/v1/auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 90000\r\nContent-Type: application/json\r\n\r\n{",
)
HOSTILE_HTML: Final = "<div>" * 120_000 + "<table><tr><td>" * 20_000


@dataclass(frozen=True)
class AttackOrders:
    url: str
    key: str
    seconds: float

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


class Attack:
    """Each method is one kind of load that goes on until it is canceled."""

    def __init__(self, orders: AttackOrders) -> None:
        self._orders = orders
        self._address = urlsplit(orders.url)
        self.counts: Counter[str] = Counter()
        limits = httpx2.Limits(max_connections=200)
        self._client = httpx2.AsyncClient(
            base_url=f"{orders.url}/api/v1", headers={"X-API-Key": orders.key}, timeout=60, limits=limits
        )

    async def run(self) -> None:
        workflow_id = await self._make_agent()
        async with self._hanging_server() as hook_url:
            loads: list[Callable[[], Awaitable[None]]] = [
                self._sign_up,
                self._open_halves,
                partial(self._register_hooks, hook_url),
                self._upload,
                partial(self._call, workflow_id),
                *(partial(self._chat, workflow_id) for _ in range(CHATS)),
            ]
            tasks = [asyncio.ensure_future(self._repeat(load)) for load in loads]
            await asyncio.sleep(self._orders.seconds)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _repeat(self, load: Callable[[], Awaitable[None]]) -> None:
        while True:
            try:
                await load()
            except (httpx2.HTTPError, OSError) as error:
                self.counts[f"failed {type(error).__name__}"] += 1
            await asyncio.sleep(0.2)

    async def _post(self, kind: str, path: str, **body: Any) -> httpx2.Response:
        response = await self._client.post(path, **body)
        self.counts[f"{kind} {response.status_code}"] += 1
        return response

    async def _make_agent(self) -> int:
        data = {"name": "Start", "prompt": "Say anything.", "greeting": "Hello, who is there?", "allow_interrupt": True}
        nodes = [{"id": "1", "type": "startCall", "position": {"x": 0, "y": 0}, "data": data}]
        body = {"name": "bait", "workflow_definition": {"nodes": nodes, "edges": []}}
        return int((await self._post("agent", "/workflow/create/definition", json=body)).json()["id"])

    @contextlib.asynccontextmanager
    async def _hanging_server(self) -> Any:
        """A server that takes every request and never answers."""

        async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            self.counts["webhooks that hang"] += 1
            with contextlib.suppress(OSError, asyncio.CancelledError):
                await reader.read(-1)
            writer.close()

        server = await asyncio.start_server(hang, "127.0.0.1", 0)
        try:
            yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
        finally:
            server.close()

    async def _sign_up(self) -> None:
        number = self.counts.total()
        async with asyncio.TaskGroup() as group:
            for n in range(SIGNUPS_A_SECOND):
                group.create_task(self._post("sign-up", "/auth/signup", json={"email": f"p{number}.{n}@example.com"}))
        await asyncio.sleep(0.8)

    async def _open_halves(self) -> None:
        writers = []
        try:
            for n in range(HALF_OPEN):
                _, writer = await asyncio.open_connection(self._address.hostname, self._address.port)
                writer.write(HALF_REQUESTS[n % len(HALF_REQUESTS)])
                writers.append(writer)
                self.counts["half-open connections"] += 1
                await asyncio.sleep(0.004)
            await asyncio.sleep(5)
        finally:
            for writer in writers:
                writer.close()

    async def _register_hooks(self, url: str) -> None:
        for n in range(HOOKS):
            await self._post("webhook", "/organizations/webhooks", json={"url": f"{url}/{n}"})
        await asyncio.sleep(3600)

    async def _upload(self) -> None:
        for n in range(DOCUMENTS):
            files = {"file": (f"page-{n}.html", f"{n}{HOSTILE_HTML}".encode(), "text/html")}
            await self._post("document", "/knowledge-base/", files=files)
        await asyncio.sleep(20)

    async def _chat(self, workflow_id: int) -> None:
        response = await self._post("chat", f"/workflow/{workflow_id}/text-chat/sessions")
        if response.status_code >= 400:
            await asyncio.sleep(1)
            return
        path = f"/workflow/{workflow_id}/text-chat/sessions/{response.json()['workflow_run_id']}"
        for n in range(10):
            await self._post("message", f"{path}/messages", json={"text": f"Tell me something about {n}, please."})
        await self._post("chat's end", f"{path}/end")

    async def _call(self, workflow_id: int) -> None:
        loop, clock, measures = asyncio.get_running_loop(), Clock(), Measures()
        speech, quiet = audio(clip(3.0)), audio(noise(2.0))
        callers = []
        for _ in range(CALLS):
            response = await self._post("call", f"/workflow/{workflow_id}/runs", json={"mode": "twilio"})
            if response.status_code >= 400:
                break
            url = response.json()["media_url"]
            caller = Caller(url, speech, quiet, measures, clock)
            host, _, port = url.split("/")[2].partition(":")
            await loop.create_connection(partial(_given, caller), host, int(port))
            caller.begin(loop.time() + 2.0)
            callers.append(caller)
        talk = asyncio.create_task(pace(callers, clock))
        try:
            await asyncio.sleep(15)
        finally:
            clock.is_over = True
            for caller in callers:
                caller.hang_up()
            talk.cancel()


def _given(caller: Caller) -> Caller:
    return caller


async def main(orders: AttackOrders) -> None:
    # a real attacker has a machine of their own, and takes no time of this one
    os.nice(NICENESS)
    attack = Attack(orders)
    await attack.run()
    print(json.dumps(dict(attack.counts)))


if __name__ == "__main__":
    uvloop.run(main(AttackOrders(**json.loads(sys.argv[1]))))
