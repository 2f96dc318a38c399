"""The audit log over HTTP."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query
from pydantic import BaseModel

from offhook.kit.database.database import Session
from offhook.kit.http.pagination import PageParams
from offhook.orgs.audit_trail import repository
from offhook.orgs.dependencies import RequireAdmin

router = APIRouter(prefix="/organizations", tags=["audit log"])


class AuditEntryResponse(BaseModel):
    """The actor is a person (``actor_user_id``), an API key (``actor_key_id``) or, with neither, the platform itself.

    ``impersonator_id`` is the superuser who acted on that person's behalf.
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


class AuditLogResponse(BaseModel):
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
    `impersonator_id`, `ip`, `created_at`."""
    rows, total = await repository.list_entries(session, org.organization_id, filters, page)
    return AuditLogResponse(
        entries=[AuditEntryResponse(**row) for row in rows],
        total_count=total,
        page=page.page,
        limit=page.limit,
        total_pages=page.total_pages(total),
    )
