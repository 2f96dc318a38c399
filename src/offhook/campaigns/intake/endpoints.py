"""Contact files over HTTP: an address for an upload, the upload, and the download."""

from typing import Annotated, Final

from fastapi import Header, Request, Response

from offhook.campaigns.intake.contact_files import LINK_TTL_S, MAX_FILE_BYTES
from offhook.campaigns.intake.schemas import PresignedUploadRequest, PresignedUploadResponse, UploadedFileResponse
from offhook.campaigns.services import Services
from offhook.kit.database.database import Session
from offhook.kit.http.openapi import error_responses
from offhook.kit.http.routing import Router
from offhook.orgs import RequireMember, record_link_read
from offhook.root import base_url

PREFIX: Final = "/s3"
router = Router(prefix=PREFIX, tags=["campaigns"])


@router.post(
    "/presigned-upload-url",
    response_model=PresignedUploadResponse,
    operation_id="create_presigned_upload_url",
    responses=error_responses(415),
)
async def create_presigned_upload_url(
    body: PresignedUploadRequest, org: RequireMember, services: Services, request: Request
) -> PresignedUploadResponse:
    """Returns an address to `PUT` a contact CSV of at most `file_size` bytes to, valid for 15 minutes. Sending the file
    needs no other credential."""
    upload = await services.files.create_upload(org.organization_id, body.file_name, body.file_size)
    url = f"{base_url(request)}/api/v1{PREFIX}/uploads/{upload.token}"
    return PresignedUploadResponse(upload_url=url, file_key=upload.key, expires_in=LINK_TTL_S)


@router.put(
    "/uploads/{token}",
    response_model=UploadedFileResponse,
    operation_id="upload_contact_file",
    max_body_size=MAX_FILE_BYTES + 1,
    openapi_extra={"requestBody": {"content": {"text/csv": {"schema": {"type": "string", "format": "binary"}}}}},
)
async def upload_contact_file(token: str, services: Services, request: Request) -> UploadedFileResponse:
    """Stores the bytes of a contact CSV. The signed address is the credential."""
    key, size = await services.files.store_upload(token, request.stream())
    return UploadedFileResponse(file_key=key, file_size=size)


@router.get(
    "/files/{token}",
    response_class=Response,
    responses={200: {"content": {"text/csv": {}}}},
    operation_id="download_contact_file",
)
async def download_contact_file(
    token: str,
    services: Services,
    session: Session,
    request: Request,
    range_header: Annotated[str | None, Header(alias="Range")] = None,
) -> Response:
    """Returns the file behind a signed link, as it was uploaded."""
    response = services.files.download_response(token, range_header)
    organization_id, name = services.files.name_download(token)
    await record_link_read(session, request, organization_id, "contact_file.read", f"contact_file:{name}")
    return response
