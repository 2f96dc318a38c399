"""Push sockets: a callback per message instead of ASGI's queue and two context switches (see
``media_socket_protocol``).

``open_socket`` returns the fast kind when the server offers it and the plain ASGI kind otherwise (a test client,
another server), so that nothing above this module knows the difference.
"""

import asyncio
import contextlib
from collections import deque
from typing import Any, Final, Protocol

from starlette.responses import JSONResponse
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from offhook.errors import DomainError

EXTENSION: Final = "offhook.socket"
STALL_TIMEOUT_S: Final = 2.0
NORMAL: Final = 1000
GOING_AWAY: Final = 1001
UNREADABLE: Final = 1007
POLICY: Final = 1008
TOO_BIG: Final = 1009
LOST: Final = 1006


def fit_reason(reason: str) -> str:
    """Cuts a reason to fit a close frame: 120 bytes of whole characters. Reasons may quote what a peer sent."""
    return reason.encode(errors="replace")[:120].decode(errors="ignore")


class MessageReceiver(Protocol):
    """Receives the messages. Plain functions that never block; they may close the socket."""

    def on_text(self, text: str) -> None: ...

    def on_binary(self, payload: bytes) -> None: ...

    def on_closed(self, code: int, reason: str) -> None:
        """Handles the end; called exactly once, whichever side closed it; 1006 when the line was cut."""
        ...


class PushSocket(Protocol):
    """One socket. Sending never blocks and never awaits; a peer that reads nothing for 2 s is cut off."""

    def send_text(self, utf8: bytes) -> None: ...

    def send_binary(self, payload: bytes) -> None: ...

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Closes with a code and a reason, of which 120 bytes are sent; idempotent."""
        ...

    async def wait_closed(self) -> None: ...


async def open_socket(websocket: WebSocket, receiver: MessageReceiver, *, max_message_bytes: int) -> PushSocket:
    """Accepts the handshake and passes its messages to the receiver. Larger messages close the socket with 1009.

    If the peer left before the handshake finished, the line counts as cut: ``on_closed`` is called before this
    returns.
    """
    try:
        await websocket.accept()
    except (WebSocketDisconnect, OSError):
        receiver.on_closed(LOST, "")
        return GoneSocket()
    offer: dict[str, Any] | None = websocket.scope.get("extensions", {}).get(EXTENSION)
    if offer is not None:
        socket: PushSocket = offer["socket"].take_over(receiver, max_message_bytes)
        return socket
    return AsgiSocket(websocket, receiver, max_message_bytes)


async def refuse_socket(websocket: WebSocket, error: DomainError, *, close_code: int) -> None:
    """Refuses a handshake that is not accepted yet with the error's HTTP status, or with ``close_code`` where the server
    cannot answer a handshake."""
    with contextlib.suppress(WebSocketDisconnect, OSError):  # the peer is gone and needs no answer
        if "websocket.http.response" in websocket.scope.get("extensions", {}):
            answer = JSONResponse({"detail": error.message, "code": error.code}, error.status, error.headers)
            await websocket.send_denial_response(answer)
        else:
            await websocket.close(close_code, error.code)


class GoneSocket:
    """A socket whose peer is gone."""

    def send_text(self, utf8: bytes) -> None:
        return None

    def send_binary(self, payload: bytes) -> None:
        return None

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        return None

    async def wait_closed(self) -> None:
        return None


class AsgiSocket:
    """A media socket over ASGI messages: one task reads, one writes a bounded queue."""

    def __init__(
        self, websocket: WebSocket, receiver: MessageReceiver, max_message_bytes: int, *, max_queued: int = 500
    ) -> None:
        self._websocket = websocket
        self._receiver = receiver
        self._max = max_message_bytes
        self._max_queued = max_queued
        self._outgoing: deque[tuple[str, bytes]] = deque()
        self._changed = asyncio.Event()
        self._close_request: tuple[int, str] | None = None
        self._closed = asyncio.Event()
        self._reader = asyncio.create_task(self._read_messages())
        self._writer = asyncio.create_task(self._write_messages())

    def send_text(self, utf8: bytes) -> None:
        self._enqueue_message("text", utf8)

    def send_binary(self, payload: bytes) -> None:
        self._enqueue_message("bytes", payload)

    def _enqueue_message(self, kind: str, payload: bytes) -> None:
        if self._close_request is not None or self._closed.is_set():
            return
        if len(self._outgoing) >= self._max_queued:
            self.close(POLICY, "the peer does not read")
            return
        self._outgoing.append((kind, payload))
        self._changed.set()

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        if self._close_request is None:
            self._close_request = (code, fit_reason(reason))
            self._changed.set()

    async def wait_closed(self) -> None:
        await self._closed.wait()

    async def _read_messages(self) -> None:
        code, reason = LOST, ""
        try:
            while True:
                message = await self._websocket.receive()
                if message["type"] == "websocket.disconnect":
                    code, reason = int(message.get("code") or LOST), str(message.get("reason") or "")
                    break
                if self._close_request is None:
                    self._deliver_message(message.get("text"), message.get("bytes"))
        except (WebSocketDisconnect, RuntimeError) as error:
            reason = str(error)
        finally:
            self._writer.cancel()
            if not self._closed.is_set():
                self._closed.set()
                self._receiver.on_closed(*(self._close_request or (code, reason)))

    def _deliver_message(self, text: str | None, payload: bytes | None) -> None:
        size = len(text) if text is not None else len(payload or b"")
        if size > self._max:
            self.close(TOO_BIG, f"a message may have {self._max} bytes")
        elif text is not None:
            self._receiver.on_text(text)
        elif payload is not None:
            self._receiver.on_binary(payload)

    async def _write_messages(self) -> None:
        with contextlib.suppress(WebSocketDisconnect, RuntimeError, TimeoutError):
            while True:
                await self._changed.wait()
                self._changed.clear()
                while self._outgoing:
                    kind, payload = self._outgoing.popleft()
                    async with asyncio.timeout(STALL_TIMEOUT_S):
                        if kind == "text":
                            await self._websocket.send_text(payload.decode())
                        else:
                            await self._websocket.send_bytes(payload)
                if self._close_request is not None:
                    break
            if self._websocket.application_state is WebSocketState.CONNECTED:
                await self._websocket.close(*self._close_request)
                # the reader sees the peer's close frame; without one the line is dropped
                await asyncio.sleep(STALL_TIMEOUT_S)
        self._reader.cancel()
