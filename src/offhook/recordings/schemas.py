"""Requests and responses of recordings."""

from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import AfterValidator, Field, StringConstraints

from offhook.kit.json_numbers import WholeNumber
from offhook.kit.schema import Schema
from offhook.recordings.tables import WorkflowRecording

MAX_BATCH: Final = 20
MAX_FILE_BYTES: Final = 5 * 1024 * 1024
STORAGE_BACKEND: Final = "local"

RecordingId = Annotated[
    str, StringConstraints(strip_whitespace=True, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$", max_length=64)
]
Transcript = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=5000)]


def _require_small(details: dict[str, Any]) -> dict[str, Any]:
    if len(details) > 50 or len(repr(details)) > 10_000:
        raise ValueError("metadata is limited to 50 keys and 10,000 characters")
    return details


class FileToUpload(Schema):
    filename: str = Field(min_length=1, max_length=255)
    mime_type: str = Field(default="audio/wav", max_length=100)
    file_size: WholeNumber = Field(gt=0, le=MAX_FILE_BYTES, description="Size in bytes, up to 5 MB")


class UploadUrlsRequest(Schema):
    files: Annotated[list[FileToUpload], Field(min_length=1, max_length=MAX_BATCH)]


class UploadUrl(Schema):
    """PUT the file's bytes to ``upload_url`` within 30 minutes; no credential is needed."""

    upload_url: str
    recording_id: str
    storage_key: str


class UploadUrlsResponse(Schema):
    items: list[UploadUrl]


class UploadedResponse(Schema):
    storage_key: str
    duration_seconds: float


class RecordingCreate(Schema):
    recording_id: RecordingId
    storage_key: str = Field(min_length=1, max_length=200)
    transcript: Transcript
    tts_provider: str | None = Field(default=None, max_length=64)
    tts_model: str | None = Field(default=None, max_length=128)
    tts_voice_id: str | None = Field(default=None, max_length=128)
    workflow_id: WholeNumber | None = Field(default=None, ge=1, le=2**31 - 1)
    metadata: Annotated[dict[str, Any], AfterValidator(_require_small)] | None = None


class RecordingsCreateRequest(Schema):
    recordings: Annotated[list[RecordingCreate], Field(min_length=1, max_length=MAX_BATCH)]


class RecordingUpdateRequest(Schema):
    recording_id: RecordingId


class RecordingResponse(Schema):
    id: int
    recording_id: str
    workflow_id: int | None
    organization_id: int
    tts_provider: str | None
    tts_model: str | None
    tts_voice_id: str | None
    transcript: str
    storage_key: str
    storage_backend: str
    metadata: dict[str, Any]
    duration_seconds: float
    created_by: int = Field(description="The user who created it; 0 if it was created with an API key")
    created_at: datetime
    is_active: bool

    @classmethod
    def from_row(cls, row: WorkflowRecording) -> "RecordingResponse":
        return cls(
            id=row.id,
            recording_id=row.recording_id,
            workflow_id=row.workflow_id,
            organization_id=row.organization_id,
            tts_provider=row.tts_provider,
            tts_model=row.tts_model,
            tts_voice_id=row.tts_voice_id,
            transcript=row.transcript,
            storage_key=row.storage_key,
            storage_backend=STORAGE_BACKEND,
            metadata=row.details,
            duration_seconds=float(row.duration_s),
            created_by=row.created_by or 0,
            created_at=row.created_at,
            is_active=True,
        )


class RecordingsCreateResponse(Schema):
    recordings: list[RecordingResponse]


class RecordingListResponse(Schema):
    """``total`` counts all matches, including those outside of ``limit`` and ``offset``."""

    recordings: list[RecordingResponse]
    total: int


class RecordingDeletedResponse(Schema):
    success: bool
    message: str


class TranscriptionResponse(Schema):
    transcript: str
    language: str
    duration_seconds: float
