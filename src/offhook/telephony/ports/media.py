"""The interface of a carrier's media format."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from offhook.kit.audio import Codec


@dataclass(frozen=True, slots=True)
class MediaStarted:
    """The carrier has connected the media; audio can flow both ways from here on."""

    stream_id: str
    call_id: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DigitPressed:
    digit: str


@dataclass(frozen=True, slots=True)
class MarkReached:
    """Everything sent before this mark was played, or discarded by a clear."""

    name: str


@dataclass(frozen=True, slots=True)
class MachineAnswered:
    """The carrier's answering-machine detection reported a verdict."""


@dataclass(frozen=True, slots=True)
class MediaStopped:
    """The far end is gone: the caller hung up."""


WireEvent = MediaStarted | DigitPressed | MarkReached | MachineAnswered | MediaStopped


class WireError(Exception):
    """An invalid message for this wire; the text is sent to the peer as the close reason."""


@runtime_checkable
class ClosesAtEnd(Protocol):
    """A wire whose socket closes when the call ends: ``goodbyes`` are the close codes that mean so."""

    @property
    def clean_close_codes(self) -> frozenset[int]: ...


@runtime_checkable
class NumbersFrames(Protocol):
    """A wire that numbers the caller's frames."""

    @property
    def frame_number(self) -> int | None:
        """Returns the number of the frame that was decoded last; None when it had none."""
        ...


class MediaWire(Protocol):
    """The format of one media connection. Each connection gets its own instance, which may keep the stream's id.

    Outgoing messages are ``str`` encoded as UTF-8 (a text message), unless ``has_binary_audio`` makes those of
    :meth:`encode_audio` binary. Called 50 times a second in each direction: avoid every needless copy and parse.
    """

    @property
    def codec(self) -> Codec: ...

    @property
    def has_binary_audio(self) -> bool: ...

    @property
    def confirms_playback(self) -> bool:
        """Returns whether the carrier is known to report every mark whose audio it has played."""
        ...

    def decode(self, message: str | bytes) -> bytes | WireEvent | None:
        """Returns audio as bytes in ``codec`` of any length, an event, or None for an ignorable message. Raises
        WireError."""
        ...

    def encode_audio(self, payload: bytes) -> bytes:
        """Wraps audio that is already in ``codec``."""
        ...

    def encode_mark(self, name: str) -> bytes: ...

    def encode_clear(self) -> bytes: ...
