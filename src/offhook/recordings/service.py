"""The rules of recordings: creation from uploads, renaming, deletion and copying with workflows."""

import re
import secrets
import wave
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.files.file_store import FileGone, FileStore
from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.recordings import repository
from offhook.recordings.errors import (
    RecordingExists,
    RecordingIdTaken,
    RecordingNotFound,
    RecordingUploadNotFound,
    WorkflowOfRecordingNotFound,
)
from offhook.recordings.ports import RecordingUsers
from offhook.recordings.schemas import RecordingCreate
from offhook.recordings.tables import WorkflowRecording

# Below the storage's folder: files by organization, and files being decoded.
UPLOADS_FOLDER: Final = "fixed-speech"
DRAFTS_FOLDER: Final = "uploads"
# An upload without a recording is removed after this.
UPLOAD_LIFETIME: Final = timedelta(days=1)
_ID_CHARACTERS: Final = "abcdefghjkmnpqrstuvwxyz23456789"


def new_recording_id() -> str:
    """Returns eight characters that are hard to confuse."""
    return "".join(secrets.choice(_ID_CHARACTERS) for _ in range(8))


def storage_key(organization_id: int, upload_id: str) -> str:
    return f"{UPLOADS_FOLDER}/{organization_id}/{upload_id}.wav"


def is_key_of(organization_id: int, key: str) -> bool:
    return re.fullmatch(rf"{UPLOADS_FOLDER}/{organization_id}/[{_ID_CHARACTERS}]{{8}}\.wav", key) is not None


async def check_unused(session: AsyncSession, organization_id: int, key: str) -> None:
    """Raises RecordingExists (409) when a recording uses this file, which must not change; locks it against use until
    the transaction ends.
    """
    await repository.lock_keys(session, organization_id, [key])
    if await repository.used_keys(session, organization_id, [key]):
        raise RecordingExists


async def create_recordings(
    session: AsyncSession,
    users: Sequence[RecordingUsers],
    caller: Caller,
    wanted: Sequence[RecordingCreate],
    lengths: Mapping[str, Decimal],
) -> list[WorkflowRecording]:
    """Creates recordings of uploaded files, all or none. ``lengths`` are what :func:`measure_uploads` found.

    Raises RecordingUploadNotFound (404, also for other organizations' keys and expired uploads), RecordingExists and
    RecordingIdTaken (409), WorkflowOfRecordingNotFound (404).
    """
    organization_id = caller.organization_id
    ids, keys = [item.recording_id for item in wanted], [item.storage_key for item in wanted]
    await repository.lock_keys(session, organization_id, keys)
    taken = await repository.known_ids(session, organization_id, ids)
    for recording_id in ids:
        if recording_id in taken or ids.count(recording_id) > 1:
            raise RecordingIdTaken(f"The recording_id {recording_id!r} is already in use.")
    if len(set(keys)) < len(keys) or await repository.used_keys(session, organization_id, keys):
        raise RecordingExists
    for workflow_id in {item.workflow_id for item in wanted if item.workflow_id is not None}:
        if not any([await user.has_workflow(session, organization_id, workflow_id) for user in users]):
            raise WorkflowOfRecordingNotFound
    if not lengths.keys() >= set(keys):
        raise RecordingUploadNotFound
    rows = [
        WorkflowRecording(
            organization_id=organization_id,
            recording_id=item.recording_id,
            workflow_id=item.workflow_id,
            tts_provider=item.tts_provider,
            tts_model=item.tts_model,
            tts_voice_id=item.tts_voice_id,
            transcript=item.transcript,
            storage_key=item.storage_key,
            details=item.metadata or {},
            duration_s=lengths[item.storage_key],
            created_by=caller.user_id,
        )
        for item in wanted
    ]
    session.add_all(rows)
    await session.flush()
    await write_audit_entry(session, caller, "recordings.created", data={"recording_ids": ids})
    return rows


async def measure_uploads(
    storage: FileStore, organization_id: int, keys: Collection[str], now: datetime
) -> dict[str, Decimal]:
    """Returns the seconds of those files that are uploads of the organization and not too old.

    Before the transaction that makes recordings of them: a bucket can take a minute to respond.
    """
    found = {key: await _upload_length(storage, organization_id, key, now) for key in sorted(set(keys))}
    return {key: length for key, length in found.items() if length is not None}


async def _upload_length(storage: FileStore, organization_id: int, key: str, now: datetime) -> Decimal | None:
    """Returns the seconds of an uploaded file, from its header (44 bytes, so no thread)."""
    if not is_key_of(organization_id, key):
        return None
    try:
        if await storage.last_modified(key) < now - UPLOAD_LIFETIME:
            return None
        async with storage.open_file(key) as path:
            with wave.open(str(path), "rb") as file:
                return Decimal(f"{file.getnframes() / file.getframerate():.3f}")
    except (FileGone, OSError, EOFError, wave.Error):
        return None


async def get_recording(session: AsyncSession, organization_id: int, recording_id: str) -> WorkflowRecording:
    row = await repository.find_by_recording_id(session, organization_id, recording_id)
    if row is None:
        raise RecordingNotFound
    return row


async def known_ids(session: AsyncSession, organization_id: int, recording_ids: Collection[str]) -> set[str]:
    """Returns the ids that are recordings of the organization."""
    return await repository.known_ids(session, organization_id, recording_ids) if recording_ids else set()


async def rename_recording(
    session: AsyncSession, users: Sequence[RecordingUsers], caller: Caller, row_id: int, recording_id: str
) -> WorkflowRecording:
    """Changes the id, also in workflows; raises RecordingNotFound (404) and RecordingIdTaken (409)."""
    row = await repository.find_by_id(session, caller.organization_id, row_id)
    if row is None:
        raise RecordingNotFound
    old = row.recording_id
    if recording_id == old:
        skip_audit_entry(session)
        return row
    if await repository.known_ids(session, caller.organization_id, [recording_id]):
        raise RecordingIdTaken(f"The recording_id {recording_id!r} is already in use.")
    row.recording_id = recording_id
    await session.flush()
    changed = sum([await user.rename_recording(session, caller.organization_id, old, recording_id) for user in users])
    data = {"from": old, "to": recording_id, "versions": changed}
    await write_audit_entry(session, caller, "recording.renamed", f"recording:{row.id}", data)
    return row


async def delete_recording(session: AsyncSession, caller: Caller, recording_id: str) -> str | None:
    """Deletes a recording; returns the key of its file if no copy uses it, for deletion after the commit.

    Raises RecordingNotFound (404), also for all but the first of concurrent requests. Workflows that still name it
    speak its text instead.
    """
    row = await repository.find_by_recording_id(session, caller.organization_id, recording_id, lock=True)
    if row is None:
        raise RecordingNotFound
    key = row.storage_key
    await repository.lock_keys(session, caller.organization_id, [key])
    await session.delete(row)
    await session.flush()
    await write_audit_entry(session, caller, "recording.deleted", f"recording:{row.id}", {"recording_id": recording_id})
    return None if await repository.used_keys(session, caller.organization_id, [key]) else key


async def copy_for_workflow(
    session: AsyncSession, organization_id: int, from_workflow_id: int, to_workflow_id: int
) -> dict[str, str]:
    """Copies a workflow's recordings for its duplicate; returns old ids to new ones. Files are shared."""
    copies: dict[str, str] = {}
    for row in await repository.of_workflow(session, organization_id, from_workflow_id):
        copies[row.recording_id] = new_recording_id()
        session.add(
            WorkflowRecording(
                organization_id=organization_id,
                recording_id=copies[row.recording_id],
                workflow_id=to_workflow_id,
                tts_provider=row.tts_provider,
                tts_model=row.tts_model,
                tts_voice_id=row.tts_voice_id,
                transcript=row.transcript,
                storage_key=row.storage_key,
                details=row.details,
                duration_s=row.duration_s,
                created_by=row.created_by,
            )
        )
    await session.flush()
    return copies
