"""Opens the recorder of a call: a new file, or the one that a call began before its line broke."""

import asyncio
from typing import Final

import structlog

from offhook.kit.audio import Codec
from offhook.kit.crypto import SecretUnreadable
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.files.disk_space import has_free_space
from offhook.runs.recording_files.call_recording import CallRecordings, WavRecorder
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.tables import Run
from offhook.settings import Settings
from offhook.voice.events import VoiceEvent
from offhook.voice.ports import RunSink

RECORDING_FAILED: Final = "recording_failed"  # {message}: the call goes on without one
log = structlog.get_logger(__name__)


class CallRecorders:
    """The recorders of a process's calls."""

    def __init__(self, vault: RecordingVault, settings: Settings) -> None:
        self._vault = vault
        self._settings = settings
        self._recordings = CallRecordings()

    async def open_recorder(
        self, run: Run, codec: Codec, sink: RunSink, *, continues: bool = False
    ) -> WavRecorder | None:
        """Returns None for a call that is not recorded. ``continues``: behind what this machine has of the call."""
        if run.recording_key is None:
            return None
        root, min_free = self._vault.storage.root, self._settings.min_free_disk_mb * 500_000
        # Uploads are refused first. A call without its recording is better than a database without room.
        if not await asyncio.to_thread(has_free_space, root, min_free):
            log.error("recording_skipped", run_id=run.id, reason="disk_almost_full")
            sink.emit(VoiceEvent(RECORDING_FAILED, 0.0, {"message": "The server's disk is almost full."}))
            return None
        try:
            path = await asyncio.to_thread(self._vault.storage.path_for, run.recording_key)
            key = await self._vault.find_new_key(run.organization_id)
            is_there = continues and await asyncio.to_thread(path.exists)
            if is_there:
                await self._vault.repair(run.recording_key)
            return await self._recordings.open_recorder(path, codec, key, continues=is_there)
        except (OSError, SecretUnreadable, *DATABASE_ERRORS) as error:
            log.warning("recording_failed", run_id=run.id, error=str(error))
            sink.emit(VoiceEvent(RECORDING_FAILED, 0.0, {"message": str(error)}))
            return None
