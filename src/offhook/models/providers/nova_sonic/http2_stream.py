"""One HTTP/2 request whose body and answer flow at the same time, over asyncio."""

import asyncio
import ssl
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Final, Protocol
from urllib.parse import urlsplit

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RemoteSettingsChanged,
    ResponseReceived,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import H2Error

from offhook.kit.egress import EgressError
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.network_route import NetworkRoute

# The vendor may send ahead by this much: a minute of speech as text of base 64.
WINDOW_BYTES: Final = 4 * 1024 * 1024


class Http2Receiver(Protocol):
    """Receives the answer. ``on_end`` is called once; ``reason`` is empty for an answer that is complete."""

    def on_response(self, status: int, headers: Mapping[str, str]) -> None: ...

    def on_data(self, data: bytes) -> None: ...

    def on_end(self, reason: str) -> None: ...


class Http2Stream(asyncio.Protocol):
    """A connection with one stream. Sending never blocks and never raises; on a closed one it does nothing."""

    def __init__(self, receiver: Http2Receiver) -> None:
        self._receiver: Http2Receiver | None = receiver
        self._http = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self._transport: asyncio.Transport | None = None
        self._stream_id = 0
        self._unsent = bytearray()
        self._is_last = False
        self._has_ended = False
        # the server speaks HTTP/2
        self.is_ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @property
    def is_open(self) -> bool:
        return self._receiver is not None and self._transport is not None

    def request(self, headers: Mapping[str, str]) -> None:
        """Sends the request's headers; its body follows by :meth:`send`."""
        self._stream_id = self._http.get_next_available_stream_id()
        self._http.send_headers(self._stream_id, list(headers.items()))
        self._http.increment_flow_control_window(WINDOW_BYTES, self._stream_id)
        self._flush()

    def send(self, data: bytes, *, is_last: bool = False) -> None:
        if not self.is_open or self._is_last:
            return
        self._unsent += data
        self._is_last = is_last
        try:
            self._send_allowed()
        except H2Error as error:
            self._end(f"the stream is closed ({type(error).__name__})")

    def _send_allowed(self) -> None:
        """Sends what the server's window allows; the rest goes when it opens."""
        while self._unsent:
            room = min(
                self._http.local_flow_control_window(self._stream_id),
                self._http.max_outbound_frame_size,
                len(self._unsent),
            )
            if room <= 0:
                break
            self._http.send_data(self._stream_id, bytes(self._unsent[:room]))
            del self._unsent[:room]
        if self._is_last and not self._unsent and not self._has_ended:
            self._http.end_stream(self._stream_id)
            self._has_ended = True
        self._flush()

    def _flush(self) -> None:
        if self._transport is not None and (data := self._http.data_to_send()):
            self._transport.write(data)

    def close(self) -> None:
        """Closes the connection; the receiver gets no further calls."""
        self._receiver = None
        if self._transport is not None:
            with suppress(H2Error):
                self._http.close_connection()
                self._flush()
            self._transport.close()

    def _end(self, reason: str) -> None:
        receiver, self._receiver = self._receiver, None
        if not self.is_ready.done():
            self.is_ready.set_exception(ConnectionError(reason or "the connection was closed"))
            # whoever waits has it; nobody may be waiting any more
            self.is_ready.exception()
        if receiver is not None:
            receiver.on_end(reason)
        if self._transport is not None:
            self._transport.close()

    # -- asyncio.Protocol -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._http.initiate_connection()
        self._http.increment_flow_control_window(WINDOW_BYTES)
        self._flush()

    def data_received(self, data: bytes) -> None:
        try:
            for event in self._http.receive_data(data):
                self._on_event(event)
            if self._unsent:
                self._send_allowed()
            self._flush()
        except H2Error as error:
            self._end(f"what came is not HTTP/2 ({type(error).__name__})")

    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._end("the connection was lost")

    def _on_event(self, event: Event) -> None:
        receiver = self._receiver
        if isinstance(event, RemoteSettingsChanged) and not self.is_ready.done():
            self.is_ready.set_result(None)
        elif isinstance(event, ConnectionTerminated):
            self._end(f"the vendor closed the connection ({_error_name(event.error_code)})")
        elif receiver is None:
            return
        elif isinstance(event, ResponseReceived):
            found = {str(name): str(value) for name, value in event.headers or ()}
            receiver.on_response(int(found.pop(":status")), found)
        elif isinstance(event, DataReceived):
            self._http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            receiver.on_data(event.data)
        elif isinstance(event, StreamReset):
            self._end(f"the vendor reset the stream ({_error_name(event.error_code)})")
        elif isinstance(event, StreamEnded):
            self._end("")


def _error_name(code: ErrorCodes | int | None) -> str:
    return code.name if isinstance(code, ErrorCodes) else str(code)


@cache
def _tls() -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(["h2"])
    return context


async def open_http2(
    url: str, receiver: Http2Receiver, errors: VendorErrors, *, limit_s: float, way: NetworkRoute
) -> Http2Stream:
    """Connects within ``limit_s`` and waits until the server speaks HTTP/2; raises ModelError.

    ``http`` is HTTP/2 without TLS, which only servers of one's own speak.
    """
    stream = Http2Stream(receiver)
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        host = parts.hostname or ""
        async with asyncio.timeout(limit_s):
            address = await _permitted_address(way, errors, host, port) if way.is_guarded else host
            loop = asyncio.get_running_loop()
            is_tls = parts.scheme == "https"
            await loop.create_connection(
                lambda: stream, address, port, ssl=_tls() if is_tls else None, server_hostname=host if is_tls else None
            )
            await stream.is_ready
    except TimeoutError:
        stream.close()
        raise errors.timeout_error("connection", limit_s) from None
    except EgressError as error:
        raise errors.make_error("connection" if error.retryable else "forbidden", error) from error
    except (OSError, ValueError) as error:
        raise errors.unreachable_error(error) from error
    except BaseException:
        stream.close()
        raise
    return stream


async def _permitted_address(way: NetworkRoute, errors: VendorErrors, host: str, port: int) -> str:
    """Returns the address that the guard has resolved and permitted; TLS and the request keep the name."""
    if way.egress is None:
        raise errors.make_error("forbidden", "This address is not the operator's.")
    return (await way.egress.permitted_addresses(host, port))[0]
