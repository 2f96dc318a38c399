"""Clients that send slowly, too much or too often: each loses its own connection, and others are served."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

import pytest
from fastapi import FastAPI, Request, WebSocket
from fastapi.responses import PlainTextResponse, StreamingResponse

from offhook.kit.http.connection_limits import ConnectionGuard, ConnectionLimits, Wait, possible_connections
from offhook.kit.http.server import server_config
from offhook.kit.virtual_time import run_on_virtual_time
from offhook.settings import Settings
from tests.servers import ProductServer, serving

pytestmark = pytest.mark.real_time

HALF_HEAD = b"POST /echo HTTP/1.1\r\nHost: x\r\nX-Slow: "
HALF_BODY = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf of"
WHOLE = b"GET /hello HTTP/1.1\r\nHost: x\r\n\r\n"
HANDSHAKE = (
    b"GET /socket HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
SHORT = replace(
    ConnectionLimits.from_settings(Settings(header_timeout_s=0.2, body_timeout_s=0.3, max_header_bytes=2048), 4096),
    body_grace_s=0.1,
)


class Line:
    """Opens connections to one server."""

    def __init__(self, address: str) -> None:
        self._host, _, port = address.partition(":")
        self._port = int(port)
        self._connections: list[Connection] = []

    async def send(self, sent: bytes) -> "Connection":
        connection = Connection(*await asyncio.open_connection(self._host, self._port))
        self._connections.append(connection)
        await connection.send(sent)
        return connection

    async def ask(self) -> int:
        """The status of a whole request on a connection of its own."""
        connection = await self.send(WHOLE)
        status = await connection.status()
        connection.close()
        return status

    def close(self) -> None:
        for connection in self._connections:
            connection.close()


class Connection:
    """A client's end."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader, self._writer = reader, writer

    async def send(self, sent: bytes) -> None:
        self._writer.write(sent)
        await self._writer.drain()

    async def status(self) -> int:
        async with asyncio.timeout(20):
            line = await self._reader.readline()
            headers = await self._reader.readuntil(b"\r\n\r\n") if line else b""
        length = headers.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        await self._reader.readexactly(int(length or 0))
        return int(line.split()[1]) if line else 0

    async def rest(self) -> bytes:
        """Everything until the server closes."""
        async with asyncio.timeout(20):
            try:
                return await self._reader.read()
            except ConnectionResetError:
                return b""

    def close(self) -> None:
        self._writer.close()


def build_app() -> FastAPI:
    app = FastAPI()

    @app.get("/hello")
    async def hello() -> PlainTextResponse:
        return PlainTextResponse("hello")

    @app.post("/echo")
    async def echo(request: Request) -> PlainTextResponse:
        return PlainTextResponse(str(len(await request.body())))

    @app.get("/long")
    async def stream() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            for _ in range(1000):
                yield bytes(65536)

        return StreamingResponse(parts())

    @app.websocket("/socket")
    async def socket(websocket: WebSocket) -> None:
        await websocket.accept()
        await websocket.receive()

    return app


@asynccontextmanager
async def slow_line(limits: ConnectionLimits = SHORT) -> AsyncIterator[Line]:
    async def nothing() -> None: ...

    config = server_config(build_app(), Settings(), limits)
    async with serving(ProductServer(config, on_ready=lambda: None, drain=nothing, before_shutdown=nothing)) as address:
        line = Line(address)
        yield line
        line.close()


@pytest.mark.parametrize("half", [HALF_HEAD, HALF_BODY], ids=["headers", "body"])
async def test_half_a_request_ends_with_408(half: bytes) -> None:
    async with slow_line() as line:
        slow = [await line.send(half) for _ in range(20)]
        assert await line.ask() == 200, "others are served meanwhile"
        answers = [await one.rest() for one in slow]
        assert all(answer.startswith(b"HTTP/1.1 408 ") for answer in answers)
        assert all(b'"code":"request_timeout"' in answer for answer in answers)


async def test_a_connection_that_says_nothing_is_closed_silently() -> None:
    async with slow_line() as line:
        silent, blank = await line.send(b""), await line.send(b"\r\n")
        assert (await silent.rest(), await blank.rest()) == (b"", b"")


@pytest.mark.parametrize("start", [HALF_HEAD, HALF_BODY], ids=["headers", "body"])
async def test_a_byte_now_and_then_does_not_help(start: bytes) -> None:
    async with slow_line() as line:
        slow = await line.send(start)
        ended = asyncio.create_task(slow.rest())
        while not ended.done():
            with suppress(ConnectionError):
                await slow.send(b"x")
            await asyncio.sleep(0.03)
        assert (await ended)[:12] in {b"HTTP/1.1 408", b""}


async def test_a_body_below_the_rate_ends_long_before_its_time() -> None:
    async with slow_line(replace(SHORT, body_timeout_s=600, header_timeout_s=0.2, body_bytes_per_s=1000)) as line:
        slow = await line.send(HALF_BODY)
        assert (await slow.rest()).startswith(b"HTTP/1.1 408 ")


async def test_a_steady_body_takes_its_time() -> None:
    async with slow_line(replace(SHORT, body_timeout_s=20, body_bytes_per_s=10)) as line:
        steady = await line.send(b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
        for _ in range(10):
            await steady.send(b"0123456789")
            await asyncio.sleep(0.05)
        assert await steady.status() == 200


@pytest.mark.parametrize(
    "sent",
    [
        b"GET /hello HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 4096,
        b"GET /hello HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 4096 + b"\r\n\r\n",
        b"GET /hello?" + b"a" * 4096,
        b"GET /hello HTTP/1.1\r\n" + b"X: aaaaaaaa\r\n" * 400 + b"\r\n",
        b"POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\nX: " + b"a" * 4096,
    ],
    ids=["endless", "whole", "address", "many", "trailer"],
)
async def test_too_large_headers_end_with_431(sent: bytes) -> None:
    async with slow_line(replace(SHORT, header_timeout_s=20, body_timeout_s=20)) as line:
        large = await line.send(sent[:64])
        await asyncio.sleep(0.01)
        await large.send(sent[64:])
        assert (await large.rest()).startswith(b"HTTP/1.1 431 ")


async def test_one_address_has_its_share_of_connections() -> None:
    async with slow_line(replace(SHORT, per_address=3, shared_addresses="", header_timeout_s=20)) as line:
        slow = [await line.send(HALF_HEAD) for _ in range(3)]
        assert (await (await line.send(b"")).rest()).startswith(b"HTTP/1.1 503 ")
        slow[0].close()
        await _until_served(line)


async def test_sockets_count_until_they_end() -> None:
    async with slow_line(replace(SHORT, per_address=2, shared_addresses="", header_timeout_s=20)) as line:
        sockets = [await line.send(HANDSHAKE) for _ in range(2)]
        assert [await one.status() for one in sockets] == [101, 101]
        assert (await (await line.send(b"")).rest()).startswith(b"HTTP/1.1 503 ")
        sockets[0].close()
        await _until_served(line)


@pytest.mark.parametrize("shared", ["127.0.0.1", "10.0.0.1, 127.0.0.0/8", "*"])
async def test_a_trusted_proxy_has_no_share(shared: str) -> None:
    async with slow_line(replace(SHORT, per_address=1, shared_addresses=shared, header_timeout_s=20)) as line:
        await line.send(HALF_HEAD)
        assert await line.ask() == 200


@pytest.mark.parametrize("half", [HALF_HEAD, HALF_BODY, WHOLE], ids=["headers", "body", "idle"])
async def test_a_full_process_takes_the_place_of_who_waited_longest(half: bytes) -> None:
    async with slow_line(
        replace(SHORT, connections=3, header_timeout_s=20, body_timeout_s=20, body_bytes_per_s=0)
    ) as line:
        waiting = [await line.send(half) for _ in range(3)]
        await asyncio.sleep(0.05)
        assert await line.ask() == 200
        await waiting[0].rest()


async def test_who_is_served_keeps_the_connection_of_a_full_process() -> None:
    async with slow_line(replace(SHORT, connections=2)) as line:
        sockets = [await line.send(HANDSHAKE) for _ in range(2)]
        assert [await one.status() for one in sockets] == [101, 101]
        assert (await (await line.send(b"")).rest()).startswith(b"HTTP/1.1 503 ")


async def test_a_client_that_reads_nothing_is_cut_off() -> None:
    async with slow_line(replace(SHORT, stalled_reader_s=0.2, connections=1)) as line:
        await line.send(b"GET /long HTTP/1.1\r\nHost: x\r\n\r\n")
        await _until_served(line)


async def test_many_requests_on_one_connection() -> None:
    async with slow_line() as line:
        kept = await line.send(WHOLE * 3)
        assert [await kept.status() for _ in range(3)] == [200, 200, 200]
        await asyncio.sleep(0.5)
        await kept.send(WHOLE)
        assert await kept.status() == 200, "between requests the time of headers does not run"
        await kept.send(HALF_HEAD)
        assert await kept.status() == 408


@pytest.mark.parametrize(
    ("descriptors", "connections"), [(20_000, 2000), (1024, 512), (2048, 1320)], ids=["enough", "few", "between"]
)
def test_connections_leave_descriptors_to_calls(descriptors: int, connections: int) -> None:
    assert possible_connections(Settings(), descriptors) == connections


async def _until_served(line: Line) -> None:
    async with asyncio.timeout(20):
        while True:
            try:
                if await line.ask() == 200:
                    return
            except (ConnectionError, asyncio.IncompleteReadError):
                pass
            await asyncio.sleep(0.01)


class HalfRequest:
    """A connection whose headers never end."""

    received_bytes = 0
    is_reading_paused = False

    def __init__(self, seen: list[str]) -> None:
        self._seen = seen

    def time_out(self) -> None:
        if not self._seen:
            asyncio.get_running_loop().call_soon(self._seen.append, "frame")
        self._seen.append("timed out")

    def abort(self) -> None:
        raise AssertionError("a client that is too slow is answered")


def test_a_frame_that_is_due_goes_out_while_hundreds_of_slow_connections_end() -> None:
    async def open_halves() -> list[str]:
        seen: list[str] = []
        guard = ConnectionGuard(SHORT)
        for _ in range(300):
            guard.begin_wait(HalfRequest(seen), Wait.HEADERS)
        await asyncio.sleep(10.0)
        return seen

    seen = run_on_virtual_time(open_halves(), limit_s=60)
    assert seen.count("timed out") == 300
    assert seen.index("frame") < 300
