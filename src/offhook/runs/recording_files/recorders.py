"""Opens the recorder of a call: a new file, or the one that a call began before its line broke."""

import asyncio
from functools import partial
from typing import Final

import structlog

from offhook.kit.audio import Codec
from offhook.kit.crypto import SecretUnreadable
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.files.disk_space import has_free_space
from offhook.runs.recording_files.call_recording import DISK_ALMOST_FULL, CallRecordings, WavRecorder
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.tables import Run
from offhook.settings import Settings
from offhook.voice.events import VoiceEvent
from offhook.voice.ports import RunSink

RECORDING_FAILED: Final = "recording_failed"  # {message}: the call goes on without one from here on
RECORDING_CONTINUED: Final = "recording_continued"  # {} what is said is written again, after silence
# A disk that is almost full has to have so much more room before recordings go on.
_MARGIN: Final = 1.1
log = structlog.get_logger(__name__)


class CallRecorders:
    """The recorders of a process's calls."""

    def __init__(self, vault: RecordingVault, settings: Settings) -> None:
        self._vault = vault
        self._settings = settings
        self._recordings = CallRecordings(self._has_room)
        self._was_full = False

    async def open_recorder(
        self, run: Run, codec: Codec, sink: RunSink, *, continues: bool = False
    ) -> WavRecorder | None:
        """Returns None for a call that is not recorded. ``continues``: behind what this machine has of the call."""
        if run.recording_key is None:
            return None
        if not await asyncio.to_thread(self._has_room):
            log.error("recording_skipped", run_id=run.id, reason="disk_almost_full")
            sink.emit(VoiceEvent(RECORDING_FAILED, 0.0, {"message": DISK_ALMOST_FULL}))
            return None
        try:
            path = await asyncio.to_thread(self._vault.storage.path_for, run.recording_key)
            key = await self._vault.find_new_key(run.organization_id)
            is_there = continues and await asyncio.to_thread(path.exists)
            if is_there:
                await self._vault.repair(run.recording_key)
            return await self._recordings.open_recorder(
                path, codec, key, on_change=partial(_emit_change, sink), continues=is_there
            )
        except (OSError, SecretUnreadable, *DATABASE_ERRORS) as error:
            log.warning("recording_failed", run_id=run.id, error=str(error))
            sink.emit(VoiceEvent(RECORDING_FAILED, 0.0, {"message": str(error)}))
            return None

    def _has_room(self) -> bool:
        # Uploads are refused first. A call without its recording is better than a database without room.
        needed = self._settings.min_free_disk_mb * 500_000 * (_MARGIN if self._was_full else 1)
        self._was_full = not has_free_space(self._vault.storage.root, round(needed))
        return not self._was_full


def _emit_change(sink: RunSink, problem: str | None, at_s: float) -> None:
    if problem is None:
        sink.emit(VoiceEvent(RECORDING_CONTINUED, at_s, {}))
    else:
        sink.emit(VoiceEvent(RECORDING_FAILED, at_s, {"message": problem}))
