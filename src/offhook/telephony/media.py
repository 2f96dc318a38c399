"""The media path that every carrier shares: a socket of any kind, the carrier's wire, and the call behind it."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, Protocol

import structlog

from offhook.errors import DomainError
from offhook.kit.audio import Codec
from offhook.kit.sockets import GOING_AWAY, NORMAL, PushSocket, Receiver
from offhook.telephony.ports import (
    Digit,
    MachineAnswered,
    MarkReached,
    MediaWire,
    Started,
    Stopped,
    WireError,
    WireEvent,
)
from offhook.voice.events import VoiceEvent
from offhook.voice.ports import CallResult

log = structlog.get_logger(__name__)

BAD_MESSAGE: Final = 4400
REFUSED: Final = 4401
NOT_CONNECTABLE: Final = 4409
FAULT: Final = 1011
START_WITHIN_S: Final = 10.0
# What a caller says while the call is being set up: two seconds of 20 ms frames.
MAX_EARLY_FRAMES: Final = 100


class Ears(Protocol):
    """The part of ``voice.CallSession`` that a leg feeds."""

    def feed_audio(self, payload: bytes) -> None: ...
    def feed_digit(self, digit: str) -> None: ...
    def feed_mark(self, name: str) -> None: ...
    def leg_ended(self, reason: str = "caller_hung_up") -> None: ...
    def stop(self, reason: str = "server_stopped") -> None: ...
    def voicemail_detected(self, by: str) -> None: ...


class LiveConversation(Protocol):
    """``runs.LiveCall`` as this module sees it."""

    @property
    def session(self) -> Ears: ...

    async def run(self) -> CallResult: ...


Open = Callable[[Receiver], Awaitable[PushSocket]]
Connect = Callable[["MediaLeg"], Awaitable[LiveConversation]]
Listener = Callable[[VoiceEvent], None]


class MediaLeg:
    """A ``voice.ports.CallLeg`` on a MediaWire, and the Receiver of its socket."""

    def __init__(self, wire: MediaWire, listener: Listener | None = None) -> None:
        self._wire = wire
        self._listener = listener
        self._socket: PushSocket | None = None
        self._send_audio: Callable[[bytes], None] | None = None
        self._ears: Ears | None = None
        self._early: list[bytes] = []
        self._ended_as: str | None = None
        self.started: asyncio.Future[Started | None] = asyncio.get_running_loop().create_future()

    def attach_socket(self, socket: PushSocket) -> None:
        self._socket = socket
        self._send_audio = socket.send_binary if self._wire.has_binary_audio else socket.send_text

    def attach_session(self, ears: Ears) -> None:
        """From here the session hears everything, first of all what came while it was made."""
        self._ears = ears
        for payload in self._early:
            ears.feed_audio(payload)
        self._early.clear()
        if self._ended_as is not None:
            self._tell_end(ears, self._ended_as)

    @property
    def is_open(self) -> bool:
        return self._ended_as is None

    # CallLeg

    @property
    def codec(self) -> Codec:
        return self._wire.codec

    def send_frame(self, payload: bytes) -> None:
        if self._send_audio is not None and self._ended_as is None:
            self._send_audio(self._wire.encode(payload))

    def send_mark(self, name: str) -> None:
        self._send_control(self._wire.mark(name))

    def clear(self) -> None:
        self._send_control(self._wire.clear())

    def send_event(self, event: VoiceEvent) -> None:
        if self._listener is not None:
            self._listener(event)

    async def hang_up(self) -> None:
        self.close(NORMAL, "the call is over")

    def close(self, code: int, reason: str) -> None:
        if self._socket is not None:
            self._socket.close(code, reason)

    def _send_control(self, message: bytes) -> None:
        if self._socket is not None and self._ended_as is None:
            self._socket.send_text(message)

    # Receiver

    def on_text(self, text: str) -> None:
        self._take(text)

    def on_binary(self, payload: bytes) -> None:
        self._take(payload)

    def on_closed(self, code: int, reason: str) -> None:
        # 1001 is our own server going down; every other end without a goodbye of the carrier is a lost line
        self._end("server_stopped" if code == GOING_AWAY and reason == "the server stops" else "media_lost")

    def _take(self, message: str | bytes) -> None:
        if self._ended_as is not None:
            return
        try:
            heard = self._wire.decode(message)
            if isinstance(heard, bytes):
                self._hear(heard)
            elif heard is not None:
                self._react(heard)
        except WireError as error:
            self.close(BAD_MESSAGE, str(error))
        except Exception:  # the media-socket edge: one call's fault must not reach the loop's other calls
            log.exception("media_message_failed")
            self.close(FAULT, "this call failed")

    def _hear(self, payload: bytes) -> None:
        if self._ears is not None:
            self._ears.feed_audio(payload)
        elif len(self._early) < MAX_EARLY_FRAMES:
            self._early.append(payload)

    def _react(self, event: WireEvent) -> None:
        if isinstance(event, Started):
            if not self.started.done():
                self.started.set_result(event)
        elif isinstance(event, Stopped):
            self._end("caller_hung_up")
        elif self._ears is None:
            return
        elif isinstance(event, Digit):
            self._ears.feed_digit(event.digit)
        elif isinstance(event, MarkReached):
            self._ears.feed_mark(event.name)
        elif isinstance(event, MachineAnswered):
            self._ears.voicemail_detected("carrier")

    def _end(self, reason: str) -> None:
        if self._ended_as is not None:
            return
        self._ended_as = reason
        if not self.started.done():
            self.started.set_result(None)
        if self._ears is not None:
            self._tell_end(self._ears, reason)

    def _tell_end(self, ears: Ears, reason: str) -> None:
        if reason == "server_stopped":
            ears.stop(reason)
        else:
            ears.leg_ended(reason)


async def carry(
    open_media: Open, wire: MediaWire, connect: Connect, *, listener: Listener | None = None
) -> CallResult | None:
    """Carry one call from the open socket to its end; the media token was claimed before.

    ``connect`` makes the call once the media has started. None when it never did, or when the call was refused; the
    caller then ends the run. ``listener`` gets the session's events (a simulated person reads along).
    """
    leg = MediaLeg(wire, listener)
    socket = await open_media(leg)
    leg.attach_socket(socket)
    try:
        if not await _has_started(leg):
            return None
        conversation = await connect(leg)
        leg.attach_session(conversation.session)
        return await conversation.run()
    except DomainError as error:
        leg.close(NOT_CONNECTABLE, error.code)
        return None
    except Exception:
        leg.close(FAULT, "this call failed")
        raise
    finally:
        leg.close(NORMAL, "the call is over")
        await socket.wait_closed()


async def _has_started(leg: MediaLeg) -> bool:
    try:
        async with asyncio.timeout(START_WITHIN_S):
            return await leg.started is not None
    except TimeoutError:
        leg.close(BAD_MESSAGE, "the stream did not start")
        return False
