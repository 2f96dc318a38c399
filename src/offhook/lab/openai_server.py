"""A local server that speaks the vendor's streaming chat-completions format, faults included, for tests and benches.

Written from OpenAI's API reference (``POST /v1/chat/completions`` with ``stream: true``: server-sent events of
``chat.completion.chunk`` objects and a last ``data: [DONE]``), not from our client. It refuses what the vendor refuses.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from offhook.lab.openai_rules import refusal_of

FaultKind = Literal["stall", "cut", "end", "malformed", "error_event"]
_REASONS: Final = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found"}
_REASONS_MORE: Final = {422: "Unprocessable Entity", 429: "Too Many Requests", 500: "Internal Server Error"}
_MAX_BODY: Final = 8 * 1024 * 1024
# Arguments of a function call arrive in pieces of about this many characters.
_ARGUMENT_PIECE: Final = 7


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong after ``after`` deltas.

    stall: nothing comes any more; cut: the connection is reset; end: the body ends in order, but too early;
    malformed: a chunk that is no JSON; error_event: the vendor's error object within the stream.
    """

    kind: FaultKind
    after: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """One streamed answer: ``text`` word by word, then ``calls`` (name, arguments; text is sent as it is)."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, Any] | str], ...] = ()
    first_token_s: float = 0.0
    token_s: float = 0.0
    fault: Fault | None = None
    finish_reason: str | None = None
    sends_usage: bool = True


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer with an error status and the vendor's error object; ``body`` replaces it (a proxy's HTML page)."""

    status: int
    code: str | None = None
    message: str = "It went wrong."
    type: str = "invalid_request_error"
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    after_s: float = 0.0
    body: str | None = None


UNAUTHORIZED: Final = Refusal(401, "invalid_api_key", "Incorrect API key provided: sk-te**t.")
NO_SUCH_MODEL: Final = Refusal(404, "model_not_found", "The model does not exist or you do not have access to it.")
RATE_LIMITED: Final = Refusal(
    429, "rate_limit_exceeded", "Rate limit reached for requests.", "requests", headers={"retry-after": "1"}
)
NO_QUOTA: Final = Refusal(429, "insufficient_quota", "You exceeded your current quota.", "insufficient_quota")
SERVER_ERROR: Final = Refusal(500, None, "The server had an error while processing your request.", "server_error")

Reply = Answer | Refusal
# Replies in order (the last one repeats), or a function of the request's body.
Script = Sequence[Reply] | Callable[[dict[str, Any]], Reply]


@dataclass(slots=True)
class Received:
    """One request: ``connection`` counts the connections of the server; ``was_cancelled``: the client left early."""

    connection: int
    headers: dict[str, str]
    body: dict[str, Any]
    was_cancelled: bool = False


class OpenAiServer:
    """``base_url`` is what a client is configured with; ``requests`` are all that arrived, in order."""

    def __init__(self, script: Script, api_key: str | None) -> None:
        self._script = script
        self._api_key = api_key
        self._answered = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self.base_url = ""
        self.connections = 0
        self.requests: list[Received] = []

    def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection: requests follow each other; the end of the input cancels the answer under way."""
        self.connections += 1
        number = self.connections
        answering: asyncio.Task[None] | None = None
        try:
            while True:
                request = await _read_request(reader)
                if answering is not None:
                    if request is None:
                        answering.cancel()
                    await asyncio.gather(answering, return_exceptions=True)
                if request is None:
                    return
                answering = asyncio.create_task(self._answer(number, *request, writer))
        finally:
            if answering is not None:
                answering.cancel()
                await asyncio.gather(answering, return_exceptions=True)
            writer.close()

    async def _answer(
        self, number: int, line: str, headers: dict[str, str], raw: bytes, writer: asyncio.StreamWriter
    ) -> None:
        received = Received(number, headers, _json_object(raw) or {})
        self.requests.append(received)
        reply = self._reply(line, received, raw)
        try:
            if isinstance(reply, Refusal):
                await asyncio.sleep(reply.after_s)
                await _send_error(writer, reply)
            else:
                await _send_stream(writer, reply, received.body)
        except asyncio.CancelledError:
            received.was_cancelled = True
            raise
        except ConnectionError:
            received.was_cancelled = True

    def _reply(self, line: str, received: Received, raw: bytes) -> Reply:
        method, target = line.split(" ")[:2]
        if method != "POST" or target.partition("?")[0] != "/v1/chat/completions":
            return Refusal(404, "unknown_url", f"Unknown request URL: {method} {target}.")
        if self._api_key is not None and received.headers.get("authorization") != f"Bearer {self._api_key}":
            return UNAUTHORIZED
        if _json_object(raw) is None:
            return Refusal(400, None, "We could not parse the JSON body of your request.")
        if (broken := refusal_of(received.body)) is not None:
            return Refusal(400, broken.code, broken.message, param=broken.param)
        if callable(self._script):
            return self._script(received.body)
        self._answered += 1
        return self._script[min(self._answered, len(self._script)) - 1]


@asynccontextmanager
async def serve_openai(
    script: Script, host: str = "127.0.0.1", port: int = 0, *, api_key: str | None = None
) -> AsyncIterator[OpenAiServer]:
    """Serve until the block ends. With ``api_key``, any other key gets the vendor's 401."""
    server = OpenAiServer(script, api_key)
    listener = await asyncio.start_server(server.accept, host, port)
    server.base_url = f"http://{host}:{listener.sockets[0].getsockname()[1]}/v1"
    try:
        yield server
    finally:
        listener.close()
        await server.stop()
        await listener.wait_closed()


# -- HTTP ----------------------------------------------------------------------------------------------------------


async def _read_request(reader: asyncio.StreamReader) -> tuple[str, dict[str, str], bytes] | None:
    """Request line, headers by lower-case name and body; None when the client has closed."""
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        line, *rest = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (entry.partition(":") for entry in rest)}
        length = min(int(headers.get("content-length", "0")), _MAX_BODY)
        return line, headers, await reader.readexactly(length)
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
        return None


def _json_object(raw: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(raw)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    reason = {**_REASONS, **_REASONS_MORE}.get(status, "Error")
    lines = [f"HTTP/1.1 {status} {reason}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def _send_error(writer: asyncio.StreamWriter, refusal: Refusal) -> None:
    error = {"message": refusal.message, "type": refusal.type, "param": refusal.param, "code": refusal.code}
    body = (refusal.body or json.dumps({"error": error}, indent=2)).encode()
    kind = "application/json" if refusal.body is None else "text/html"
    headers = {"content-type": kind, "content-length": str(len(body)), "x-request-id": "req_lab", **refusal.headers}
    writer.write(_head(refusal.status, headers) + body)
    await writer.drain()


async def _send_stream(writer: asyncio.StreamWriter, answer: Answer, body: Mapping[str, Any]) -> None:
    headers = {
        "content-type": "text/event-stream; charset=utf-8",
        "transfer-encoding": "chunked",
        "cache-control": "no-cache, must-revalidate",
        "x-request-id": "req_lab",
    }
    await asyncio.sleep(answer.first_token_s)
    writer.write(_head(200, headers))
    async for event in _events(answer, body):
        if event is None:
            writer.transport.abort()
            return
        _write_chunk(writer, event)
        await writer.drain()
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _write_chunk(writer: asyncio.StreamWriter, data: str) -> None:
    payload = f"data: {data}\n\n".encode()
    writer.write(f"{len(payload):x}\r\n".encode() + payload + b"\r\n")


# -- events --------------------------------------------------------------------------------------------------------


async def _events(answer: Answer, body: Mapping[str, Any]) -> AsyncGenerator[str | None, None]:
    """The ``data`` of every event; None cuts the connection."""
    has_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    base = {
        "id": "chatcmpl-lab",
        "object": "chat.completion.chunk",
        "created": 1_760_000_000,
        "model": body.get("model"),
        "service_tier": "default",
        "system_fingerprint": "fp_lab",
        **({"usage": None} if has_usage else {}),
    }
    count = 0
    deltas = _deltas(answer)
    for delta in deltas[: answer.fault.after if answer.fault else None]:
        yield _chunk(base, delta, None)
        count += 1
        await asyncio.sleep(answer.token_s)
    if answer.fault is not None:
        async for event in _fault_events(answer.fault):
            yield event
        return
    yield _chunk(base, {}, answer.finish_reason or ("tool_calls" if answer.calls else "stop"))
    if has_usage and answer.sends_usage:
        prompt = sum(len(str(message.get("content") or "").split()) for message in body.get("messages") or ())
        usage = {"prompt_tokens": prompt, "completion_tokens": count, "total_tokens": prompt + count}
        yield json.dumps({**base, "choices": [], "usage": usage})
    yield "[DONE]"


async def _fault_events(fault: Fault) -> AsyncGenerator[str | None, None]:
    if fault.kind == "stall":
        await asyncio.Event().wait()
    elif fault.kind == "cut":
        yield None
    elif fault.kind == "malformed":
        yield '{"id": "chatcmpl-lab", "object": "chat.compl'
    elif fault.kind == "error_event":
        error = {"message": "The server had an error.", "type": "server_error", "param": None, "code": None}
        yield json.dumps({"error": error})


def _chunk(base: Mapping[str, Any], delta: Mapping[str, Any], finish_reason: str | None) -> str:
    choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
    return json.dumps({**base, "choices": [choice], "obfuscation": "x" * (len(str(delta)) % 7)})


def _deltas(answer: Answer) -> list[dict[str, Any]]:
    first = {"role": "assistant", "content": "" if answer.text else None, "refusal": None}
    words = answer.text.split(" ") if answer.text else []
    deltas: list[dict[str, Any]] = [first]
    deltas += [{"content": word if index == 0 else f" {word}"} for index, word in enumerate(words)]
    for index, (name, arguments) in enumerate(answer.calls):
        text = arguments if isinstance(arguments, str) else json.dumps(arguments)
        function = {"name": name, "arguments": ""}
        call = {"index": index, "id": f"call_lab{index}", "type": "function", "function": function}
        deltas.append({"tool_calls": [call]})
        deltas += [
            {"tool_calls": [{"index": index, "function": {"arguments": text[at : at + _ARGUMENT_PIECE]}}]}
            for at in range(0, len(text), _ARGUMENT_PIECE)
        ]
    return deltas
