"""Sound files of strangers become WAVs of ours: a child process with limits decodes them."""

import asyncio
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import structlog

from offhook.recordings.errors import AudioUnusable, NotAudio

PROGRAM: Final = Path(__file__).with_name("decode_program.py")
MAX_S: Final = 300.0
WITHIN_S: Final = 30.0
# Uploads come in batches of twenty; the calls of this machine need its cores.
AT_ONCE: Final = 2
# The exit codes of ``decode_program``, which is not imported here: its libraries stay out of the server's memory.
_NOT_AUDIO, _TOO_LONG, _EMPTY = 3, 4, 5
log = structlog.get_logger(__name__)


class Decoder:
    """One per process."""

    def __init__(self) -> None:
        self._slots = asyncio.Semaphore(AT_ONCE)

    async def decode(self, source: Path, target: Path) -> float:
        """Write ``target`` (PCM16 mono 16 kHz WAV) and return its length in seconds.

        NotAudio (415), AudioUnusable (422: empty, longer than five minutes, or too hard to decode).
        """
        async with self._slots:
            code, text = await asyncio.to_thread(_run, source, target)
        if code == 0:
            return float(text)
        if code == _NOT_AUDIO:
            raise NotAudio
        if code == _TOO_LONG:
            raise AudioUnusable(f"A recording may last {MAX_S / 60:g} minutes.")
        if code == _EMPTY:
            raise AudioUnusable("This recording holds no sound.")
        log.warning("recording_not_decoded", code=code)
        raise AudioUnusable("This recording could not be decoded.")


def _run(source: Path, target: Path) -> tuple[int, str]:
    # by its path and isolated: it needs three libraries and nothing of this package
    command = [sys.executable, "-I", str(PROGRAM), str(source), str(target), str(MAX_S)]
    environment = {"PATH": os.environ.get("PATH", ""), "OPENBLAS_NUM_THREADS": "1"}
    try:
        done = subprocess.run(  # noqa: S603 - our own program; the file is only an argument
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WITHIN_S,
            check=False,
            text=True,
        )
    except subprocess.TimeoutExpired:
        return -1, ""
    return done.returncode, done.stdout.strip()
