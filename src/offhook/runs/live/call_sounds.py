"""Recordings that a call's agent may play; implements ``voice.ports.SoundLibrary``. A missing one never fails a
call."""

import wave

import structlog

from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.kit.files.file_store import FileGone, StorageUnavailable
from offhook.recordings import RecordingLibrary
from offhook.voice.ports import RecordedSound

log = structlog.get_logger(__name__)


class CallSounds:
    """The sound library of one organization."""

    def __init__(self, library: RecordingLibrary, organization_id: int) -> None:
        self._library = library
        self._organization_id = organization_id

    async def find_sound(self, recording_id: str, sample_rate: int) -> RecordedSound | None:
        """Returns None if there is no such recording, or if the database or the file cannot be read."""
        try:
            loaded = await self._library.load_recording(self._organization_id, recording_id, sample_rate)
        except (FileGone, StorageUnavailable, OSError, EOFError, wave.Error, *DATABASE_ERRORS) as error:
            log.warning("recording_not_read", recording_id=recording_id, error=f"{type(error).__name__}: {error}")
            return None
        return None if loaded is None else RecordedSound(recording_id, loaded.transcript, loaded.samples)
