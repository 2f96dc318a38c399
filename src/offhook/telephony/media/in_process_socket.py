"""A media socket without a network: two ends in one process, for the sandbox's phones and for tests."""

import asyncio
from collections import deque
from typing import Literal

from offhook.kit.media_sockets.sockets import LOST, NORMAL, MessageReceiver

_Kind = Literal["text", "binary"]


class PipeEnd:
    """One end of the pipe. Implements ``PushSocket``. Messages are delivered in order, never inside the call that
    sends them."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._other: PipeEnd | None = None
        self._receiver: MessageReceiver | None = None
        self._waiting: deque[tuple[_Kind, bytes]] = deque()
        self._close_reason: tuple[int, str] | None = None
        self._closed = asyncio.Event()

    async def open(self, receiver: MessageReceiver) -> "PipeEnd":
        """Sets the receiver of this end's messages and delivers those that arrived before."""
        self._receiver = receiver
        self._loop.call_soon(self._flush_waiting)
        return self

    def send_text(self, utf8: bytes) -> None:
        self._send_soon("text", utf8)

    def send_binary(self, payload: bytes) -> None:
        self._send_soon("binary", payload)

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        """Closes both ends after everything sent before has been delivered."""
        if self._other is not None and self._close_reason is None:
            self._loop.call_soon(self._other.set_closed, code, reason)
            self.set_closed(code, reason)

    def drop_connection(self) -> None:
        """Drops the connection without a close handshake, as a broken network does."""
        if self._other is not None:
            self._loop.call_soon(self._other.set_closed, LOST, "")
            self.set_closed(LOST, "")

    async def wait_closed(self) -> None:
        await self._closed.wait()

    def _send_soon(self, kind: _Kind, payload: bytes) -> None:
        if self._other is not None and self._close_reason is None:
            self._loop.call_soon(self._other.receive_from_peer, kind, payload)

    def receive_from_peer(self, kind: _Kind, payload: bytes) -> None:
        """Queues a message. Called by the other end only."""
        if self._receiver is None:
            self._waiting.append((kind, payload))
        elif self._close_reason is None:
            self._deliver_message(kind, payload)

    def _flush_waiting(self) -> None:
        while self._waiting:
            self._deliver_message(*self._waiting.popleft())
        if self._close_reason is not None:
            self._notify_closed()

    def _deliver_message(self, kind: _Kind, payload: bytes) -> None:
        assert self._receiver is not None
        if kind == "text":
            self._receiver.on_text(payload.decode())
        else:
            self._receiver.on_binary(payload)

    def set_closed(self, code: int, reason: str) -> None:
        """Marks this end as closed. Called by the other end, and by this one when it closes."""
        if self._close_reason is None:
            self._close_reason = (code, reason)
            self._notify_closed()

    def _notify_closed(self) -> None:
        if self._receiver is not None and self._close_reason is not None and not self._closed.is_set():
            self._closed.set()
            self._receiver.on_closed(*self._close_reason)


def create_pipe() -> tuple[PipeEnd, PipeEnd]:
    """Returns two connected ends."""
    one, two = PipeEnd(), PipeEnd()
    one._other, two._other = two, one  # noqa: SLF001 - only the two ends know each other
    return one, two
