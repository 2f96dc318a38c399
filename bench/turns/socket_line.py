"""A call of the panel over a carrier's media socket: Twilio's wire on a WebSocket of the server, both ends on loopback."""

import asyncio
from contextlib import suppress

import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket
from tests.fakes.media_session import ConnectedSession
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from bench.turns.call import PanelCall
from offhook.kit.http.server import bind_socket
from offhook.kit.media_sockets.media_socket_protocol import MediaSocketProtocol
from offhook.kit.media_sockets.sockets import MessageReceiver, PushSocket, open_socket
from offhook.telephony.media.leg import MediaLeg
from offhook.telephony.media.simulated_phone import DropAudio, PlayAudio, PlayMark
from offhook.telephony.providers.twilio.peer import TwilioPeer
from offhook.telephony.providers.twilio.wire import TwilioWire
from offhook.voice.ports import VadEngine
from offhook.voice.session import CallSession
from offhook.voice.socket_leg import CallInput

MAX_MESSAGE_BYTES = 1 << 16


class _Carried:
    """Implements LiveConversation."""

    def __init__(self, session: CallSession) -> None:
        self._session = session

    @property
    def session(self) -> CallInput:
        return self._session

    async def run(self) -> object:
        return await self._session.run()


async def carry_over_socket(call: PanelCall, vad: VadEngine) -> None:
    """Serves one media socket, connects the caller to it and plays the call."""

    async def connect_session(leg: MediaLeg) -> _Carried:
        return _Carried(call.make_session(vad, leg))

    async def media(websocket: WebSocket) -> None:
        async def open_media(receiver: MessageReceiver) -> PushSocket:
            return await open_socket(websocket, receiver, max_message_bytes=MAX_MESSAGE_BYTES)

        await ConnectedSession(TwilioWire(), connect_session).carry_call(open_media)  # type: ignore[arg-type]

    with bind_socket("127.0.0.1", 0) as bound:
        app = Starlette(routes=[WebSocketRoute("/media", media)])
        config = uvicorn.Config(app, ws=MediaSocketProtocol, log_level="warning", lifespan="off", access_log=False)
        server = uvicorn.Server(config)
        serving = asyncio.create_task(server.serve([bound]))
        address = f"ws://127.0.0.1:{bound.getsockname()[1]}/media"
        async with connect(address, proxy=None, ping_interval=None) as peer:
            await _talk(call, peer)
        server.should_exit = True
        await serving


async def _talk(call: PanelCall, peer: ClientConnection) -> None:
    outgoing: asyncio.Queue[str] = asyncio.Queue()
    wire = TwilioPeer(outgoing.put_nowait, stream_id="MZ1", call_id="CA1")
    call.far.line = wire

    async def send() -> None:
        while True:
            await peer.send(await outgoing.get())

    async def receive() -> None:
        with suppress(ConnectionClosed):
            async for message in peer:
                order = wire.decode(message)
                if isinstance(order, PlayAudio):
                    call.far.send_frame(order.payload)
                elif isinstance(order, PlayMark):
                    call.far.send_mark(order.name)
                elif isinstance(order, DropAudio):
                    call.far.clear_buffer()

    tasks = [asyncio.create_task(send()), asyncio.create_task(receive())]
    wire.send_start()
    await call.talk(wire)
    wire.send_stop()
    await asyncio.sleep(0.5)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
