"""A carrier's media socket: it connects to us, sends 20 ms frames, and plays received audio at their pace."""

import asyncio
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from offhook.kit.audio import FRAME_S
from offhook.telephony.media.simulated_phone import PlayoutBuffer
from offhook_lab.carriers.core.callbacks import ProxyTunnel, route_through
from offhook_lab.carriers.core.chaos import SocketFault

State = Literal["connecting", "open", "started", "over"]
CONNECT_TIMEOUT_S: Final = 15.0
_BYE: Final = None


class MediaStream(ABC):
    """Implements ``AudioPeer`` for one phone. ``received`` are our control messages (not audio); ``problems`` the
    messages that the carrier rejects; ``over`` is set when the socket is closed, ``close_code`` tells by whom."""

    def __init__(
        self, stream_id: str, url: str, *, tunnels: Sequence[ProxyTunnel] = (), fault: SocketFault | None = None
    ) -> None:
        self.id = stream_id
        self.url = url
        self.state: State = "connecting"
        self.received: list[dict[str, Any]] = []
        self.problems: list[str] = []
        self.marks: list[str] = []
        self.audio_messages = 0
        self.clears = 0
        self.frames_sent = 0
        self.close_code: int | None = None
        self.failure = ""
        self.is_ours_to_close = False
        self.opened = asyncio.Event()
        self.over = asyncio.Event()
        self.playout = PlayoutBuffer()
        self._tunnels = tunnels
        self._fault = fault
        self._outgoing: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self._socket: ClientConnection | None = None

    # carrier-specific parts

    def handshake_headers(self) -> Mapping[str, str]:
        """Returns the headers of the handshake."""
        return {}

    @abstractmethod
    def send_greeting(self) -> None:
        """Sends the messages before ``start``."""

    @abstractmethod
    def send_audio(self, mulaw: bytes) -> None: ...

    @abstractmethod
    def on_message(self, message: str | bytes) -> None:
        """Handles one message of ours."""

    @abstractmethod
    def send_mark(self, name: str) -> None: ...

    def send_digit(self, digit: str) -> None:  # noqa: B027 - a carrier may do without
        """Sends a digit; sockets of some carriers have no digits."""

    def send_stop(self) -> None:  # noqa: B027 - a carrier may do without
        """Sends a stop message; carriers without one just close."""

    # AudioPeer

    def exchange_frame(self, spoken: bytes) -> bytes | None:
        if self.state != "started":
            return None
        self.frames_sent += 1
        self.send_audio(spoken)
        if self._fault is not None and self.frames_sent * FRAME_S >= self._fault.after_s:
            self.drop_connection()
            return None
        frame = self.playout.take_frame()
        self._return_marks()
        return frame

    def press_digit(self, digit: str) -> None:
        if self.state == "started":
            self.send_digit(digit)

    def leave(self) -> None:
        """Stops, and closes after everything sent before, because the call continues without the socket or is over."""
        if self.state in ("open", "started"):
            if self.state == "started":
                self.send_stop()
            self.is_ours_to_close = True
            self.state = "over"
            self._outgoing.put_nowait(_BYE)
        elif self.state == "connecting":
            self.state = "over"
            self.over.set()

    def drop_connection(self) -> None:
        """Drops the connection without a close handshake."""
        if self._socket is not None:
            self._socket.transport.abort()

    # for carriers

    def queue_audio(self, mulaw: bytes) -> None:
        self.audio_messages += 1
        self.playout.add_audio(mulaw)

    def queue_mark(self, name: str) -> None:
        self.marks.append(name)
        self.playout.add_mark(name)
        self._return_marks()

    def clear_playout(self, *, returns_marks: bool) -> None:
        """Discards audio that was not played; its marks come back at once, or never."""
        self.clears += 1
        for name in self.playout.clear():
            if returns_marks:
                self.send_mark(name)

    def _return_marks(self) -> None:
        for name in self.playout.due_marks():
            self.send_mark(name)

    def send_message(self, message: Mapping[str, Any] | bytes) -> None:
        """Sends a text message as JSON, or a binary one."""
        self._outgoing.put_nowait(message if isinstance(message, bytes) else json.dumps(message))

    def parse_message(self, message: str | bytes) -> dict[str, Any]:
        """Returns a text message's object. A problem is recorded and returns an empty one."""
        try:
            found = json.loads(message) if isinstance(message, str) else None
        except ValueError:
            found = None
        if not isinstance(found, dict):
            self.problems.append(f"not a JSON object: {message[:60]!r}")
            return {}
        return found

    # the socket

    async def run(self) -> None:
        """Connects and reads until the end; ``failure`` is set when the connection failed."""
        if self._fault is not None and self._fault.after_s < 0:
            self._mark_over("the socket was never opened")
            return
        url, forwarded = route_through(self._tunnels, self.url)
        try:
            async with connect(
                url,
                additional_headers={**self.handshake_headers(), **{k: v for k, v in forwarded.items() if k != "Host"}},
                open_timeout=CONNECT_TIMEOUT_S,
                close_timeout=0.5,
                ping_interval=None,
                compression=None,
                proxy=None,
            ) as socket:
                self._socket = socket
                await self._exchange_messages(socket)
        except (OSError, InvalidHandshake, InvalidURI, TimeoutError) as error:
            self._mark_over(str(error) or type(error).__name__)
        finally:
            self._mark_over("")

    async def _exchange_messages(self, socket: ClientConnection) -> None:
        if self.state == "connecting":
            self.state = "open"
            self.opened.set()
            self.send_greeting()
        else:
            self._outgoing.put_nowait(_BYE)
        writer = asyncio.create_task(self._write_messages(socket))
        try:
            async for message in socket:
                if self.state != "over":
                    self.on_message(message)
        except ConnectionClosed:
            pass
        finally:
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            self.close_code = socket.close_code

    async def _write_messages(self, socket: ClientConnection) -> None:
        try:
            while (message := await self._outgoing.get()) is not _BYE:
                await socket.send(message)
            await socket.close()
        except ConnectionClosed:
            return

    def _mark_over(self, failure: str) -> None:
        if not self.over.is_set():
            self.failure = failure
            self.state = "over"
            self.opened.set()
            self.over.set()
