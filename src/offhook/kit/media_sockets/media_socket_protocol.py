"""WebSockets for live audio: uvicorn's own protocol until the handshake is over, a bare RFC 6455 loop after it.

Routing, authentication and refusals go through ASGI as for every other path. An endpoint that carries audio then
takes over the connection (``offhook.kit.media_sockets.sockets.open_socket``): from there each message is one
function call, without a queue, a task switch, read pausing or compression. Measured in docs/performance.md. Enable
it with ``uvicorn.Config(ws=MediaSocketProtocol)``.
"""

import asyncio
import struct
from asyncio import TimerHandle
from collections.abc import Callable
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from uvicorn.server import ServerState
from websockets.frames import CloseCode
from websockets.http11 import Request

from offhook.kit.media_sockets.frames import (
    BINARY,
    CLOSE,
    PING,
    PONG,
    TEXT,
    FrameError,
    FrameReader,
    SocketMessage,
    encode_frame,
)
from offhook.kit.media_sockets.sockets import (
    EXTENSION,
    GOING_AWAY,
    LOST,
    NORMAL,
    POLICY,
    STALL_TIMEOUT_S,
    MessageReceiver,
    fit_reason,
)

PING_INTERVAL_S: Final = 20.0
CLOSE_TIMEOUT_S: Final = 3.0
# One second of audio: if more is unsent, the peer has stopped reading.
MAX_UNSENT_BYTES: Final = 32 * 1024

# A carrier sends 50 messages a second, and what it could not send for some seconds at once. Each is handled before
# anything else happens in the process.
MAX_FRAMES_PER_S: Final = 500
MAX_BURST_FRAMES: Final = 2000

_FATAL: Final = frozenset({int(CloseCode.PROTOCOL_ERROR)})


class MediaSocketProtocol(WebSocketsSansIOProtocol):
    """uvicorn's protocol class, and after :meth:`take_over` a :class:`~offhook.kit.media_sockets.sockets.PushSocket`."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        # compressing base64 audio costs more CPU than the rest of a call
        self.conn.available_extensions = []
        self._receiver: MessageReceiver | None = None
        self._reader = FrameReader(0)
        self._last_read_at = 0.0
        self._over = asyncio.Event()
        self._was_heard = True
        self._is_broken = False
        self._fast_timer: TimerHandle | None = None
        self._stall_timer: TimerHandle | None = None
        self._is_taken = False
        self.on_lost: Callable[[], None] | None = None

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["extensions"][EXTENSION] = {"socket": self}

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            # an HTTP refusal is a response too: without this, uvicorn logs an error for every wrong token
            self.handshake_complete = True

    def take_over(self, receiver: MessageReceiver, max_message_bytes: int) -> "MediaSocketProtocol":
        """Passes every further message to the receiver. Call it right after the handshake was accepted."""
        self._is_taken = True
        self._receiver = receiver
        self._reader = FrameReader(max_message_bytes, MAX_BURST_FRAMES)
        self._last_read_at = self.loop.time()
        self.stop_keepalive()
        if self.disconnected or self.transport.is_closing():
            # the peer left during the handshake, which is not an application error
            self.handshake_complete = True
            self._over.set()
            self._report_closed(LOST, "")
            return self
        self.transport.set_write_buffer_limits(high=MAX_UNSENT_BYTES)
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self._fast_timer = self.loop.call_later(PING_INTERVAL_S, self._keep_alive)
        return self

    # asyncio.Protocol

    def data_received(self, data: bytes) -> None:
        if not self._is_taken:
            super().data_received(data)
            if self.conn.handshake_exc is not None and not self.handshake_initiated:
                self._refuse_handshake()
            return
        self._was_heard = True
        if self._is_broken:
            return
        now = self.loop.time()
        regained = (now - self._last_read_at) * MAX_FRAMES_PER_S
        self._reader.frames_left = min(MAX_BURST_FRAMES, self._reader.frames_left + regained)
        self._last_read_at = now
        single = self._reader.read_single(data)
        if single is not None:
            if not self.close_sent:
                self._deliver_text(single)
            return
        for item in self._reader.feed(data):
            if isinstance(item, FrameError) and item.code == POLICY:
                self._is_broken = True
                self._cut_off(item.reason)
            elif isinstance(item, FrameError):
                self._is_broken = item.code in _FATAL
                self.close(item.code, item.reason)
            elif item.opcode == CLOSE:
                self._on_peer_close(item.payload)
                return
            elif not self.close_sent:
                self._deliver_message(item)

    def _refuse_handshake(self) -> None:
        """Responds to a request that could not be read (414, 431); uvicorn would leave the client waiting."""
        self.handshake_complete = self.close_sent = True
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.transport.close()

    def _deliver_message(self, message: SocketMessage) -> None:
        receiver = self._receiver
        if receiver is None:
            return
        if message.opcode == TEXT:
            self._deliver_text(message.payload)
        elif message.opcode == BINARY:
            receiver.on_binary(message.payload)
        elif message.opcode == PING:
            self._write_frame(PONG, message.payload)

    def _deliver_text(self, payload: bytes) -> None:
        if self._receiver is None:
            return
        try:
            text = str(payload, "utf-8")
        except UnicodeDecodeError:
            self.close(CloseCode.INVALID_DATA, "text is not UTF-8")
            return
        self._receiver.on_text(text)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()
        self._cancel_timers()
        self._over.set()
        self._report_closed(LOST, "")

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._is_taken and self._stall_timer is None:
            self._stall_timer = self.loop.call_later(STALL_TIMEOUT_S, self._on_stall)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stall_timer is not None:
            self._stall_timer.cancel()
            self._stall_timer = None

    def shutdown(self) -> None:
        if not self._is_taken:
            super().shutdown()
            return
        self.close(GOING_AWAY, "the server stops")

    # PushSocket

    def send_text(self, utf8: bytes) -> None:
        self._write_frame(TEXT, utf8)

    def send_binary(self, payload: bytes) -> None:
        self._write_frame(BINARY, payload)

    def _write_frame(self, opcode: int, payload: bytes) -> None:
        if not self.close_sent and not self.disconnected:
            self.transport.write(encode_frame(opcode, payload))

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        if self.close_sent or self.disconnected:
            return
        self._write_frame(CLOSE, struct.pack("!H", code) + fit_reason(reason).encode())
        self.close_sent = True
        self._cancel_timers()
        self._fast_timer = self.loop.call_later(CLOSE_TIMEOUT_S, self.transport.close)
        self._report_closed(code, reason)

    async def wait_closed(self) -> None:
        # not before the line itself is down: uvicorn cuts the connection when the endpoint returns, and with bytes
        # still unread that would be a reset, which discards our close frame
        await self._over.wait()

    # inside

    def _on_peer_close(self, payload: bytes) -> None:
        code, reason = 1005, ""
        if len(payload) >= 2:
            code, reason = int.from_bytes(payload[:2], "big"), payload[2:].decode(errors="replace")
        if not self.close_sent:
            self._write_frame(CLOSE, payload[:2])
            self.close_sent = True
        self._cancel_timers()
        self._report_closed(code, reason)
        self.transport.close()

    def _keep_alive(self) -> None:
        if not self._was_heard:
            self.close(CloseCode.INTERNAL_ERROR, "keepalive ping timeout")
            return
        self._was_heard = False
        self._write_frame(PING, b"")
        self._fast_timer = self.loop.call_later(PING_INTERVAL_S, self._keep_alive)

    def _on_stall(self) -> None:
        self._cut_off("the peer does not read")

    def _cut_off(self, reason: str) -> None:
        self._cancel_timers()
        self.close_sent = True
        self._report_closed(POLICY, reason)
        self.transport.abort()

    def _cancel_timers(self) -> None:
        for timer in (self._fast_timer, self._stall_timer):
            if timer is not None:
                timer.cancel()
        self._fast_timer = self._stall_timer = None

    def _report_closed(self, code: int, reason: str) -> None:
        receiver, self._receiver = self._receiver, None
        if receiver is not None:
            receiver.on_closed(code, reason)
