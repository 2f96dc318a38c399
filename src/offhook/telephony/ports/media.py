"""The format of one media connection."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from offhook.kit.audio import Codec


@dataclass(frozen=True, slots=True)
class MediaStarted:
    """The carrier has connected the media; audio may flow both ways from here."""

    stream_id: str
    call_id: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class DigitPressed:
    digit: str


@dataclass(frozen=True, slots=True)
class MarkReached:
    """Everything sent before this mark was played, or dropped by a clear."""

    name: str


@dataclass(frozen=True, slots=True)
class MachineAnswered:
    """The carrier's answering-machine detection has spoken."""


@dataclass(frozen=True, slots=True)
class MediaStopped:
    """The far end is gone: the caller hung up."""


WireEvent = MediaStarted | DigitPressed | MarkReached | MachineAnswered | MediaStopped


class WireError(Exception):
    """A message that this wire does not have; the text goes to the peer as the reason of the close."""


@runtime_checkable
class ClosesAtEnd(Protocol):
    """A wire on which the end of the call is the end of the socket: ``goodbyes`` are the close codes that say so."""

    @property
    def clean_close_codes(self) -> frozenset[int]: ...


class MediaWire(Protocol):
    """One media connection's format. Made anew for each connection: it may keep the stream's id.

    Outgoing messages are ``str`` encoded as UTF-8 (a text message) unless ``has_binary_audio`` says that
    :meth:`encode` makes binary ones. Called 50 times a second each way: no copy or parse that can be spared.
    """

    @property
    def codec(self) -> Codec: ...

    @property
    def has_binary_audio(self) -> bool: ...

    def decode(self, message: str | bytes) -> bytes | WireEvent | None:
        """Audio as bytes in ``codec`` of any length, an event, or None for what may be ignored; WireError."""
        ...

    def encode_audio(self, payload: bytes) -> bytes:
        """Wrap audio that is already in ``codec``."""
        ...

    def encode_mark(self, name: str) -> bytes: ...

    def encode_clear(self) -> bytes: ...
