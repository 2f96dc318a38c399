"""A web server on loopback that answers as a test says, and a resolver that leads names to it."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from offhook.kit.egress import EgressClient, EgressPolicy


@dataclass(frozen=True, slots=True)
class Seen:
    """One request as it came in; header names in lower case."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, slots=True)
class Reply:
    """What the server says. ``raw`` replaces the whole answer; ``after`` is waited for before the first byte."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None
    after: asyncio.Event | None = None

    def as_bytes(self) -> bytes:
        if self.raw is not None:
            return self.raw
        headers = {"content-length": str(len(self.body)), **self.headers}
        lines = [f"HTTP/1.1 {self.status} Said", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
        return "\r\n".join(lines).encode() + self.body


def json_reply(value: Any, status: int = 200) -> Reply:
    return Reply(status, json.dumps(value).encode(), {"content-type": "application/json"})


def zipped(body: bytes) -> Reply:
    return Reply(body=gzip.compress(body), headers={"content-encoding": "gzip", "content-type": "text/plain"})


Answers = Callable[[Seen], Reply]


@dataclass
class LocalServer:
    """``answers`` may be replaced at any time; ``seen`` holds every request."""

    answers: Answers
    port: int = 0
    seen: list[Seen] = field(default_factory=list)
    connections: int = 0

    def url(self, host: str, path: str = "/") -> str:
        return f"http://{host}:{self.port}{path}"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while request := await read_request(reader):
                self.seen.append(request)
                reply = self.answers(request)
                if reply.after is not None:
                    await reply.after.wait()
                writer.write(reply.as_bytes())
                await writer.drain()
                if reply.raw is not None:
                    break
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


async def read_request(reader: asyncio.StreamReader) -> Seen | None:
    line = await reader.readline()
    if not line:
        return None
    method, target, _ = line.decode().split(" ")
    headers: dict[str, str] = {}
    while (line := await reader.readline()) not in {b"\r\n", b""}:
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Seen(method, target, headers, body)


@asynccontextmanager
async def local_server(answers: Answers | Reply) -> AsyncIterator[LocalServer]:
    """Serves on 127.0.0.1 until the block ends."""
    server = LocalServer(answers if callable(answers) else lambda _: answers)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    try:
        yield server
    finally:
        listening.close()


class FakeResolver:
    """Implements ``HostResolver``: names by a table. A list of lists answers differently each time, the last one for ever."""

    def __init__(self, **names: Sequence[str] | Sequence[Sequence[str]]) -> None:
        self._names = {name.replace("_", "."): list(answers) for name, answers in names.items()}
        self.asked: list[str] = []
        self.before: Callable[[], Awaitable[None]] | None = None

    async def resolve(self, host: str, port: int) -> Sequence[str]:
        if self.before is not None:
            await self.before()
        self.asked.append(host)
        answers = self._names.get(host)
        if answers is None:
            raise OSError("no such name")
        if answers and not isinstance(answers[0], str):
            return list(answers.pop(0) if len(answers) > 1 else answers[0])
        return [str(answer) for answer in answers]


LOOPBACK = ["127.0.0.1"]


def egress_to_loopback(*names: str) -> EgressClient:
    """A client for which these names lead to this machine, by permission; every other name is unknown."""
    resolver = FakeResolver(**{name.replace(".", "_"): LOOPBACK for name in names})
    return EgressClient(EgressPolicy(frozenset((name, None) for name in names)), resolver)
