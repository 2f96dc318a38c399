"""Contact files over HTTP: where to send one, the sending, and a link to read it again."""

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import FileResponse

from offhook.campaigns.intake.contact_files import LINK_TTL_S, MAX_FILE_BYTES, ContactFiles, original_file_name
from offhook.campaigns.schemas import PresignedUploadRequest, PresignedUploadResponse, UploadedFileResponse
from offhook.orgs import RequireMember
from offhook.root import base_url, use_service

PREFIX: Final = "/s3"
router = APIRouter(prefix=PREFIX, tags=["campaigns"])

ContactFilesDep = Annotated[ContactFiles, Depends(use_service(ContactFiles))]
_ERROR: Final = {"content": {"application/json": {"schema": {"$ref": "#/components/schemas/ErrorResponse"}}}}
_TOO_LARGE: Final[dict[int | str, dict[str, Any]]] = {413: {"description": "The file is larger than 50 MB", **_ERROR}}
_NOT_CSV: Final[dict[int | str, dict[str, Any]]] = {415: {"description": "Its name does not end in .csv", **_ERROR}}


@router.post(
    "/presigned-upload-url",
    response_model=PresignedUploadResponse,
    operation_id="create_presigned_upload_url",
    responses={**_TOO_LARGE, **_NOT_CSV},
)
async def create_presigned_upload_url(
    body: PresignedUploadRequest, org: RequireMember, files: ContactFilesDep, request: Request
) -> dict[str, Any]:
    """Where to `PUT` a contact CSV, for a quarter of an hour; nothing else is needed to send it."""
    place = files.create_upload(org.organization_id, body.file_name, body.file_size)
    url = f"{base_url(request)}/api/v1{PREFIX}/uploads/{place.token}"
    return {"upload_url": url, "file_key": place.key, "expires_in": LINK_TTL_S}


@router.put(
    "/uploads/{token}",
    response_model=UploadedFileResponse,
    operation_id="upload_contact_file",
    responses=_TOO_LARGE,
    max_body_size=MAX_FILE_BYTES + 1,
    openapi_extra={"requestBody": {"content": {"text/csv": {"schema": {"type": "string", "format": "binary"}}}}},
)
async def upload_contact_file(token: str, files: ContactFilesDep, request: Request) -> dict[str, Any]:
    """The bytes of a contact CSV; the signed address is the credential."""
    key, size = await files.store_upload(token, request.stream())
    return {"file_key": key, "file_size": size}


@router.get(
    "/files/{token}",
    response_class=FileResponse,
    responses={200: {"content": {"text/csv": {}}}},
    operation_id="download_contact_file",
)
async def download_contact_file(token: str, files: ContactFilesDep) -> FileResponse:
    """The file behind a signed link, as it was uploaded."""
    path = files.path_for_download(token)
    return FileResponse(path, media_type="text/csv", filename=original_file_name(path.name))
