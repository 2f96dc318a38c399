"""Formats of audio (and languages) on a vendor's wire: mu-law unchanged where the line has it, PCM16 otherwise."""

from dataclasses import dataclass
from typing import Final, Literal

from offhook.kit.audio import MULAW_8K, restore_mulaw


@dataclass(frozen=True, slots=True)
class WireFormat:
    """An encoding and a rate: mulaw has one byte per sample, pcm two (little-endian)."""

    encoding: Literal["mulaw", "pcm"]
    sample_rate: int

    @property
    def sample_bytes(self) -> int:
        return 1 if self.encoding == "mulaw" else 2

    @property
    def bytes_per_s(self) -> int:
        return self.sample_rate * self.sample_bytes

    def to_pcm(self, payload: bytes) -> bytes:
        """Converts wire bytes to PCM16; whole samples only."""
        return MULAW_8K.decode(payload).tobytes() if self.encoding == "mulaw" else payload

    def from_pcm(self, pcm: bytes) -> bytes:
        return restore_mulaw(pcm) if self.encoding == "mulaw" else pcm


MULAW_8000: Final = WireFormat("mulaw", 8000)


@dataclass(frozen=True, slots=True)
class SessionFormats:
    """The formats of a speech-to-speech session: ``heard`` from the caller, ``spoken`` by the model."""

    heard: WireFormat
    spoken: WireFormat


def short_language(tag: str) -> str:
    """Shortens ``en-US`` to ``en``."""
    return tag.partition("-")[0].lower()


def line_format(sample_rate: int) -> WireFormat:
    """Returns the wire format for a line of this rate: telephones use mu-law, with half the bytes and no resampling."""
    return MULAW_8000 if sample_rate == MULAW_8000.sample_rate else WireFormat("pcm", sample_rate)
