"""Silence in parts of a recording."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np

from offhook.kit.files.sealed_file import RandomAccessFile
from offhook.runs.recording_files.wav import HEADER_BYTES

CALLER_CHANNEL: Final = 0
AGENT_CHANNEL: Final = 1
# A recognizer's times are a little late or early.
MARGIN_S: Final = 0.3
_FRAME_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class SilentPart:
    """A part of one channel to be silenced, in seconds since the media connected."""

    channel: int
    start_s: float
    end_s: float


def silence_parts(file: RandomAccessFile, parts: Iterable[SilentPart]) -> None:
    """Overwrites the parts of a finished stereo recording; call it in a thread. Raises OSError."""
    rate = int.from_bytes(file.read_at(0, HEADER_BYTES)[24:28], "little")
    frames = (file.size - HEADER_BYTES) // _FRAME_BYTES
    for part in parts:
        first = max(0, int((part.start_s - MARGIN_S) * rate))
        last = min(frames, int((part.end_s + MARGIN_S) * rate))
        if last <= first:
            continue
        at = HEADER_BYTES + first * _FRAME_BYTES
        sound = np.frombuffer(file.read_at(at, (last - first) * _FRAME_BYTES), np.int16).reshape(-1, 2).copy()
        sound[:, part.channel] = 0
        file.write_at(at, sound.tobytes())
