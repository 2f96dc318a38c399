"""The WebSocket client against a server that an organization chose."""

import asyncio
import base64
import contextlib
import hashlib
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from offhook.kit.media_sockets.client import MAX_BURST_FRAMES, connect_socket

# RFC 6455
_MAGIC = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class Heard:
    def __init__(self) -> None:
        self.texts = 0
        self.end: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    def on_text(self, text: str) -> None:
        self.texts += 1

    def on_binary(self, payload: bytes) -> None:
        pass

    def on_closed(self, code: int, reason: str) -> None:
        self.end.set_result((code, reason))


@asynccontextmanager
async def server(frames: bytes) -> AsyncIterator[str]:
    """Takes any handshake and sends these frames at once."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        lines = dict(line.split(b": ", 1) for line in head.strip().split(b"\r\n")[1:])
        key = {name.lower(): value for name, value in lines.items()}[b"sec-websocket-key"]
        accept = base64.b64encode(hashlib.sha1(key + _MAGIC, usedforsecurity=False).digest())
        upgrade = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        writer.write(upgrade + b"Sec-WebSocket-Accept: " + accept + b"\r\n\r\n" + frames)
        with contextlib.suppress(ConnectionError):
            await reader.read()
        writer.close()

    listening = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"ws://127.0.0.1:{listening.sockets[0].getsockname()[1]}/"
    finally:
        listening.close()


@pytest.mark.parametrize(
    "frames",
    [
        pytest.param(b"\x81\x02{}" * 100_000, id="tiny messages"),
        pytest.param(b"\x01\x00" + b"\x00\x00" * 60_000, id="empty parts of one message"),
        pytest.param(b"\x01\x01a" + b"\x00\x01a" * 60_000, id="tiny parts of one message"),
    ],
)
async def test_a_flood_costs_its_sender_the_connection(frames: bytes) -> None:
    heard = Heard()
    async with server(frames) as url:
        started = time.process_time()
        client = await connect_socket(url, heard)
        assert (await asyncio.wait_for(heard.end, 60))[1] == "too many messages"
        assert time.process_time() - started < 2
        assert not client.is_open
    assert heard.texts <= 2 * MAX_BURST_FRAMES
