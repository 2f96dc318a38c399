"""Converts between a telephone's mu-law and a media socket's audio: A-law, linear PCM of other rates and byte
orders."""

from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np

from offhook.kit.audio import MULAW_8K, Resampler

Encoding = Literal["PCMU", "PCMA", "L16"]


def _alaw_decode_table() -> "np.ndarray[tuple[int], np.dtype[np.int16]]":
    """Returns ITU-T G.711's table for A-law: even bits inverted, 13 bits."""
    code = np.arange(256, dtype=np.int32) ^ 0x55
    exponent, mantissa = (code & 0x70) >> 4, code & 0x0F
    low = (mantissa << 4) + 8
    magnitude = np.where(exponent == 0, low, (low + 0x100) << np.maximum(exponent - 1, 0))
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.int16)


_ALAW: Final = _alaw_decode_table()
# Byte for byte: converting between the two laws loses what G.711 says it loses.
_TO_ULAW: Final = MULAW_8K.encode(_ALAW)
_TO_ALAW: Final = bytes(
    int(np.abs(_ALAW.astype(np.int32) - int(sample)).argmin()) for sample in MULAW_8K.decode(bytes(range(256)))
)


@dataclass(slots=True)
class AudioTranscoder:
    """Converts both directions of one stream. The byte orders, to us and from us, apply to L16 only."""

    encoding: Encoding = "PCMU"
    rate: int = 8000
    big_endian_to_us: bool = False
    big_endian_from_us: bool = False
    _up: Resampler = field(init=False)
    _down: Resampler = field(init=False)

    def __post_init__(self) -> None:
        self._up = Resampler(8000, self.rate)
        self._down = Resampler(self.rate, 8000)

    def encode_outgoing(self, mulaw: bytes) -> bytes:
        """Converts a phone's mu-law to the socket's format."""
        if self.encoding == "PCMU":
            return mulaw
        if self.encoding == "PCMA":
            return mulaw.translate(_TO_ALAW)
        samples = self._up.push(MULAW_8K.decode(mulaw).astype("<i2").tobytes())
        return samples.astype(">i2" if self.big_endian_to_us else "<i2").tobytes()

    def decode_incoming(self, payload: bytes) -> bytes:
        """Converts the socket's audio to a phone's mu-law."""
        if self.encoding == "PCMU":
            return payload
        if self.encoding == "PCMA":
            return payload.translate(_TO_ULAW)
        pcm = np.frombuffer(payload[: len(payload) & ~1], ">i2" if self.big_endian_from_us else "<i2")
        return MULAW_8K.encode(self._down.push(pcm.astype("<i2").tobytes()))
