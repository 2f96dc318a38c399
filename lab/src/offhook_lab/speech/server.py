"""Shared code of the vendors' emulators: a WebSocket server with a key, a record of requests, and faults by switch."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, Literal, Self
from urllib.parse import parse_qs, urlsplit

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from offhook.kit.audio import Samples
from offhook_lab.speech.tones import LEXICON, ToneLexicon

FaultKind = Literal["silent", "slow", "cut", "close", "stall", "garbage", "binary_garbage", "nested"]

NESTED = "[" * 50_000


@dataclass(slots=True)
class SpeechFault:
    """A fault of the next ``times`` handshakes, sentences or streams.

    silent: the handshake is never answered; slow: it (or the first audio) takes ``seconds``; cut: the connection is
    reset; close: it is closed with 1011; stall: nothing more is sent; garbage: text that is no JSON, then nothing; nested:
    brackets in brackets, deeper than JSON is read. cut to nested happen ``after`` pieces of audio (voices) or words (recognizers).
    """

    kind: FaultKind
    after: int = 0
    times: int = 1
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class HandshakeRefusal:
    """An HTTP response instead of the handshake."""

    status: int
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


# A vendor's recognizers and voices refuse with the same texts.
DEEPGRAM_REFUSALS: Final[Mapping[str, HandshakeRefusal]] = {
    "unauthorized": HandshakeRefusal(401, {"err_code": "INVALID_AUTH", "err_msg": "Invalid credentials."}),
    "forbidden": HandshakeRefusal(403, {"err_code": "INSUFFICIENT_PERMISSIONS", "err_msg": "This is not yours."}),
    "no_quota": HandshakeRefusal(402, {"err_code": "ASR_PAYMENT_REQUIRED", "err_msg": "The project has no credits."}),
    "rate_limited": HandshakeRefusal(
        429, {"err_code": "TOO_MANY_REQUESTS", "err_msg": "Too many requests."}, {"Retry-After": "3"}
    ),
    "not_found": HandshakeRefusal(400, {"err_code": "INVALID_QUERY_PARAMETER", "err_msg": "No such model."}),
    "server_error": HandshakeRefusal(503, {"err_code": "SERVICE_UNAVAILABLE", "err_msg": "Try again."}),
}


class ConnectionBroken(Exception):
    """The connection was broken on purpose."""


class LabServer(ABC):
    """One vendor's server. ``trouble`` names the refusal from now on: a key of ``refusals`` or a vendor-specific one.

    ``url`` is the URL that a client is configured with. ``requests`` are the handshakes' paths with queries;
    ``messages`` the clients' text messages, parsed.
    """

    path: ClassVar[str] = "/"
    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = {}

    def __init__(self, api_key: str = "lab-key", lexicon: ToneLexicon = LEXICON) -> None:
        self.api_key = api_key
        self.lexicon = lexicon
        self.url = ""
        # for voices: the audio of a text, when it is not tones
        self.say: Callable[[str, int], Awaitable[Samples]] | None = None
        self.trouble: str | None = None
        self.fault: SpeechFault | None = None
        self.requests: list[str] = []
        self.messages: list[dict[str, Any]] = []
        self.connections = 0
        self.closed = 0
        self._sockets: set[ServerConnection] = set()

    @asynccontextmanager
    async def running(self, host: str = "127.0.0.1", port: int = 0) -> AsyncIterator[Self]:
        """Serves until the block ends."""
        async with serve(
            self._run_connection,
            host,
            port,
            process_request=self._process_handshake,
            compression=None,
            ping_interval=None,
            close_timeout=0.1,
        ) as server:
            self.url = f"ws://{host}:{next(iter(server.sockets)).getsockname()[1]}"
            yield self
            for socket in list(self._sockets):
                socket.transport.abort()

    @property
    def base_url(self) -> str:
        """Returns the URL that a configuration takes."""
        return self.url.replace("ws", "http", 1)

    @property
    def is_connected(self) -> bool:
        return bool(self._sockets)

    def drop_connections(self) -> None:
        """Drops every connection, as a network fault does."""
        for socket in list(self._sockets):
            socket.transport.abort()

    # vendor-specific parts

    @abstractmethod
    def is_authorized(self, headers: Headers) -> bool:
        """Returns True if the handshake's key is right; vendors that complain later return True here."""

    @abstractmethod
    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        """Serves one connection until it ends."""

    # internals

    async def _process_handshake(self, connection: ServerConnection, request: Request) -> Response | None:
        self.requests.append(request.path)
        if self._take_fault_of("silent"):
            await asyncio.Event().wait()
        if (slow := self._take_fault_of("slow")) is not None:
            await asyncio.sleep(slow.seconds)
        name = None if self.is_authorized(request.headers) else "unauthorized"
        refusal = self.refusals.get(name or self.trouble or "")
        if refusal is None and not urlsplit(request.path).path.startswith(self.path):
            refusal = HandshakeRefusal(404, {"message": "no such path"})
        if refusal is None:
            return None
        response = connection.respond(refusal.status, json.dumps(refusal.body))
        del response.headers["Content-Type"]
        response.headers["Content-Type"] = "application/json"
        for header, value in refusal.headers.items():
            response.headers[header] = value
        return response

    async def _run_connection(self, socket: ServerConnection) -> None:
        self.connections += 1
        self._sockets.add(socket)
        assert socket.request is not None
        found = parse_qs(urlsplit(socket.request.path).query)
        try:
            await self.serve_connection(socket, {name: values[-1] for name, values in found.items()})
        except (ConnectionClosed, ConnectionBroken):
            pass
        finally:
            self._sockets.discard(socket)
            self.closed += 1

    def _take_fault_of(self, *kinds: FaultKind) -> SpeechFault | None:
        """Returns the fault if it is one of these and still pending."""
        fault = self.fault
        if fault is None or fault.kind not in kinds or fault.times <= 0:
            return None
        fault.times -= 1
        return fault

    def take_stream_fault(self) -> SpeechFault | None:
        return self._take_fault_of("cut", "close", "stall", "garbage", "binary_garbage", "nested")

    async def break_down(self, socket: ServerConnection, fault: SpeechFault) -> None:
        """Carries out the fault. Never returns normally."""
        if fault.kind == "cut":
            socket.transport.abort()
        elif fault.kind == "close":
            await socket.close(1011, "internal error")
        elif fault.kind == "garbage":
            await socket.send('{"type": "chu')
        elif fault.kind == "binary_garbage":
            await socket.send(b"\xff\xfe\x00garbage")
        elif fault.kind == "nested":
            await socket.send('{"type": ' + NESTED)
        if fault.kind in ("cut", "close"):
            raise ConnectionBroken
        await socket.wait_closed()
        raise ConnectionBroken

    def read_message(self, message: str | bytes) -> dict[str, Any]:
        found = json.loads(message)
        assert isinstance(found, dict)
        self.messages.append(found)
        return found


async def send_json(socket: ServerConnection, message: Mapping[str, Any]) -> None:
    await socket.send(json.dumps(message))
