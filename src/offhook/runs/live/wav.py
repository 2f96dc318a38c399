"""The header of a PCM16 WAV file: keeps a growing file valid at any moment, and is repaired after a crash."""

import os
import struct
from pathlib import Path
from typing import Final

HEADER_BYTES: Final = 44
_HEADER: Final = struct.Struct("<4sI4s4sIHHIIHH4sI")
_MAX_DATA: Final = 0xFFFFFFFF - HEADER_BYTES


def wav_header(sample_rate: int, channels: int, data_bytes: int) -> bytes:
    """Returns the 44-byte header for ``data_bytes`` of little-endian PCM16."""
    data = min(data_bytes, _MAX_DATA)
    block = channels * 2
    return _HEADER.pack(
        b"RIFF",
        36 + data,
        b"WAVE",
        b"fmt ",
        16,
        1,
        channels,
        sample_rate,
        sample_rate * block,
        block,
        16,
        b"data",
        data,
    )


def repair_wav_header(path: Path) -> bool:
    """Makes the header match the file after its writer died. Returns False if the file is not one of ours."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        head = os.pread(descriptor, HEADER_BYTES, 0)
        if len(head) < HEADER_BYTES:
            return False
        fields = _HEADER.unpack(head)
        channels, sample_rate, block, data_bytes = fields[6], fields[7], fields[9], fields[12]
        if fields[0] != b"RIFF" or fields[11] != b"data" or not block:
            return False
        held = os.fstat(descriptor).st_size - HEADER_BYTES
        whole = held - held % block
        if data_bytes != whole:
            os.ftruncate(descriptor, HEADER_BYTES + whole)
            os.pwrite(descriptor, wav_header(sample_rate, channels, whole), 0)
        return True
    finally:
        os.close(descriptor)


def is_empty_recording(path: Path) -> bool:
    """Returns whether this is a file of ours without a sample; False when there is no file."""
    try:
        return path.stat().st_size <= HEADER_BYTES
    except FileNotFoundError:
        return False
