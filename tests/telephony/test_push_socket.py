"""The media socket on a real connection: our protocol class under uvicorn, and the plain ASGI way."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import uvicorn
from fastapi import FastAPI, WebSocket
from fastapi.responses import JSONResponse
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.frames import Opcode

from offhook.kit.media_sockets import frames
from offhook.kit.media_sockets.media_socket_protocol import MediaSocketProtocol
from offhook.kit.media_sockets.sockets import PushSocket, open_socket
from tests.servers import BareServer, serving

LIMIT = 65536


class Echo:
    """A Receiver that answers what it gets, and keeps how it ended."""

    socket: PushSocket

    def __init__(self) -> None:
        self.ended: asyncio.Future[tuple[int, str]] = asyncio.get_running_loop().create_future()

    def on_text(self, text: str) -> None:
        if text == "close please":
            self.socket.close(4400, "as you wish")
        elif text == "close with odd words":
            self.socket.close(4400, "\ud800" + "é" * 100)
        elif text == "flood":
            for _ in range(2000):
                self.socket.send_binary(bytes(8000))
        else:
            self.socket.send_text(text.encode())

    def on_binary(self, payload: bytes) -> None:
        self.socket.send_binary(payload)

    def on_closed(self, code: int, reason: str) -> None:
        self.ended.set_result((code, reason))


class Server:
    def __init__(self) -> None:
        self.echoes: list[Echo] = []
        self.app = FastAPI()
        self.app.websocket("/echo")(self._echo)
        self.app.websocket("/refused")(self._refused)
        self.app.websocket("/denied")(self._denied)
        self.app.websocket("/slow")(self._slow)
        self.asked, self.goes_on, self.done = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.url = ""
        self.uvicorn: uvicorn.Server | None = None

    async def _echo(self, websocket: WebSocket) -> None:
        echo = Echo()
        self.echoes.append(echo)
        echo.socket = await open_socket(websocket, echo, max_message_bytes=LIMIT)
        await echo.socket.wait_closed()

    async def _refused(self, websocket: WebSocket) -> None:
        await websocket.close(4401)

    async def _denied(self, websocket: WebSocket) -> None:
        await websocket.send_denial_response(JSONResponse({"code": "no"}, 401))

    async def _slow(self, websocket: WebSocket) -> None:
        self.asked.set()
        await self.goes_on.wait()
        await self._echo(websocket)
        self.done.set()

    async def ended(self) -> tuple[int, str]:
        return await asyncio.wait_for(asyncio.shield(self.echoes[-1].ended), 60)

    @asynccontextmanager
    async def running(self, protocol: Any) -> AsyncIterator["Server"]:
        self.uvicorn = BareServer(uvicorn.Config(self.app, ws=protocol, log_config=None, lifespan="off"))
        async with serving(self.uvicorn) as address:
            self.url = f"ws://{address}"
            yield self


@pytest.fixture(params=[MediaSocketProtocol, "websockets-sansio"], ids=["fast", "asgi"])
async def server(request: pytest.FixtureRequest) -> AsyncIterator[Server]:
    async with Server().running(request.param) as running:
        yield running


@pytest.fixture
async def fast_server() -> AsyncIterator[Server]:
    async with Server().running(MediaSocketProtocol) as running:
        yield running


async def closed_with(peer: ClientConnection) -> tuple[int, str]:
    async with asyncio.timeout(60):
        with contextlib.suppress(ConnectionClosed):
            while True:
                await peer.recv()
    return peer.close_code or 0, peer.close_reason or ""


class TestMessages:
    async def test_come_back_in_order_and_whole(self, server: Server) -> None:
        async with connect(f"{server.url}/echo") as peer:
            sent: list[str | bytes] = ["héllo", b"\x00\xff" * 80, "", "x" * 60000, b""]
            for message in sent:
                await peer.send(message)
            assert [await peer.recv() for _ in sent] == sent

    async def test_in_fragments(self, server: Server) -> None:
        async with connect(f"{server.url}/echo") as peer:
            await peer.send(["one ", "two ", "three"])
            assert await peer.recv() == "one two three"

    async def test_a_ping_is_answered(self, server: Server) -> None:
        async with connect(f"{server.url}/echo", ping_interval=None) as peer:
            await asyncio.wait_for(await peer.ping(), 60)

    async def test_nothing_is_compressed(self, fast_server: Server) -> None:
        async with connect(f"{fast_server.url}/echo", compression="deflate") as peer:
            assert peer.protocol.extensions == []


class TestTheEnd:
    async def test_the_peer_says_goodbye(self, server: Server) -> None:
        async with connect(f"{server.url}/echo") as peer:
            await peer.close(1000, "done")
        assert await server.ended() == (1000, "done")

    async def test_we_say_goodbye(self, server: Server) -> None:
        async with connect(f"{server.url}/echo") as peer:
            await peer.send("close please")
            assert await closed_with(peer) == (4400, "as you wish")
        assert await server.ended() == (4400, "as you wish")

    async def test_any_reason_fits(self, server: Server) -> None:
        async with connect(f"{server.url}/echo") as peer:
            await peer.send("close with odd words")
            assert await closed_with(peer) == (4400, "?" + "é" * 59)

    async def test_the_line_is_cut(self, server: Server) -> None:
        async with connect(f"{server.url}/echo", close_timeout=0.1) as peer:
            await peer.send("hi")
            await peer.recv()
            peer.transport.abort()
            code, _ = await server.ended()
        assert code in {1005, 1006}

    async def test_a_message_that_is_too_big(self, server: Server) -> None:
        async with connect(f"{server.url}/echo") as small, connect(f"{server.url}/echo", max_size=None) as peer:
            with contextlib.suppress(ConnectionClosed):
                await peer.send("x" * 10_000_000)
            assert (await closed_with(peer))[0] == 1009
            await small.send("still here")
            assert await small.recv() == "still here"

    async def test_text_that_is_not_utf8(self, fast_server: Server) -> None:
        async with connect(f"{fast_server.url}/echo") as peer:
            await peer.send(b"\xff\xfe", text=True)
            assert (await closed_with(peer))[0] == 1007

    @pytest.mark.slow
    async def test_a_broken_frame(self, fast_server: Server) -> None:
        async with connect(f"{fast_server.url}/echo") as peer:
            peer.transport.write(bytes([0x81 | 0x70, 0x85, 0, 0, 0, 0]) + b"hello")
            assert (await closed_with(peer))[0] == 1002

    @pytest.mark.slow
    async def test_a_peer_that_reads_nothing_is_cut_off(self, fast_server: Server) -> None:
        async with connect(f"{fast_server.url}/echo", max_queue=1, close_timeout=0.1, ping_interval=None) as peer:
            await peer.send("flood")
            assert await fast_server.ended() == (1008, "the peer does not read")

    async def test_the_server_stops(self, fast_server: Server) -> None:
        async with connect(f"{fast_server.url}/echo") as peer:
            await peer.send("hi")
            await peer.recv()
            assert fast_server.uvicorn is not None
            fast_server.uvicorn.should_exit = True
            assert await closed_with(peer) == (1001, "the server stops")
        assert await fast_server.ended() == (1001, "the server stops")


class TestAPeerThatDoesNotWait:
    """It goes while we still look at its token, as carriers do whose call is over."""

    async def test_is_a_line_that_was_cut(self, server: Server, caplog: pytest.LogCaptureFixture) -> None:
        handshake = (
            "GET /slow HTTP/1.1\r\nHost: us\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        )
        async with asyncio.timeout(30):
            _, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rpartition(":")[2]))
            writer.write(handshake.encode())
            await server.asked.wait()
            writer.transport.abort()
            await asyncio.sleep(0.05)
            server.goes_on.set()
            await server.done.wait()
        assert (await server.ended())[0] in {1005, 1006}
        assert not [record.message for record in caplog.records if record.levelname == "ERROR"]


class TestRefusal:
    async def test_before_the_handshake_is_http(self, fast_server: Server) -> None:
        with pytest.raises(InvalidStatus) as refusal:
            await connect(f"{fast_server.url}/refused")
        assert refusal.value.response.status_code == 403

    async def test_in_our_own_words_is_no_error_of_the_server(
        self, fast_server: Server, caplog: pytest.LogCaptureFixture
    ) -> None:
        with pytest.raises(InvalidStatus) as refusal:
            await connect(f"{fast_server.url}/denied")
        assert (refusal.value.response.status_code, refusal.value.response.body) == (401, b'{"code":"no"}')
        await asyncio.sleep(0.05)
        assert not [record.message for record in caplog.records if record.levelname == "ERROR"]

    @pytest.mark.parametrize(
        ("target", "header", "status"),
        [("/echo?token=" + "x" * 20_000, "", 414), ("/echo", "x" * 20_000, 431)],
        ids=["token", "header"],
    )
    async def test_of_a_handshake_that_is_too_large_comes_at_once(
        self, fast_server: Server, caplog: pytest.LogCaptureFixture, target: str, header: str, status: int
    ) -> None:
        # an open_timeout of the client's would look the same: it is far longer than the test waits
        async with asyncio.timeout(20):
            with pytest.raises(InvalidStatus) as refusal:
                await connect(f"{fast_server.url}{target}", additional_headers={"X-Long": header}, open_timeout=None)
        assert refusal.value.response.status_code == status
        assert not fast_server.echoes
        assert not [record.message for record in caplog.records if record.levelname == "ERROR"]


def test_opcodes_are_those_of_the_rfc() -> None:
    names = ("CONT", "TEXT", "BINARY", "CLOSE", "PING", "PONG")
    assert {name: getattr(frames, name) for name in names} == {name: Opcode[name].value for name in names}
