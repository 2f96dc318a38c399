"""Recordings of a call that passed from one machine to another: each has a part, on the clock of the whole call."""

from typing import Final

import numpy as np

from offhook.kit.files.sealed_file import RandomAccessFile
from offhook.runs.recording_files.wav import HEADER_BYTES, wav_header

_BLOCK: Final = 1 << 20
_FRAME_BYTES: Final = 4
_RATE: Final = slice(24, 28)


class PartsDiffer(Exception):
    """They are no two parts of one call."""


def add_part(recording: RandomAccessFile, part: RandomAccessFile) -> bool:
    """Adds what ``part`` has where ``recording`` is silent, and returns whether that changed anything.

    Call it in a thread; doing so again changes nothing. Raises OSError and :class:`PartsDiffer`.
    """
    head = recording.read_at(0, HEADER_BYTES)
    if len(head) < HEADER_BYTES or head[_RATE] != part.read_at(0, HEADER_BYTES)[_RATE]:
        raise PartsDiffer
    held, whole = (_whole_size(file) for file in (recording, part))
    changed = False
    for start in range(HEADER_BYTES, whole, _BLOCK):
        stop = min(start + _BLOCK, whole)
        added = _samples(part.read_at(start, stop - start), stop - start)
        before = _samples(recording.read_at(start, max(0, min(stop, held) - start)), stop - start)
        after = np.where(before == 0, added, before)
        if stop > held or (after != before).any():
            recording.write_at(start, after.tobytes())
            changed = True
    if whole > held:
        rate = int.from_bytes(head[_RATE], "little")
        recording.write_at(0, wav_header(rate, 2, whole - HEADER_BYTES))
    return changed


def _whole_size(file: RandomAccessFile) -> int:
    sound = max(0, file.size - HEADER_BYTES)
    return HEADER_BYTES + sound - sound % _FRAME_BYTES


def _samples(data: bytes, size: int) -> "np.ndarray[tuple[int], np.dtype[np.int16]]":
    return np.frombuffer(data.ljust(size, b"\0"), np.int16)
