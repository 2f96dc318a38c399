"""The recording of a call on virtual time: written by the calling thread, because a thread's time is not virtual."""

from pathlib import Path
from typing import Final

from offhook.kit.audio import Codec
from offhook.runs.recording_files.call_recording import WavWriter

# Of the caller's side; both sides hold half a minute at most.
WRITE_EVERY_S: Final = 10.0


class PlayRecorder:
    """Implements CallRecorder."""

    def __init__(self, path: Path, codec: Codec) -> None:
        self._writer = WavWriter(path, codec)
        self._write_at_s = WRITE_EVERY_S

    def record_caller(self, at_s: float, payload: bytes) -> None:
        self._writer.record_caller(at_s, payload)
        if at_s >= self._write_at_s:
            self._write_at_s = at_s + WRITE_EVERY_S
            self._writer.flush()

    def record_agent(self, at_s: float, payload: bytes) -> None:
        self._writer.record_agent(at_s, payload)

    def discard(self) -> None:
        self._writer.discard()

    async def close(self) -> None:
        self._writer.flush(everything=True)
