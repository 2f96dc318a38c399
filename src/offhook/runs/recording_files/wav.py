"""The header of a PCM16 WAV file: keeps a growing file valid at any moment, and is repaired after a crash."""

import struct
from typing import Final

from offhook.kit.files.sealed_file import RandomAccessFile

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


def repair_wav_header(file: RandomAccessFile) -> bool:
    """Makes the header match the file after its writer died. Returns False if the file is not one of ours."""
    head = file.read_at(0, HEADER_BYTES)
    if len(head) < HEADER_BYTES:
        return False
    fields = _HEADER.unpack(head)
    channels, sample_rate, block, data_bytes = fields[6], fields[7], fields[9], fields[12]
    if fields[0] != b"RIFF" or fields[11] != b"data" or not block:
        return False
    held = file.size - HEADER_BYTES
    whole = held - held % block
    if data_bytes != whole:
        file.truncate(HEADER_BYTES + whole)
        file.write_at(0, wav_header(sample_rate, channels, whole))
    return True
