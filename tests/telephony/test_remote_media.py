"""A simulated phone in a job process, on the media socket of a server in another one."""

import asyncio
import json
from collections.abc import AsyncIterator

import pytest
from websockets.asyncio.server import ServerConnection, serve

from offhook.kit.media_sockets.sockets import MessageReceiver, PushSocket
from offhook.telephony.media.in_process_socket import create_pipe
from offhook.telephony.providers.sandbox.remote_media import RemoteMediaFailed, carry_remote
from offhook.voice.events import VoiceEvent


class Handset:
    """The phone's end of its pipe."""

    def __init__(self) -> None:
        self.heard: list[str | bytes] = []
        self.closed = asyncio.Event()
        self._near, self._far = create_pipe()

    async def open(self, receiver: MessageReceiver) -> PushSocket:
        await self._near.open(self)
        self._near.send_text(b'{"type":"start"}')
        return await self._far.open(receiver)

    def speak(self, frame: bytes) -> None:
        self._near.send_binary(frame)

    def hang_up(self) -> None:
        self._near.close()

    def on_text(self, text: str) -> None:
        self.heard.append(text)

    def on_binary(self, payload: bytes) -> None:
        self.heard.append(payload)

    def on_closed(self, code: int, reason: str) -> None:
        self.closed.set()


class Platform:
    """The server's media socket."""

    def __init__(self) -> None:
        self.got: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self.socket: asyncio.Future[ServerConnection] = asyncio.get_running_loop().create_future()
        self.address = ""

    async def take(self, socket: ServerConnection) -> None:
        self.socket.set_result(socket)
        async for message in socket:
            self.got.put_nowait(message)
        self.got.put_nowait(None)


@pytest.fixture
async def platform() -> AsyncIterator[Platform]:
    made = Platform()
    async with serve(made.take, "127.0.0.1", 0) as server:
        made.address = f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/media"
        yield made


async def test_both_sides_hear_each_other_and_the_platform_hangs_up(platform: Platform) -> None:
    phone, captions = Handset(), list[VoiceEvent]()
    carrying = asyncio.create_task(carry_remote(platform.address, phone.open, captions.append))
    async with asyncio.timeout(10):
        assert json.loads(await platform.got.get() or "") == {"type": "start", "captions": True}
        phone.speak(b"\x7f" * 160)
        assert await platform.got.get() == b"\x7f" * 160
        server = await platform.socket
        await server.send(json.dumps({"type": "event", "event": "caller_said", "at_s": 1.5, "data": {"text": "hi"}}))
        await server.send('{"type":"mark"}')
        await server.send(b"\xff" * 160)
        await server.close()
        await carrying
        await phone.closed.wait()
    assert phone.heard == ['{"type":"mark"}', b"\xff" * 160]
    assert [(event.type, event.at_s, event.data) for event in captions] == [("caller_said", 1.5, {"text": "hi"})]


async def test_the_phone_hangs_up(platform: Platform) -> None:
    phone = Handset()
    carrying = asyncio.create_task(carry_remote(platform.address, phone.open, lambda _: None))
    async with asyncio.timeout(10):
        await platform.got.get()
        phone.hang_up()
        await carrying
        assert await platform.got.get() is None


async def test_a_server_that_is_not_there_fails_the_call() -> None:
    with pytest.raises(RemoteMediaFailed, match="cannot be reached"):
        await carry_remote("ws://127.0.0.1:1/media", Handset().open, lambda _: None)
