"""uvicorn's HTTP protocol under limits: headers and bodies that are too large, too slow or too many end with their
connection."""

import asyncio
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from offhook.kit.http.connection_limits import ConnectionGuard, Wait
from offhook.kit.media_sockets.media_socket_protocol import MediaSocketProtocol

_TIMED_OUT: Final = (408, "Request Timeout", "The request did not arrive in time.", "request_timeout")
_HEADERS_TOO_LARGE: Final = (431, "Request Header Fields Too Large", "The headers are too large.", "headers_too_large")
_TOO_MANY: Final = (503, "Service Unavailable", "Too many connections. Try again later.", "too_many_connections")


class _HeadersTooLarge(Exception):
    """Ends the parser in the middle of its input."""


class GuardedHttpProtocol(HttpToolsProtocol):
    """One HTTP connection; a :class:`~offhook.kit.http.connection_limits.GuardedConnection` of its guard."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
        *,
        guard: ConnectionGuard,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.received_bytes = 0
        self._guard = guard
        self._is_admitted = False
        self._is_too_large = False
        self._is_handed_over = False
        # What the parser is in the middle of, and what was fed to it since the last byte of a body.
        self._part: Wait | None = None
        self._overhead_bytes = 0
        self._feeding_bytes = 0

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._is_admitted = self._guard.admit(self._address)
        if self._is_admitted:
            self._guard.begin_wait(self, Wait.HEADERS)
        else:
            self._answer(*_TOO_MANY)

    def connection_lost(self, exc: Exception | None) -> None:
        self._release()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if not self._is_admitted or self.transport.is_closing():
            return
        self._feeding_bytes = len(data)
        super().data_received(data)
        if self.transport.is_closing() or self._is_handed_over:
            return
        self.received_bytes += len(data)
        self._overhead_bytes += self._feeding_bytes
        if self._overhead_bytes > self._guard.limits.header_bytes and self._part is not None:
            # headers, or trailers and extensions of chunks, which the parser keeps until they end
            self._answer(*_HEADERS_TOO_LARGE)
        elif self._part is not None:
            self._guard.begin_wait(self, self._part)
        elif self.cycle is None or self.cycle.response_complete:
            self._guard.begin_wait(self, Wait.HEADERS)  # blank lines before a request
        else:
            self._guard.end_wait(self)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._guard.begin_stall(self)

    def resume_writing(self) -> None:
        super().resume_writing()
        self._guard.end_stall(self)

    # the parser's callbacks

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._part = Wait.HEADERS
        self.received_bytes = self._overhead_bytes = 0

    def on_headers_complete(self) -> None:
        limit = self._guard.limits.header_bytes
        if self._overhead_bytes + self._feeding_bytes > limit:
            size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
            if size > limit:
                self._is_too_large = True
                raise _HeadersTooLarge
        self._part = Wait.BODY
        self.received_bytes = self._overhead_bytes = self._feeding_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._overhead_bytes = self._feeding_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._part = None
        self._feeding_bytes = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._part is None and not self.transport.is_closing() and self.timeout_keep_alive_task is not None:
            self._guard.begin_wait(self, Wait.REQUEST)

    def handle_websocket_upgrade(self) -> None:
        self._guard.forget(self)
        self._is_handed_over = True
        super().handle_websocket_upgrade()
        socket = self.transport.get_protocol()
        if isinstance(socket, MediaSocketProtocol):
            # the connection counts until it ends, which only its new protocol hears of
            socket.on_lost = self._release

    def send_400_response(self, msg: str) -> None:
        if self._is_too_large:
            self._answer(*_HEADERS_TOO_LARGE)
        else:
            super().send_400_response(msg)

    # GuardedConnection

    @property
    def is_reading_paused(self) -> bool:
        return self.flow.read_paused

    def time_out(self) -> None:
        if self._part is None:
            self.transport.close()  # nothing was asked: browsers open connections ahead of need
        else:
            self._answer(*_TIMED_OUT)

    def abort(self) -> None:
        self.transport.abort()

    # inside

    @property
    def _address(self) -> str | None:
        return self.client[0] if self.client is not None else None

    def _release(self) -> None:
        self._guard.forget(self)
        if self._is_admitted:
            self._is_admitted = False
            self._guard.release(self._address)

    def _answer(self, status: int, reason: str, detail: str, code: str) -> None:
        """Answers outside of the application and closes, unless a response is already on its way."""
        self._guard.forget(self)
        if self.cycle is None or self.cycle.response_complete or not self.cycle.response_started:
            body = b'{"detail":"%b","code":"%b"}' % (detail.encode(), code.encode())
            self.transport.write(
                b"HTTP/1.1 %d %b\r\ncontent-type: application/json\r\ncontent-length: %d\r\nretry-after: 5\r\n"
                b"connection: close\r\n\r\n%b" % (status, reason.encode(), len(body), body)
            )
        if self.cycle is not None:
            self.cycle.disconnected = True  # the application's own answer would follow ours
        self.transport.close()
