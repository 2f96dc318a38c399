"""Shared code of the LLM vendors' emulators: a small HTTP/1.1 server that streams server-sent events and fails on
demand.

A vendor's wire format is a :class:`VendorDialect`, written from the vendor's documentation and not from our clients.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal, Protocol

from offhook_lab.http import encode_head, read_request

FaultKind = Literal["stall", "cut", "half_close", "end", "malformed", "error_event"]
# Approximate number of characters per piece of a function call's arguments.
ARGUMENT_PIECE: Final = 7


@dataclass(frozen=True, slots=True)
class StreamFault:
    """A fault after ``after`` deltas.

    stall: nothing more is sent; cut: the connection is reset; half_close: the server ends its side in the middle of the
    body; end: the body ends in order, but too early; malformed: an event that is no JSON; error_event: the vendor's
    error object within the stream.
    """

    kind: FaultKind
    after: int = 0


@dataclass(frozen=True, slots=True)
class ScriptedAnswer:
    """One streamed answer: ``text`` word by word, then ``calls`` (name, arguments; text is sent unchanged)."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    first_token_s: float = 0.0
    token_s: float = 0.0
    fault: StreamFault | None = None
    finish_reason: str | None = None
    sends_usage: bool = True

    @property
    def words(self) -> list[str]:
        """Returns the pieces in which ``text`` is sent."""
        parts = self.text.split(" ") if self.text else []
        return [word if index == 0 else f" {word}" for index, word in enumerate(parts)]


@dataclass(frozen=True, slots=True)
class HttpRefusal:
    """A response with an error status and the vendor's error object; ``body`` replaces it (a proxy's HTML page)."""

    status: int
    code: str | None = None
    message: str = "It went wrong."
    type: str = "invalid_request_error"
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float = 0.0
    body: str | None = None


Reply = ScriptedAnswer | HttpRefusal
# Replies in order (the last one repeats), or a function of the request's body.
Script = Sequence[Reply] | Callable[[dict[str, Any]], Reply]


@dataclass(frozen=True, slots=True)
class StreamFrames:
    """An answer's events as sent on the wire; faults count ``deltas``."""

    head: Sequence[str]
    deltas: Sequence[str]
    tail: Sequence[str]


@dataclass(slots=True)
class ReceivedRequest:
    """One request. ``connection`` counts the server's connections; ``was_cancelled``: the client left early."""

    connection: int
    line: str
    headers: dict[str, str]
    body: dict[str, Any]
    was_cancelled: bool = False


class VendorDialect(Protocol):
    """One vendor's wire format. ``target`` is the path and query of a request."""

    unauthorized: HttpRefusal
    rate_limited: HttpRefusal

    def is_stream(self, method: str, target: str) -> bool: ...

    def is_authorized(self, headers: Mapping[str, str], target: str, key: str) -> bool: ...

    def look_up(self, method: str, target: str, models: Sequence[str]) -> tuple[int, Any] | None:
        """Returns status and body of another path (the list of models); None for an unknown one."""
        ...

    def refusal_of(self, target: str, body: Mapping[str, Any]) -> HttpRefusal | None:
        """Returns the vendor's refusal of a streaming request, if any."""
        ...

    def error_body(self, refusal: HttpRefusal) -> Any: ...

    def build_frames(self, answer: ScriptedAnswer, body: Mapping[str, Any]) -> StreamFrames: ...

    def error_frame(self) -> str: ...


class SseServer:
    """Serves streams. ``base_url`` is the URL that a client is configured with; ``requests`` are all that arrived, in
    order.

    ``limit``: number of streaming requests after which all are rate limited, until the test raises it.
    """

    def __init__(self, dialect: VendorDialect, script: Script, api_key: str | None, models: Sequence[str]) -> None:
        self._dialect = dialect
        self._script = script
        self._api_key = api_key
        self._models = models
        self._answered = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.base_url = ""
        self.limit: int | None = None
        self.connections = 0
        self.requests: list[ReceivedRequest] = []

    def accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve_connection(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serves one connection: requests follow each other; the end of the input cancels the current answer."""
        self.connections += 1
        number = self.connections
        answering: asyncio.Task[None] | None = None
        try:
            while True:
                request = await read_request(reader)
                if answering is not None:
                    if request is None:
                        answering.cancel()
                    await asyncio.gather(answering, return_exceptions=True)
                if request is None:
                    return
                answering = asyncio.create_task(self._answer_request(number, *request, writer))
        finally:
            if answering is not None:
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)
            writer.close()

    async def _answer_request(
        self, number: int, line: str, headers: dict[str, str], raw: bytes, writer: asyncio.StreamWriter
    ) -> None:
        received = ReceivedRequest(number, line, headers, parse_json_object(raw) or {})
        method, target = line.split(" ")[:2]
        reply: Reply | tuple[int, Any]
        if self._dialect.is_stream(method, target):
            self.requests.append(received)
            reply = self._choose_reply(target, received, raw)
        else:
            reply = self._looked_up(method, target, received)
        try:
            if isinstance(reply, ScriptedAnswer):
                await self._send_stream(writer, reply, received.body)
            elif isinstance(reply, HttpRefusal):
                await asyncio.sleep(reply.after_s)
                await self._send_error(writer, reply)
            else:
                await _send_json(writer, reply[0], json.dumps(reply[1]), {})
        except asyncio.CancelledError:
            received.was_cancelled = True
            raise
        except ConnectionError:
            received.was_cancelled = True

    def _is_authorized(self, target: str, received: ReceivedRequest) -> bool:
        key = self._api_key
        return key is None or self._dialect.is_authorized(received.headers, target, key)

    def _looked_up(self, method: str, target: str, received: ReceivedRequest) -> HttpRefusal | tuple[int, Any]:
        if not self._is_authorized(target, received):
            return self._dialect.unauthorized
        found = self._dialect.look_up(method, target, self._models)
        return found or HttpRefusal(404, "unknown_url", f"Unknown request URL: {method} {target}.")

    def _choose_reply(self, target: str, received: ReceivedRequest, raw: bytes) -> Reply:
        if not self._is_authorized(target, received):
            return self._dialect.unauthorized
        if self.limit is not None and len(self.requests) > self.limit:
            return self._dialect.rate_limited
        if parse_json_object(raw) is None:
            return HttpRefusal(400, None, "We could not parse the JSON body of your request.")
        if (refusal := self._dialect.refusal_of(target, received.body)) is not None:
            return refusal
        if callable(self._script):
            return self._script(received.body)
        self._answered += 1
        return self._script[min(self._answered, len(self._script)) - 1]

    async def _send_error(self, writer: asyncio.StreamWriter, refusal: HttpRefusal) -> None:
        if refusal.body is not None:
            await _send_json(writer, refusal.status, refusal.body, {**refusal.headers, "content-type": "text/html"})
            return
        body = json.dumps(self._dialect.error_body(refusal), indent=2)
        await _send_json(writer, refusal.status, body, refusal.headers)

    async def _send_stream(self, writer: asyncio.StreamWriter, answer: ScriptedAnswer, body: Mapping[str, Any]) -> None:
        headers = {
            "content-type": "text/event-stream; charset=utf-8",
            "transfer-encoding": "chunked",
            "cache-control": "no-cache, must-revalidate",
            "x-request-id": "req_lab",
        }
        await asyncio.sleep(answer.first_token_s)
        writer.write(encode_head(200, headers))
        frames, fault = self._dialect.build_frames(answer, body), answer.fault
        deltas = frames.deltas[: fault.after] if fault is not None else frames.deltas
        for frame in frames.head:
            _write_chunk(writer, frame)
        for frame in deltas:
            _write_chunk(writer, frame)
            await writer.drain()
            await asyncio.sleep(answer.token_s)
        if fault is not None and not await self._apply_fault(writer, fault):
            return
        for frame in frames.tail if fault is None else ():
            _write_chunk(writer, frame)
        writer.write(b"0\r\n\r\n")
        await writer.drain()

    async def _apply_fault(self, writer: asyncio.StreamWriter, fault: StreamFault) -> bool:
        """Carries out the fault. Returns True when the body still ends in order."""
        if fault.kind == "stall":
            await asyncio.Event().wait()
        elif fault.kind == "cut":
            writer.transport.abort()
            return False
        elif fault.kind == "half_close":
            writer.write_eof()
            return False
        elif fault.kind == "malformed":
            _write_chunk(writer, 'data: {"id": "lab", "object": "chat.compl\n\n')
        elif fault.kind == "error_event":
            _write_chunk(writer, self._dialect.error_frame())
        return True


@asynccontextmanager
async def serve_sse(server: SseServer, path: str, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[SseServer]:
    """Serves until the block ends; ``path`` is that of ``base_url``."""
    listener = await asyncio.start_server(server.accept_connection, host, port)
    server.base_url = f"http://{host}:{listener.sockets[0].getsockname()[1]}{path}"
    try:
        yield server
    finally:
        listener.close()
        await server.stop()
        await listener.wait_closed()


def parse_json_object(raw: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(raw)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


async def _send_json(writer: asyncio.StreamWriter, status: int, body: str, headers: Mapping[str, str]) -> None:
    raw = body.encode()
    own = {"content-type": "application/json", "content-length": str(len(raw)), "x-request-id": "req_lab"}
    writer.write(encode_head(status, {**own, **headers}) + raw)
    await writer.drain()


def _write_chunk(writer: asyncio.StreamWriter, frame: str) -> None:
    payload = frame.encode()
    writer.write(f"{len(payload):x}\r\n".encode() + payload + b"\r\n")
