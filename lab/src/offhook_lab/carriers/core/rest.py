"""A carrier's REST side: routes, a record of requests, and faulty responses by switch."""

import asyncio
import base64
import binascii
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

from offhook.kit.tasks import TaskTracker
from offhook_lab.carriers.core.chaos import ChaosSwitches, RestFault
from offhook_lab.http import encode_head, read_request
from offhook_lab.sse import parse_json_object


@dataclass(slots=True)
class RestRequest:
    """One request as it arrived. ``path`` is decoded and without its query; ``status`` is its response's, None
    without one; ``parts`` are the path's."""

    method: str
    path: str
    query: dict[str, list[str]]
    headers: dict[str, str]
    body: bytes
    at: float
    parts: dict[str, str] = field(default_factory=dict)
    status: int | None = None

    @property
    def form(self) -> dict[str, list[str]]:
        return parse_qs(self.body.decode("utf-8", "replace"), keep_blank_values=True)

    @property
    def json(self) -> dict[str, Any]:
        """Returns the body as a JSON object; an empty one when it is none."""
        return parse_json_object(self.body) or {}

    def first_value(self, name: str) -> str | None:
        """Returns the first value of a form field or query parameter."""
        return next(iter(self.form.get(name) or self.query.get(name) or ()), None)

    def basic_credentials(self) -> tuple[str, str] | None:
        """Returns user and password of Basic authentication."""
        scheme, _, encoded = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            user, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        return (user, password) if colon else None

    def bearer_token(self) -> str | None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None


@dataclass(slots=True)
class RestReply:
    """A response: a ``body`` that is not text is sent as JSON; None sends nothing."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"

    def encode_body(self) -> bytes:
        if self.body is None:
            return b""
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


Handler = Callable[[RestRequest], Awaitable[RestReply]]
# The lab's own endpoints, which need no key.
LAB_PATH: Final = "/lab"
_HOLE = re.compile(r"\{(\w+)\}")


class RestServer:
    """Serves a carrier's REST API. ``requests`` are all that arrived. ``guard`` refuses before a handler runs (401,
    429); ``missing`` is the response to an unknown path."""

    def __init__(self, chaos: ChaosSwitches) -> None:
        self._chaos = chaos
        self._routes: list[tuple[str, re.Pattern[str], Handler]] = []
        self._connections = TaskTracker()
        self.requests: list[RestRequest] = []
        self.base_url = ""

    def add_route(self, method: str, path: str, handler: Handler) -> None:
        """Adds a route. ``path`` has placeholders: ``/v2/calls/{id}``; a placeholder matches anything but a slash."""
        parts = _HOLE.split(path)
        pattern = "".join(f"(?P<{part}>[^/]+)" if number % 2 else re.escape(part) for number, part in enumerate(parts))
        self._routes.append((method, re.compile(pattern), handler))

    def sent_to(self, method: str, path: str) -> list[RestRequest]:
        """Returns the requests with this method whose path contains ``path``."""
        return [request for request in self.requests if request.method == method and path in request.path]

    # carrier-specific parts

    def check_request(self, request: RestRequest) -> RestReply | None:
        """Returns the refusal of a request; None lets it pass."""
        raise LookupError("a carrier says who may ask")

    def not_found_reply(self, request: RestRequest) -> RestReply:
        return RestReply(404, {"message": "not found"})

    def rate_limited(self) -> RestReply:
        return RestReply(429, {"message": "too many requests"})

    def server_error(self) -> RestReply:
        return RestReply(500, {"message": "internal error"})

    # serving

    @asynccontextmanager
    async def serve_rest(self, host: str, port: int) -> AsyncIterator[None]:
        listener = await asyncio.start_server(self._accept_connection, host, port)
        self.base_url = f"http://{host}:{listener.sockets[0].getsockname()[1]}"
        try:
            yield
        finally:
            listener.close()
            await self._connections.close()
            await listener.wait_closed()

    def _accept_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.start(self._serve_connection(reader, writer), name="lab.rest")

    async def _serve_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (incoming := await read_request(reader)) is not None:
                request = _parsed(*incoming)
                self.requests.append(request)
                reply = await self._answer_request(request)
                if reply is None:
                    writer.transport.abort()
                    return
                request.status = reply.status
                raw = reply.encode_body()
                own = {"content-type": reply.content_type} if raw else {}
                writer.write(encode_head(reply.status, {**own, "content-length": str(len(raw)), **reply.headers}) + raw)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _answer_request(self, request: RestRequest) -> RestReply | None:
        if request.path.startswith(f"{LAB_PATH}/"):
            return await self._dispatch_request(request)
        fault = self._chaos.for_request(request.method, request.path)
        if fault is not None and (refusal := await self._apply_fault(fault)) is not None:
            return refusal
        reply = self.check_request(request) or await self._dispatch_request(request)
        if fault is None or reply.status >= 400:
            return reply
        if fault.what == "acts_then_silent":
            if fault.until is not None:
                await fault.until.wait()
            return None
        if fault.what == "acts_slowly":
            await fault.pause()
            return reply
        return self.server_error()

    async def _apply_fault(self, fault: RestFault) -> RestReply | None:
        if fault.what == "hangs":
            await asyncio.Event().wait()
        if fault.what == "rate_limited":
            return self.rate_limited()
        return self.server_error() if fault.what == "server_error" else None

    async def _dispatch_request(self, request: RestRequest) -> RestReply:
        for method, pattern, handler in self._routes:
            if method == request.method and (found := pattern.fullmatch(request.path)):
                request.parts = found.groupdict()
                return await handler(request)
        return self.not_found_reply(request)


def _parsed(line: str, headers: dict[str, str], body: bytes) -> RestRequest:
    method, target = line.split(" ")[:2]
    url = urlsplit(target)
    query = parse_qs(url.query, keep_blank_values=True)
    return RestRequest(method, unquote(url.path), query, headers, body, asyncio.get_running_loop().time())
