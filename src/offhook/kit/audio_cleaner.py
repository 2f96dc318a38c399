"""Noise suppression and gain for one line, by WebRTC's audio processing (``webrtc-noise-gain``, Apache-2.0).

The library works on 10 ms at 16 kHz. Lines of 8 kHz go through half-band filters here: soxr's streams give out a tenth
of a second at a time, which would be heard too late.
"""

import importlib.util
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from offhook.kit.audio import Codec, Samples

LIBRARY: Final = "webrtc_noise_gain"
_RATE: Final = 16_000
_BLOCK: Final = 160
# Pass band to 3.4 kHz of 4, as a telephone has; each direction is 1.2 ms late.
_TAPS: Final = 20
FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class CleaningConfig:
    """``suppression``: 0 is none, 4 the most. ``target_db``: the level that speech is brought to, in dBFS, -31 to -1; None:
    its level stays."""

    suppression: int
    target_db: int | None = None


def is_cleaning_available() -> bool:
    """Returns whether the library is installed: there are wheels for Linux with glibc only."""
    return importlib.util.find_spec(LIBRARY) is not None


class AudioCleaner:
    """Raises ImportError where the library is missing. Loads it (27 MB) the first time: not for an event loop."""

    def __init__(self, codec: Codec, config: CleaningConfig) -> None:
        from webrtc_noise_gain import AudioProcessor  # noqa: PLC0415 - only for agents that clean, and not everywhere

        self._codec = codec
        self._processor: Any = AudioProcessor(-(config.target_db or 0), config.suppression)
        self._is_narrow = codec.sample_rate != _RATE
        self._double, self._halve = RateDoubler(), RateHalver()
        self._block = _BLOCK * codec.sample_rate // _RATE
        self._rest: Samples = np.zeros(0, np.int16)

    def clean_frame(self, payload: bytes) -> bytes:
        """Returns as much as came, in the line's codec; what is less than 10 ms comes with the next frame."""
        samples = self._codec.decode(payload)
        if self._rest.size or samples.size % self._block:
            samples = np.concatenate((self._rest, samples))
        whole = samples.size // self._block * self._block
        self._rest = samples[whole:]
        if not whole:
            return b""
        wide = self._double.double_rate(samples[:whole]) if self._is_narrow else samples[:whole]
        cleaned = self._process_blocks(wide.tobytes())
        return self._codec.encode(self._halve.halve_rate(cleaned) if self._is_narrow else cleaned)

    def _process_blocks(self, pcm: bytes) -> Samples:
        size = 2 * _BLOCK
        process = self._processor.Process10ms
        parts = [process(pcm[start : start + size]).audio for start in range(0, len(pcm), size)]
        return np.frombuffer(b"".join(parts), np.int16)


def _half_band() -> FloatArray:
    """Returns the taps that give the value between two samples."""
    taps = np.sinc(np.arange(_TAPS) - (_TAPS - 1) / 2) * np.kaiser(_TAPS, 5.0)
    scaled: FloatArray = (taps / taps.sum()).astype(np.float32)
    return scaled


_HALF_BAND: Final = _half_band()


class RateDoubler:
    """8 to 16 kHz, piece by piece."""

    def __init__(self) -> None:
        self._past: FloatArray = np.zeros(_TAPS - 1, np.float32)

    def double_rate(self, samples: Samples) -> Samples:
        line = np.concatenate((self._past, samples), dtype=np.float32)
        self._past = line[-(_TAPS - 1) :]
        doubled = np.empty(2 * samples.size, np.float32)
        doubled[0::2] = line[_TAPS // 2 - 1 : -(_TAPS // 2)]
        doubled[1::2] = np.convolve(line, _HALF_BAND, "valid")
        return _to_samples(doubled)


class RateHalver:
    """16 to 8 kHz, in pieces of an even size."""

    def __init__(self) -> None:
        self._past_even: FloatArray = np.zeros(_TAPS // 2 - 1, np.float32)
        self._past_odd: FloatArray = np.zeros(_TAPS - 1, np.float32)

    def halve_rate(self, samples: Samples) -> Samples:
        even = np.concatenate((self._past_even, samples[0::2]), dtype=np.float32)
        odd = np.concatenate((self._past_odd, samples[1::2]), dtype=np.float32)
        count = samples.size // 2
        self._past_even, self._past_odd = even[count:], odd[count:]
        return _to_samples((even[:count] + np.convolve(odd, _HALF_BAND, "valid")) / 2)


def _to_samples(values: NDArray[np.floating[Any]]) -> Samples:
    samples: Samples = np.clip(np.rint(values), -32768, 32767).astype(np.int16)
    return samples
