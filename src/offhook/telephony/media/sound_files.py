"""Reads WAV files of any rate and channel count as 8 kHz mu-law, the format of a telephone."""

import wave
from pathlib import Path
from typing import Final

import numpy as np
import soxr
from numpy.typing import NDArray

from offhook.kit.audio import MULAW_8K

MAX_S: Final = 3600


class SoundFileError(Exception):
    """The file cannot be used. The message is one sentence."""


def read_as_mulaw(path: Path) -> bytes:
    """Reads a PCM WAV file of 8 to 32 bits and mixes its channels down. Raises SoundFileError for other files and
    for more than an hour."""
    try:
        with wave.open(str(path), "rb") as file:
            rate, frames = file.getframerate(), file.getnframes()
            if frames == 0 or rate <= 0:
                raise SoundFileError(f"{path} contains no audio.")
            if frames / rate > MAX_S:
                raise SoundFileError(f"{path} is longer than an hour.")
            samples = _decode_samples(file.readframes(frames), file.getsampwidth())
            mono = samples[: samples.size // file.getnchannels() * file.getnchannels()]
            mono = mono.reshape(-1, file.getnchannels()).mean(axis=1)
    except OSError as error:
        raise SoundFileError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (wave.Error, EOFError) as error:
        raise SoundFileError(f"{path} is not a PCM WAV file: {str(error) or 'it ends too early'}.") from None
    if rate != MULAW_8K.sample_rate:
        mono = soxr.resample(mono, rate, MULAW_8K.sample_rate)
    return MULAW_8K.encode(np.clip(mono * 32768, -32768, 32767).astype(np.int16))


def _decode_samples(raw: bytes, width: int) -> NDArray[np.float64]:
    """Returns samples from -1 to 1. Eight-bit WAV is unsigned, every other width signed and little-endian."""
    if width == 1:
        return (np.frombuffer(raw, np.uint8).astype(np.float64) - 128) / 128
    if width == 2:
        return np.frombuffer(raw[: len(raw) // 2 * 2], "<i2").astype(np.float64) / 2**15
    if width == 3:
        packed = np.frombuffer(raw[: len(raw) // 3 * 3], np.uint8).reshape(-1, 3).astype(np.int32)
        value = packed[:, 0] << 8 | packed[:, 1] << 16 | packed[:, 2] << 24
        return value.astype(np.float64) / 2**31
    if width == 4:
        return np.frombuffer(raw[: len(raw) // 4 * 4], "<i4").astype(np.float64) / 2**31
    raise SoundFileError(f"WAV files of {width * 8} bits are not supported.")
