"""``offhook serve`` as a process of its own, with the built-in models and an embedded database."""

import asyncio
import os
import signal
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from uuid import uuid4

import httpx2

from offhook.kit.database.database import Database
from offhook.kit.files.data_folder import DataFolder, ServerInfo
from offhook.orgs import service as orgs
from tests.forks import ForkedProcess, forks
from tests.voice.phone import agent_graph, edge, node

START_S = 60.0


async def _key(database_url: str) -> str:
    database = Database(database_url, pool_size=1)
    try:
        async with database.transaction() as session:
            organization = await orgs.find_organization(session, orgs.DEFAULT_ORGANIZATION)
            return (await orgs.create_key(session, organization_id=organization.id, name="Test")).key
    finally:
        await database.dispose()


class Served(AbstractAsyncContextManager["Served"]):
    """Started when the block begins; ended in order when it ends. ``http`` acts for the first organization."""

    def __init__(self, data_dir: Path, **environment: str) -> None:
        self.data_dir = data_dir
        self.environment = {**os.environ, "OFFHOOK_DATA_DIR": str(data_dir), "OFFHOOK_SAMPLE_CALL": "0"}
        # A machine that runs other tests besides is late, and its calls are wanted all the same.
        self.environment |= {"OFFHOOK_MAX_LATENESS_MS": "60000"} | environment
        self._process: ForkedProcess | None = None
        self.info: ServerInfo | None = None

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.aclose()
        await self._end(signal.SIGTERM)

    async def start(self) -> None:
        with self.data_dir.with_suffix(".log").open("a") as log:
            self._process = forks().start("serve", "--port", "0", env=self.environment, stdout=log)
        self.info = await self._announced(self._process)
        assert self.info.database_url is not None
        async with httpx2.AsyncClient(trust_env=False) as anonymous:
            await self._until_ready(anonymous)
        headers = {"X-API-Key": await _key(self.info.database_url)}
        self.http = httpx2.AsyncClient(base_url=f"{self.info.url}/api/v1", headers=headers, trust_env=False, timeout=30)

    async def _announced(self, process: ForkedProcess) -> ServerInfo:
        until = time.monotonic() + START_S
        while time.monotonic() < until:
            assert process.poll() is None, "the server ended while it started"
            info = DataFolder(self.data_dir).running_server() if self.data_dir.exists() else None
            if info is not None and info.pid == process.pid and info.database_url is not None:
                return info
            await asyncio.sleep(0.05)
        raise AssertionError("the server did not start")

    async def _until_ready(self, http: httpx2.AsyncClient) -> None:
        assert self.info is not None
        async with asyncio.timeout(START_S):
            while True:
                try:
                    if (await http.get(f"{self.info.url}/ready")).status_code == 200:
                        return
                except httpx2.TransportError:
                    await asyncio.sleep(0.05)

    async def stop(self) -> None:
        """Asks the server to stop, as a deploy does, and waits until it has."""
        await self.http.aclose()
        await self._end(signal.SIGTERM)

    async def kill(self) -> None:
        """kill -9 of the server's process."""
        await self.http.aclose()
        await self._end(signal.SIGKILL)

    async def _end(self, number: signal.Signals) -> None:
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(number)
        async with asyncio.timeout(60):
            await self._process.ended()

    # what tests do with it

    async def publish(self, definition: dict[str, Any], **configurations: object) -> int:
        body = {"name": "Agent", "workflow_definition": definition}
        made = await self._ok(await self.http.post("/workflow/create/definition", json=body))
        if configurations:
            settings = {"workflow_configurations": configurations}
            await self._ok(await self.http.put(f"/workflow/{made['id']}", json=settings))
        await self._ok(await self.http.post(f"/workflow/{made['id']}/publish"))
        return int(made["id"])

    async def demo_agent(self, name: str) -> int:
        listed = await self.http.get("/workflow/fetch")
        return int(next(agent["id"] for agent in listed.json() if name in agent["name"].lower()))

    async def dial(self, workflow_id: int, number: str) -> int:
        body = {"workflow_id": workflow_id, "phone_number": number}
        return int((await self._ok(await self.http.post("/telephony/initiate-call", json=body)))["workflow_run_id"])

    async def run(self, workflow_id: int, run_id: int) -> dict[str, Any]:
        return await self.read(f"/workflow/{workflow_id}/runs/{run_id}")

    async def read(self, path: str) -> dict[str, Any]:
        """Asks again while the answer is "The database is unavailable. Try again.", as of a machine that is too busy."""
        async with asyncio.timeout(120):
            while (answer := await self.http.get(path)).status_code == 503:
                await asyncio.sleep(0.5)
        return await self._ok(answer)

    async def finished(self, workflow_id: int, run_id: int, *, within_s: float = 120) -> dict[str, Any]:
        async with asyncio.timeout(within_s):
            while (run := await self.run(workflow_id, run_id))["status"] in {"initiated", "ringing", "in_progress"}:
                await asyncio.sleep(0.2)
        return run

    async def until(
        self, ask: Callable[[], Awaitable[Any]], holds: Callable[[Any], bool], *, within_s: float = 120
    ) -> Any:
        """Ask until it holds; TimeoutError."""
        async with asyncio.timeout(within_s):
            while not holds(answer := await ask()):
                await asyncio.sleep(0.2)
        return answer

    async def recording(self, workflow_id: int, run_id: int, to: Path) -> Path:
        answer = await self.http.get(f"/workflow/{workflow_id}/runs/{run_id}/recording")
        assert answer.status_code == 200, answer.text
        to.write_bytes(answer.content)
        return to

    async def _ok(self, answer: httpx2.Response) -> dict[str, Any]:
        assert answer.status_code == 200, answer.text
        return dict(answer.json())


def begin(served: Served, *arguments: str) -> "Command":
    """Starts a command beside the server."""
    return Command(served.data_dir.parent, served.environment, *arguments)


class Command:
    """A running command, whose output is kept in ``folder``."""

    def __init__(self, folder: Path, environment: Mapping[str, str], *arguments: str) -> None:
        self._out, self._err = folder / f"{uuid4()}.out", folder / f"{uuid4()}.err"
        with self._out.open("w") as stdout, self._err.open("w") as stderr:
            self.process = forks().start(*arguments, env=environment, stdout=stdout, stderr=stderr)

    async def ended(self) -> tuple[int, str, str]:
        """Its exit code, what it wrote to stdout, and to stderr."""
        code = await self.process.ended()
        return code, self._out.read_text(), self._err.read_text()


async def offhook(served: Served, *arguments: str) -> tuple[int, str, str]:
    """Run a command beside the server: (exit code, stdout, stderr)."""
    return await begin(served, *arguments).ended()


def robot() -> dict[str, Any]:
    """An agent that understands one command."""
    return agent_graph(
        node("start", "startCall", prompt="Ask where to go.", greeting="Where should the robot go?"),
        node("moving", "endCall", prompt="Confirm.", say="It is on its way. Goodbye."),
        node("stopped", "endCall", prompt="Confirm.", say="It has stopped. Goodbye."),
        edge("start", "moving", "Forward", "the caller wants to go forward", examples=["go forward ten meters"]),
        edge("start", "stopped", "Stop", "the caller wants to stop", examples=["stop at once"]),
    )
