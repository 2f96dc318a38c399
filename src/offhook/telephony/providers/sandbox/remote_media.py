"""How a simulated phone in a job process reaches the platform: over the media socket, as every carrier does."""

import asyncio
import json
from contextlib import suppress
from typing import Final

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidURI

from offhook.kit.media_sockets.sockets import NORMAL
from offhook.telephony.media.leg import EventListener
from offhook.telephony.media.session import OpenMedia
from offhook.telephony.providers.sandbox.wire import read_caption

CONNECT_TIMEOUT_S: Final = 10.0


class RemoteMediaFailed(OSError):
    """The platform's media socket could not be reached, or refused the call."""


class _OutgoingMessages:
    """What the phone sends (``kit.sockets.Receiver`` of its pipe), in order, for the one task that writes."""

    def __init__(self) -> None:
        self.waiting: asyncio.Queue[str | bytes | None] = asyncio.Queue()
        self._has_started = False

    def on_text(self, text: str) -> None:
        if not self._has_started:
            self._has_started = True
            text = json.dumps({**json.loads(text), "captions": True})
        self.waiting.put_nowait(text)

    def on_binary(self, payload: bytes) -> None:
        self.waiting.put_nowait(payload)

    def on_closed(self, code: int, reason: str) -> None:
        self.waiting.put_nowait(None)


async def carry_remote(address: str, open_media: OpenMedia, listener: EventListener) -> None:
    """Join the phone's pipe and the socket at ``address`` until either end is closed. TrunkFailed."""
    outgoing = _OutgoingMessages()
    try:
        async with connect(
            address, open_timeout=CONNECT_TIMEOUT_S, close_timeout=1.0, compression=None, ping_interval=None, proxy=None
        ) as socket:
            near = await open_media(outgoing)
            writing = asyncio.create_task(_write_messages(socket, outgoing))
            try:
                with suppress(ConnectionClosed):
                    async for message in socket:
                        if isinstance(message, bytes):
                            near.send_binary(message)
                        elif (caption := read_caption(message)) is not None:
                            listener(caption)
                        else:
                            near.send_text(message.encode())
            finally:
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)
                near.close(NORMAL, "the call is over")
    except (OSError, InvalidHandshake, InvalidURI) as error:
        raise RemoteMediaFailed(f"The media socket of the server cannot be reached: {error}") from None


async def _write_messages(socket: ClientConnection, outgoing: _OutgoingMessages) -> None:
    with suppress(ConnectionClosed):
        while (message := await outgoing.waiting.get()) is not None:
            await socket.send(message)
        await socket.close()
