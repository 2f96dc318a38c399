"""Sound files of every kind that is read, and some that are none."""

import io
import struct

import numpy as np
import soundfile

SECONDS = 1.2


def tone(seconds: float = SECONDS, rate: int = 22_050, hz: float = 440, channels: int = 1) -> np.ndarray:
    at = np.arange(round(seconds * rate)) / rate
    mono = 0.4 * np.sin(2 * np.pi * hz * at)
    return np.repeat(mono[:, None], channels, axis=1)


def sound_file(
    kind: str = "WAV", seconds: float = SECONDS, rate: int = 22_050, channels: int = 1, hz: float = 440
) -> bytes:
    """A tone as WAV, FLAC, OGG or MP3."""
    file = io.BytesIO()
    soundfile.write(file, tone(seconds, rate, hz, channels), rate, format=kind)
    return file.getvalue()


def lying_wav() -> bytes:
    """A header that promises four gigabytes, and a second of sound."""
    body = sound_file(rate=8000, seconds=1)
    return body[:4] + struct.pack("<I", 2**32 - 2) + body[8:40] + struct.pack("<I", 2**32 - 40) + body[44:]


NOT_SOUNDS = {
    "text": b"hello, I am no sound at all, but a text of some length",
    "png": b"\x89PNG\r\n\x1a\n" + bytes(200),
    "half a header": sound_file()[:20],
    "aiff": sound_file("AIFF"),
    "zeros": bytes(5000),
}
