"""Shared base of legs on a socket: buffers audio until the session is attached, and reports the end exactly once."""

from collections.abc import Callable
from typing import Final, Protocol, TypeVar

import structlog

from offhook.kit.audio import Codec
from offhook.kit.media_sockets.sockets import GOING_AWAY, NORMAL, PushSocket

BAD_MESSAGE: Final = 4400
REFUSED: Final = 4401
NOT_CONNECTABLE: Final = 4409
FAULT: Final = 1011
# The caller's audio during call setup: two seconds of 20 ms frames.
MAX_EARLY_FRAMES: Final = 100
T = TypeVar("T")
log = structlog.get_logger(__name__)


class CallInput(Protocol):
    """The part of ``voice.session.CallSession`` that a leg feeds."""

    def feed_audio(self, payload: bytes) -> None: ...
    def feed_digit(self, digit: str) -> None: ...
    def feed_mark(self, name: str) -> None: ...
    def end_call(self, reason: str = "caller_hung_up") -> None: ...
    def voicemail_detected(self, by: str) -> None: ...


class SocketLeg:
    """The shared half of a ``voice.ports.CallLeg`` on a socket; its owner attaches the socket, then the session.

    ``clean_close_codes`` are the close codes by which the far end reports that the caller hung up; any other code
    is a lost line.
    """

    clean_close_codes: frozenset[int] = frozenset()

    def __init__(self, codec: Codec) -> None:
        self.codec = codec
        self._socket: PushSocket | None = None
        self._input: CallInput | None = None
        self._early: list[bytes] = []
        self._early_bytes = 0
        self._max_early_bytes = MAX_EARLY_FRAMES * codec.frame_bytes
        self._end_reason: str | None = None

    def attach_socket(self, socket: PushSocket) -> None:
        self._socket = socket

    def attach_session(self, session: CallInput) -> None:
        """Attaches the session, which first gets the audio received during its setup."""
        self._input = session
        for payload in self._early:
            session.feed_audio(payload)
        self._early.clear()
        if self._end_reason is not None:
            session.end_call(self._end_reason)

    @property
    def is_open(self) -> bool:
        return self._end_reason is None

    def close(self, code: int = NORMAL, reason: str = "") -> None:
        if self._socket is not None:
            self._socket.close(code, reason)

    def on_closed(self, code: int, reason: str) -> None:
        """Ends the leg after either side closed the socket."""
        if code == GOING_AWAY and reason == "the server stops":
            self._end_once("server_stopped")
        else:
            self._end_once("caller_hung_up" if code in self.clean_close_codes else "media_lost")

    def _receive_audio(self, payload: bytes) -> None:
        if self._input is not None:
            self._input.feed_audio(payload)
        elif self._early_bytes + len(payload) <= self._max_early_bytes:
            self._early.append(payload)
            self._early_bytes += len(payload)

    def _run_guarded(self, work: Callable[[T], None], value: T) -> None:
        try:
            work(value)
        except Exception:  # the media-socket edge: one call's fault must not reach the loop's other calls
            log.exception("media_message_failed")
            self.close(FAULT, "this call failed")

    def _end_once(self, reason: str) -> None:
        if self._end_reason is None:
            self._end_reason = reason
            if self._input is not None:
                self._input.end_call(reason)
