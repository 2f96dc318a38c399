"""A carrier's REST side: addresses, a record of what came, and answers that go wrong by switch."""

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

from offhook.kit.tasks import Tasks
from offhook.lab.carriers.core.chaos import Chaos, RestFault
from offhook.lab.http import head, read_request
from offhook.lab.sse import json_object


@dataclass(slots=True)
class Request:
    """One request as it came. ``path`` is decoded and without its query; ``status`` is what it was answered, None
    when it was not; ``parts`` are the path's."""

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
        """The body as a JSON object; empty when it is none."""
        return json_object(self.body) or {}

    def field(self, name: str) -> str | None:
        """A form field's or query parameter's first value."""
        return next(iter(self.form.get(name) or self.query.get(name) or ()), None)

    def basic(self) -> tuple[str, str] | None:
        """User and password of Basic authentication."""
        scheme, _, encoded = self.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return None
        try:
            user, colon, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return None
        return (user, password) if colon else None

    def bearer(self) -> str | None:
        scheme, _, token = self.headers.get("authorization", "").partition(" ")
        return token.strip() if scheme.lower() == "bearer" else None


@dataclass(slots=True)
class Reply:
    """An answer: a ``body`` that is not text is sent as JSON; None sends nothing."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "application/json"

    def raw(self) -> bytes:
        if self.body is None:
            return b""
        return self.body.encode() if isinstance(self.body, str) else json.dumps(self.body).encode()


Handler = Callable[[Request], Awaitable[Reply]]
# The lab's own addresses, which need no key.
LAB_PATH: Final = "/lab"
_HOLE = re.compile(r"\{(\w+)\}")


class RestServer:
    """``requests`` are all that came. ``guard`` refuses before a handler is asked (401, 429); ``missing`` is the answer
    to an unknown address."""

    def __init__(self, chaos: Chaos) -> None:
        self._chaos = chaos
        self._routes: list[tuple[str, re.Pattern[str], Handler]] = []
        self._connections = Tasks()
        self.requests: list[Request] = []
        self.base_url = ""

    def route(self, method: str, path: str, handler: Handler) -> None:
        """``path`` with holes: ``/v2/calls/{id}``; a hole takes anything but a slash."""
        parts = _HOLE.split(path)
        pattern = "".join(f"(?P<{part}>[^/]+)" if number % 2 else re.escape(part) for number, part in enumerate(parts))
        self._routes.append((method, re.compile(pattern), handler))

    def sent_to(self, method: str, path: str) -> list[Request]:
        """The requests with this method whose path contains ``path``."""
        return [request for request in self.requests if request.method == method and path in request.path]

    # what a carrier decides

    def guard(self, request: Request) -> Reply | None:
        """What is refused of any request; None lets it pass."""
        raise LookupError("a carrier says who may ask")

    def missing(self, request: Request) -> Reply:
        return Reply(404, {"message": "not found"})

    def rate_limited(self) -> Reply:
        return Reply(429, {"message": "too many requests"})

    def server_error(self) -> Reply:
        return Reply(500, {"message": "internal error"})

    # serving

    @asynccontextmanager
    async def listening(self, host: str, port: int) -> AsyncIterator[None]:
        listener = await asyncio.start_server(self._accept, host, port)
        self.base_url = f"http://{host}:{listener.sockets[0].getsockname()[1]}"
        try:
            yield
        finally:
            listener.close()
            await self._connections.close()
            await listener.wait_closed()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._connections.start(self._serve(reader, writer), name="lab.rest")

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (incoming := await read_request(reader)) is not None:
                request = _parsed(*incoming)
                self.requests.append(request)
                reply = await self._answered(request)
                if reply is None:
                    writer.transport.abort()
                    return
                request.status = reply.status
                raw = reply.raw()
                own = {"content-type": reply.content_type} if raw else {}
                writer.write(head(reply.status, {**own, "content-length": str(len(raw)), **reply.headers}) + raw)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def _answered(self, request: Request) -> Reply | None:
        if request.path.startswith(f"{LAB_PATH}/"):
            return await self._handled(request)
        fault = self._chaos.for_request(request.method, request.path)
        if fault is not None and (refusal := await self._refused(fault)) is not None:
            return refusal
        reply = self.guard(request) or await self._handled(request)
        if fault is None or reply.status >= 400:
            return reply
        if fault.what == "acts_then_silent":
            return None
        if fault.what == "acts_slowly":
            await fault.pause()
            return reply
        return self.server_error()

    async def _refused(self, fault: RestFault) -> Reply | None:
        if fault.what == "hangs":
            await asyncio.Event().wait()
        if fault.what == "rate_limited":
            return self.rate_limited()
        return self.server_error() if fault.what == "server_error" else None

    async def _handled(self, request: Request) -> Reply:
        for method, pattern, handler in self._routes:
            if method == request.method and (found := pattern.fullmatch(request.path)):
                request.parts = found.groupdict()
                return await handler(request)
        return self.missing(request)


def _parsed(line: str, headers: dict[str, str], body: bytes) -> Request:
    method, target = line.split(" ")[:2]
    url = urlsplit(target)
    query = parse_qs(url.query, keep_blank_values=True)
    return Request(method, unquote(url.path), query, headers, body, asyncio.get_running_loop().time())
