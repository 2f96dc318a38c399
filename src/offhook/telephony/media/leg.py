"""The carrier's end of a call for the voice session: frames, marks and events over any media format."""

import asyncio
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from offhook.kit.media_sockets.sockets import NORMAL, PushSocket
from offhook.telephony.media.caller_frames import CallerFrames
from offhook.telephony.ports import (
    ClosesAtEnd,
    DigitPressed,
    MachineAnswered,
    MarkReached,
    MediaStarted,
    MediaStopped,
    MediaWire,
    NumbersFrames,
    WireError,
    WireEvent,
)
from offhook.voice.events import VoiceEvent
from offhook.voice.socket_leg import BAD_MESSAGE, CallInput, SocketLeg

EventListener = Callable[[VoiceEvent], None]


@runtime_checkable
class CaptionWire(Protocol):
    """A wire whose far end can read the agent's words along (simulated callees do)."""

    def encode_caption(self, event: VoiceEvent) -> bytes | None: ...


class MediaLeg(SocketLeg):
    """Implements ``voice.ports.CallLeg`` over a MediaWire, and ``MessageReceiver`` for its socket."""

    def __init__(self, wire: MediaWire, listener: EventListener | None = None) -> None:
        super().__init__(wire.codec)
        if isinstance(wire, ClosesAtEnd):
            self.clean_close_codes = wire.clean_close_codes
        self._wire = wire
        self.confirms_playback = wire.confirms_playback
        self._listener = listener
        self._captions = wire if isinstance(wire, CaptionWire) else None
        self._send_audio: Callable[[bytes], None] | None = None
        self._numbers = wire if isinstance(wire, NumbersFrames) else None
        self.caller_frames = CallerFrames(wire.codec, self._receive_audio)
        self._has_machine = False
        self.started: asyncio.Future[MediaStarted | None] = asyncio.get_running_loop().create_future()

    def attach_session(self, session: CallInput) -> None:
        super().attach_session(session)
        self._report_machine()

    def attach_socket(self, socket: PushSocket) -> None:
        super().attach_socket(socket)
        self._send_audio = socket.send_binary if self._wire.has_binary_audio else socket.send_text

    # CallLeg

    def send_frame(self, payload: bytes) -> None:
        if self._send_audio is not None and self._end_reason is None:
            self._send_audio(self._wire.encode_audio(payload))

    def send_mark(self, name: str) -> None:
        self._send_control(self._wire.encode_mark(name))

    def clear_buffer(self) -> None:
        self._send_control(self._wire.encode_clear())

    def send_event(self, event: VoiceEvent) -> None:
        if self._listener is not None:
            self._listener(event)
        if self._captions is not None and (caption := self._captions.encode_caption(event)) is not None:
            self._send_control(caption)

    async def hang_up(self) -> None:
        self.close(NORMAL, "the call is over")

    def _send_control(self, message: bytes) -> None:
        if self._socket is not None and self._end_reason is None:
            self._socket.send_text(message)

    # MessageReceiver

    def on_text(self, message: str | bytes) -> None:
        self._run_guarded(self._on_message, message)

    on_binary = on_text

    def _on_message(self, message: str | bytes) -> None:
        if self._end_reason is not None:
            return
        try:
            received = self._wire.decode(message)
        except WireError as error:
            self.close(BAD_MESSAGE, str(error))
            return
        if isinstance(received, bytes):
            self.caller_frames.push(received, self._numbers.frame_number if self._numbers is not None else None)
        elif received is not None:
            self.on_wire_event(received)

    def on_wire_event(self, event: WireEvent) -> None:
        """Handles an event of the wire, or one that the carrier reported by a webhook."""
        if isinstance(event, MediaStarted):
            if not self.started.done():
                self.started.set_result(event)
        elif isinstance(event, MediaStopped):
            self._end_once("caller_hung_up")
        elif isinstance(event, MachineAnswered):
            self._has_machine = True
            self._report_machine()
        elif self._input is None:
            return
        elif isinstance(event, DigitPressed):
            self._input.feed_digit(event.digit)
        elif isinstance(event, MarkReached):
            self._input.feed_mark(event.name)

    def _report_machine(self) -> None:
        if self._has_machine and self._input is not None:
            self._input.voicemail_detected("carrier")

    def _end_once(self, reason: str) -> None:
        if not self.started.done():
            self.started.set_result(None)
        super()._end_once(reason)
