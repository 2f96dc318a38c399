"""The audit log over HTTP."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Query
from fastapi.responses import StreamingResponse
from pydantic import BeforeValidator

from offhook.kit.database.database import Session
from offhook.kit.files.downloads import content_disposition
from offhook.kit.http.pagination import PageParams
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs.audit_trail import repository
from offhook.orgs.audit_trail.exported_entries import MEDIA_TYPE
from offhook.orgs.dependencies import Now, ReadTransaction, RequireAdmin
from offhook.orgs.services import Services

router = Router(prefix="/organizations", tags=["audit log"])


def _to_hex(seal: object) -> object:
    return seal.hex() if isinstance(seal, bytes) else seal


class AuditEntryResponse(Schema):
    """The actor is a person (``actor_user_id``), an API key (``actor_key_id``) or, with neither, the platform itself.

    ``impersonator_id`` is the superuser who acted on that person's behalf. ``position`` and ``seal`` (64 hex digits) are
    null until a job has sealed the entry.
    """

    id: int
    action: str
    target: str | None
    actor_user_id: int | None
    actor_email: str | None
    actor_key_id: int | None
    actor_key_name: str | None
    impersonator_id: int | None
    impersonator_email: str | None
    ip: str | None
    data: dict[str, Any]
    created_at: datetime
    position: int | None
    seal: Annotated[str | None, BeforeValidator(_to_hex)]


class AuditLogResponse(Schema):
    entries: list[AuditEntryResponse]
    total_count: int
    page: int
    limit: int
    total_pages: int


@router.get("/audit-log", response_model=AuditLogResponse, operation_id="get_audit_log")
async def get_audit_log(
    org: RequireAdmin,
    session: Session,
    page: PageParams,
    filters: Annotated[str | None, Query(description="JSON array of {field, type, value}")] = None,
) -> AuditLogResponse:
    """Lists audit log entries, newest first. Filterable fields: `id`, `action`, `target`, `actor_user_id`, `actor_key_id`,
    `impersonator_id`, `ip`, `created_at`, `position`."""
    rows, total = await repository.list_entries(session, org.organization_id, filters, page)
    return AuditLogResponse(
        entries=[AuditEntryResponse(**row) for row in rows],
        total_count=total,
        page=page.page,
        limit=page.limit,
        total_pages=page.total_pages(total),
    )


@router.get(
    "/audit-log/export",
    response_class=StreamingResponse,
    responses={200: {"content": {MEDIA_TYPE: {}}, "description": "NDJSON, one entry a line"}},
    operation_id="export_audit_log",
)
async def export_audit_log(
    org: RequireAdmin,
    services: Services,
    now: Now,
    _read: ReadTransaction,
    filters: Annotated[str | None, Query(description="JSON array of {field, type, value}")] = None,
) -> StreamingResponse:
    """Downloads the entries as NDJSON, in the order of their chain, those without a seal last; filters are those of the
    list. `offhook audit verify --file` checks the file. With filters, which leave entries out, only a range of `position`
    can be checked."""
    pieces = await services.audit_exports.open_export(org.organization_id, filters)
    name = content_disposition(f"audit_log_{now:%Y%m%d_%H%M%S}.ndjson", kind="attachment")
    headers = {"Content-Disposition": name, "Cache-Control": "no-store"}
    return StreamingResponse(pieces, media_type=MEDIA_TYPE, headers=headers)
