"""Decodes one untrusted sound file in its own process with limits: see ``decoder`` and ``kit.processes``.

    decode_program.py IN OUT MAX_SECONDS

IN is a path, OUT the number of an open descriptor. Writes OUT as WAV, PCM16, mono, 16 kHz, prints its length in
seconds and exits with 0; 3: not a supported sound file, 4: longer than MAX_SECONDS, 5: no sound in it.
"""

import os
import sys
import wave
from pathlib import Path
from typing import Any, Final

import numpy as np
import soundfile
import soxr

SAMPLE_RATE: Final = 16_000
NOT_AUDIO: Final = 3
TOO_LONG: Final = 4
EMPTY: Final = 5
KINDS: Final = frozenset({"WAV", "WAVEX", "FLAC", "OGG", "MP3"})
MAX_CHANNELS: Final = 8


class DecodeRefused(Exception):
    """A refusal; ``code`` is the program's exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


def decode_file(source: Path, target: int, max_s: float) -> float:
    """Decodes a file and returns its length in seconds; raises :class:`DecodeRefused`."""
    try:
        with soundfile.SoundFile(str(source)) as file:
            if (
                file.format not in KINDS
                or not 0 < file.channels <= MAX_CHANNELS
                or not 4000 <= file.samplerate <= 192_000
            ):
                raise DecodeRefused(NOT_AUDIO)
            return _write_wav(file, target, max_s)
    except (soundfile.SoundFileError, RuntimeError, ValueError) as error:
        raise DecodeRefused(NOT_AUDIO) from error


def _write_wav(file: Any, target: int, max_s: float) -> float:
    stream = soxr.ResampleStream(file.samplerate, SAMPLE_RATE, 1, dtype="float32")
    read = written = 0
    with os.fdopen(target, "wb") as file_out, wave.open(file_out, "wb") as out:
        out.setnchannels(1)
        out.setsampwidth(2)
        out.setframerate(SAMPLE_RATE)
        while True:
            block = file.read(file.samplerate, dtype="float32", always_2d=True)
            read += len(block)
            if read > max_s * file.samplerate:
                raise DecodeRefused(TOO_LONG)
            is_last = len(block) < file.samplerate
            mono = np.nan_to_num(block.mean(axis=1)) if len(block) else np.zeros(0, np.float32)
            sound = stream.resample_chunk(mono.astype(np.float32), last=is_last)
            samples = (np.clip(sound, -1, 1) * 32767).astype("<i2")
            out.writeframesraw(samples.tobytes())
            written += len(samples)
            if is_last:
                break
    if not written:
        raise DecodeRefused(EMPTY)
    return written / SAMPLE_RATE


def main() -> int:
    source, target, max_s = sys.argv[1:]
    try:
        sys.stdout.write(f"{decode_file(Path(source), int(target), float(max_s)):.3f}\n")
    except DecodeRefused as refused:
        return refused.code
    return 0


if __name__ == "__main__":
    sys.exit(main())
