"""Decodes untrusted sound files to WAV in a child process with limits."""

from pathlib import Path
from typing import Final

import structlog

from offhook.kit.processes.limited_programs import InputFile, OutputFile, ProcessLimits, SandboxedProcessRunner
from offhook.recordings.errors import AudioUnusable, NotAudio

PROGRAM: Final = Path(__file__).with_name("decode_program.py")
MAX_RECORDING_S: Final = 300.0
# The calls of this machine need its cores.
MAX_CONCURRENT: Final = 2
# Of one organization: uploads come in batches of twenty.
MAX_WAITING: Final = 20
LIMITS: Final = ProcessLimits(timeout_s=30.0, cpu_s=20, memory_bytes=1 << 30, file_bytes=64 << 20)
# Exit codes of ``decode_program``, which is not imported here: its libraries stay out of the server's memory.
_NOT_AUDIO, _TOO_LONG, _EMPTY = 3, 4, 5
log = structlog.get_logger(__name__)


class RecordingDecoder:
    """Decodes uploaded audio in a limited child process."""

    def __init__(self) -> None:
        self._programs = SandboxedProcessRunner(LIMITS, max_concurrent=MAX_CONCURRENT, max_waiting=MAX_WAITING)

    async def decode(self, organization_id: int, source: Path, target: Path) -> float:
        """Writes ``target`` (PCM16 mono 16 kHz WAV) and returns its length in seconds.

        Raises NotAudio (415), AudioUnusable (422: empty, longer than five minutes, or too hard to decode), and
        TooManyRequests (429).
        """
        files = (InputFile(source), OutputFile(target))
        done = await self._programs.run(PROGRAM, *files, str(MAX_RECORDING_S), owner=organization_id)
        code = done.exit_code
        if code == 0:
            return float(done.stdout)
        if code == _NOT_AUDIO:
            raise NotAudio
        if code == _TOO_LONG:
            raise AudioUnusable(f"Recordings are limited to {MAX_RECORDING_S / 60:g} minutes.")
        if code == _EMPTY:
            raise AudioUnusable("This recording contains no audio.")
        log.warning("recording_decode_failed", code=code)
        raise AudioUnusable("This recording could not be decoded. Upload a WAV, FLAC, Ogg, or MP3 file.")
