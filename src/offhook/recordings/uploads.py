"""Uploads of recordings: a signed URL, a size limit, and decoding before the file can be used."""

import asyncio
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from offhook.kit.clock import Clock
from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.kit.processes.fair_places import FairPlaces
from offhook.orgs import StorageQuota
from offhook.recordings import service
from offhook.recordings.decoder import MAX_WAITING, RecordingDecoder
from offhook.recordings.errors import AudioUnusable, RecordingTooLarge
from offhook.recordings.schemas import MAX_FILE_BYTES

UPLOAD_URL_TTL_S: Final = 1800
# Each has a connection of the process while the bucket takes the file, which can be a minute.
MAX_KEEPING: Final = 4
_PURPOSE: Final = "sized-recording-upload"


@dataclass(frozen=True, slots=True)
class UploadSlot:
    """The destination of an upload; ``token`` is the permission to send it."""

    upload_id: str
    storage_key: str
    token: str


class RecordingUploads:
    """Receives uploads and decodes them."""

    def __init__(
        self, *, db: Database, storage: FileStore, keyring: Keyring, clock: Clock, quota: StorageQuota
    ) -> None:
        self._db = db
        self._storage = storage
        self._keyring = keyring
        self._clock = clock
        self._quota = quota
        self._decoder = RecordingDecoder()
        self._keeping = FairPlaces(MAX_KEEPING, max_waiting=MAX_WAITING)

    def create_slot(self, organization_id: int, max_bytes: int) -> UploadSlot:
        """Returns a destination for one file of at most ``max_bytes``."""
        upload_id = service.new_recording_id()
        expires_at = int(self._clock.now().timestamp()) + UPLOAD_URL_TTL_S
        token = self._keyring.sign_link(_PURPOSE, f"{organization_id}:{upload_id}:{max_bytes}", expires_at)
        return UploadSlot(upload_id, service.storage_key(organization_id, upload_id), token)

    async def receive_upload(self, token: str, body: AsyncIterator[bytes]) -> tuple[str, float]:
        """Stores an upload, replacing an earlier one; returns its storage key and its length in seconds.

        Raises LinkRefused (401), RecordingExists or StorageQuotaExceeded (409), RecordingTooLarge (413), NotAudio (415),
        AudioUnusable (422), TooManyRequests (429), DiskAlmostFull (503).
        """
        payload = self._keyring.verify_link(_PURPOSE, token, self._clock.now().timestamp())
        organization_id, upload_id, max_bytes = payload.split(":")
        key = service.storage_key(int(organization_id), upload_id)
        async with self._db.transaction() as session:
            await service.check_unused(session, int(organization_id), key)
        sent = await read_body(body, int(max_bytes))
        await self._quota.require_room(int(organization_id), len(sent))
        async with (
            self.decode_upload(int(organization_id), sent) as (draft, length_s),
            # The decoded file is what is stored; it may be many times larger than what was sent.
            self._quota.hold_room(int(organization_id), draft.stat().st_size),
            self._keeping.take(int(organization_id)),
            self._db.transaction(int(organization_id)) as session,
        ):
            # Checked again: a recording of an earlier upload may have been created in the meantime.
            await service.check_unused(session, int(organization_id), key)
            await self._storage.keep(key, draft)
        return key, length_s

    @asynccontextmanager
    async def decode_upload(self, organization_id: int, sent: bytes) -> AsyncIterator[tuple[Path, float]]:
        """Yields the path of a WAV of these bytes and its length in seconds."""
        name = secrets.token_hex(8)
        raw = self._storage.path_for(f"{service.DRAFTS_FOLDER}/{name}.upload")
        draft = self._storage.path_for(f"{service.DRAFTS_FOLDER}/{name}.wav")
        try:
            await asyncio.to_thread(raw.write_bytes, sent)
            yield draft, await self._decoder.decode(organization_id, raw, draft)
        finally:
            raw.unlink(missing_ok=True)
            draft.unlink(missing_ok=True)


async def read_body(body: AsyncIterator[bytes], max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Returns the whole body; raises RecordingTooLarge (413), and AudioUnusable (422) when it is empty."""
    sent = bytearray()
    async for chunk in body:
        sent += chunk
        if len(sent) > MAX_FILE_BYTES:
            raise RecordingTooLarge
        if len(sent) > max_bytes:
            raise RecordingTooLarge(f"The file is larger than the {max_bytes} bytes that were announced.")
    if not sent:
        raise AudioUnusable("The file is empty.")
    return bytes(sent)
