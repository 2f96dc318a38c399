"""Recordings over HTTP, with Dograh-compatible responses."""

from collections.abc import AsyncIterator
from typing import Annotated, Final

from fastapi import File, Form, Header, Path, Query, Request, Response, UploadFile

from offhook.kit.database.database import Session
from offhook.kit.files.byte_ranges import RangeResponse
from offhook.kit.http.openapi import error_responses, sdk_method
from offhook.kit.http.pagination import SliceParams
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import CurrentOrg, RequireMember
from offhook.recordings import repository, service
from offhook.recordings.errors import RecordingNotFound
from offhook.recordings.schemas import (
    MAX_FILE_BYTES,
    RecordingDeletedResponse,
    RecordingListResponse,
    RecordingResponse,
    RecordingsCreateRequest,
    RecordingsCreateResponse,
    RecordingUpdateRequest,
    TranscriptionResponse,
    UploadedResponse,
    UploadUrl,
    UploadUrlsRequest,
    UploadUrlsResponse,
)
from offhook.recordings.services import Services
from offhook.recordings.transcriber import transcribe_file
from offhook.recordings.uploads import read_body
from offhook.root import base_url

PREFIX: Final = "/workflow-recordings"
router = Router(prefix=PREFIX, tags=["recordings"])

Name = Annotated[str, Path(min_length=1, max_length=64, description="The recording_id")]
Filter = Annotated[str | None, Query(max_length=128)]
# a multipart body is the file and a little overhead
_MAX_FORM_BYTES: Final = MAX_FILE_BYTES + 64 * 1024


@router.post("/upload-url", response_model=UploadUrlsResponse, operation_id="create_recording_upload_urls")
async def create_upload_urls(
    body: UploadUrlsRequest, org: RequireMember, services: Services, request: Request
) -> UploadUrlsResponse:
    """Returns an upload URL for each file, valid for 30 minutes. WAV, FLAC, Ogg or MP3, up to 5 MB and five minutes."""
    base = base_url(request)
    slots = [services.uploads.create_slot(org.organization_id, file.file_size) for file in body.files]
    return UploadUrlsResponse(
        items=[
            UploadUrl(
                upload_url=f"{base}/api/v1{PREFIX}/uploads/{slot.token}",
                recording_id=slot.upload_id,
                storage_key=slot.storage_key,
            )
            for slot in slots
        ]
    )


@router.put(
    "/uploads/{token}",
    response_model=UploadedResponse,
    operation_id="upload_recording",
    responses=error_responses(415),
    openapi_extra={
        "requestBody": {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
    },
)
async def upload_recording(token: str, services: Services, request: Request) -> UploadedResponse:
    """Uploads the bytes of a file, which is decoded before the response. The signed URL is the credential."""
    key, length_s = await services.uploads.receive_upload(token, request.stream())
    return UploadedResponse(storage_key=key, duration_seconds=length_s)


@router.get(
    "/",
    response_model=RecordingListResponse,
    operation_id="list_recordings",
    openapi_extra=sdk_method("list_recordings", "List the recordings of the organization."),
)
async def list_recordings(
    org: CurrentOrg,
    session: Session,
    part: SliceParams,
    workflow_id: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
    tts_provider: Filter = None,
    tts_model: Filter = None,
    tts_voice_id: Filter = None,
) -> RecordingListResponse:
    """Lists recordings, newest first; all of them without `limit`."""
    filters = {
        "workflow_id": workflow_id,
        "tts_provider": tts_provider,
        "tts_model": tts_model,
        "tts_voice_id": tts_voice_id,
    }
    rows, total = await repository.list_recordings(
        session, org.organization_id, filters, limit=part.limit, offset=part.offset
    )
    return RecordingListResponse(recordings=[RecordingResponse.from_row(row) for row in rows], total=total)


@router.post("/", response_model=RecordingsCreateResponse, operation_id="create_recordings")
async def create_recordings(
    body: RecordingsCreateRequest, org: RequireMember, services: Services
) -> RecordingsCreateResponse:
    """Creates recordings of files that were uploaded within the last day, all or none. Workflows refer to a recording by
    its `recording_id`."""
    rows = await services.library.create_recordings(services.users, org, body.recordings, now=services.clock.now())
    return RecordingsCreateResponse(recordings=[RecordingResponse.from_row(row) for row in rows])


@router.get(
    "/{recording_id}/audio",
    response_class=Response,
    responses={200: {"content": {"audio/wav": {}}}},
    operation_id="get_recording_audio",
)
async def get_recording_audio(
    recording_id: Name,
    org: CurrentOrg,
    session: Session,
    services: Services,
    range_header: Annotated[str | None, Header(alias="Range")] = None,
) -> Response:
    """Returns the audio as calls play it: WAV, mono, 16 kHz."""
    row = await service.get_recording(session, org.organization_id, recording_id)
    name = f"{row.recording_id}.wav"
    return RangeResponse(services.storage, row.storage_key, range_header, "audio/wav", name, missing=RecordingNotFound)


@router.patch("/{id}", response_model=RecordingResponse, operation_id="update_recording")
async def update_recording(
    id: Id,  # noqa: A002 - the parameter's name
    body: RecordingUpdateRequest,
    org: RequireMember,
    session: Session,
    services: Services,
) -> RecordingResponse:
    """Changes the `recording_id`; workflows that use the recording are updated."""
    row = await service.rename_recording(session, services.users, org, id, body.recording_id)
    return RecordingResponse.from_row(row)


@router.delete("/{recording_id}", response_model=RecordingDeletedResponse, operation_id="delete_recording")
async def delete_recording(recording_id: Name, org: RequireMember, services: Services) -> RecordingDeletedResponse:
    """Deletes a recording. Agents that still refer to it speak its text instead."""
    await services.library.delete_recording(org, recording_id)
    return RecordingDeletedResponse(success=True, message="Recording deleted successfully")


@router.post(
    "/transcribe",
    response_model=TranscriptionResponse,
    operation_id="transcribe_recording",
    responses=error_responses(415, 502),
    max_body_size=_MAX_FORM_BYTES,
)
async def transcribe_recording(
    file: Annotated[UploadFile, File()],
    org: RequireMember,
    services: Services,
    language: Annotated[str, Form(min_length=2, max_length=16, pattern=r"^[A-Za-z0-9-]+$")] = "en",
) -> TranscriptionResponse:
    """Transcribes a file of up to one minute with your speech-to-text vendor; takes as long as the recording."""
    stt = (await services.models.for_request(org.organization_id, "Transcript of a recording")).stt[0]
    async with services.uploads.decode_upload(org.organization_id, await read_body(_iter_chunks(file))) as (path, _):
        text, length_s = await transcribe_file(stt, path, language)
    return TranscriptionResponse(transcript=text, language=language, duration_seconds=round(length_s, 3))


async def _iter_chunks(file: UploadFile) -> AsyncIterator[bytes]:
    while chunk := await file.read(64 * 1024):
        yield chunk
