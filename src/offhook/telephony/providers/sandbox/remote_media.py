"""Connects a simulated phone in a job process to the platform over the media socket, as every carrier does."""

import asyncio
import json
from typing import Final

from picows import WSError

from offhook.kit.media_sockets.client import ClientSocket, connect_socket
from offhook.kit.media_sockets.sockets import NORMAL, PushSocket
from offhook.telephony.media.leg import EventListener
from offhook.telephony.media.session import OpenMedia
from offhook.telephony.providers.sandbox.wire import read_caption

CONNECT_TIMEOUT_S: Final = 10.0


class RemoteMediaFailed(OSError):
    """The platform's media socket could not be reached, or refused the call."""


class _PhoneMessages:
    """Sends the phone's messages to the platform. Implements ``MessageReceiver`` for the phone's pipe."""

    def __init__(self, platform: ClientSocket, over: asyncio.Event) -> None:
        self._platform = platform
        self._over = over
        self._has_started = False

    def on_text(self, text: str) -> None:
        if not self._has_started:
            self._has_started = True
            text = json.dumps({**json.loads(text), "captions": True})
        self._platform.send(text)

    def on_binary(self, payload: bytes) -> None:
        self._platform.send(payload)

    def on_closed(self, code: int, reason: str) -> None:
        self._over.set()


class _PlatformMessages:
    """Sends the platform's messages to the phone, once it is there. Implements ``MessageReceiver`` for the socket."""

    def __init__(self, listener: EventListener, over: asyncio.Event) -> None:
        self.phone: PushSocket | None = None
        self._listener = listener
        self._over = over

    def on_text(self, text: str) -> None:
        if (caption := read_caption(text)) is not None:
            self._listener(caption)
        elif self.phone is not None:
            self.phone.send_text(text.encode())

    def on_binary(self, payload: bytes) -> None:
        if self.phone is not None:
            self.phone.send_binary(payload)

    def on_closed(self, code: int, reason: str) -> None:
        self._over.set()


async def carry_remote(address: str, open_media: OpenMedia, listener: EventListener) -> None:
    """Joins the phone's pipe and the socket at ``address`` until either end is closed. Raises RemoteMediaFailed."""
    over = asyncio.Event()
    messages = _PlatformMessages(listener, over)
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT_S):
            platform = await connect_socket(address, messages)
    except (OSError, ValueError, WSError) as error:
        raise RemoteMediaFailed(f"The media socket of the server cannot be reached: {error}") from None
    try:
        messages.phone = await open_media(_PhoneMessages(platform, over))
        await over.wait()
    finally:
        if messages.phone is not None:
            messages.phone.close(NORMAL, "the call is over")
        platform.close()
