"""Facts of a recording's file."""

import hashlib
import wave
from typing import BinaryIO

from offhook.evidence.schemas import RecordingFacts


def measure_recording(file: BinaryIO) -> RecordingFacts:
    """Reads the whole file, which is plain also when it is stored encrypted; call it in a thread."""
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # any reader of bytes
    size = file.tell()
    file.seek(0)
    seconds: float | None
    try:
        with wave.open(file, "rb") as sound:
            seconds = round(sound.getnframes() / sound.getframerate(), 3)
    except (wave.Error, EOFError):
        seconds = None
    return RecordingFacts(sha256=digest, size_bytes=size, duration_seconds=seconds)
