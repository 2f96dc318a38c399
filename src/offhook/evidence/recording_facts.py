"""Facts of a recording's file."""

import hashlib
import wave
from pathlib import Path

from offhook.evidence.schemas import RecordingFacts


def measure_recording(path: Path) -> RecordingFacts:
    """Reads the whole file; call it in a thread."""
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    seconds: float | None
    try:
        with wave.open(str(path), "rb") as sound:
            seconds = round(sound.getnframes() / sound.getframerate(), 3)
    except (wave.Error, EOFError):
        seconds = None
    return RecordingFacts(sha256=digest, size_bytes=path.stat().st_size, duration_seconds=seconds)
