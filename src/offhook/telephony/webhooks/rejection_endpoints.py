"""Calls to an organization's numbers that no agent took, over HTTP."""

from datetime import datetime

from pydantic import ConfigDict

from offhook.kit.database.database import Session
from offhook.kit.http.pagination import PageParams
from offhook.kit.http.routing import Router
from offhook.kit.schema import Schema
from offhook.orgs import CurrentOrg
from offhook.telephony.accounts import repository

router = Router(prefix="/telephony/refused-calls", tags=["telephony"])


class RefusedCallResponse(Schema):
    """``reason`` is stable (``concurrent_call_limit``, ``workflow_not_published``, …), ``message`` what was said."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    provider: str
    telephony_configuration_id: int | None
    call_id: str
    caller_number: str | None
    called_number: str | None
    workflow_id: int | None
    reason: str
    message: str
    created_at: datetime


class RefusedCallList(Schema):
    refused_calls: list[RefusedCallResponse]
    total_count: int
    page: int
    limit: int
    total_pages: int


@router.get("", response_model=RefusedCallList, operation_id="list_refused_calls")
async def list_refused_calls(org: CurrentOrg, session: Session, page: PageParams) -> RefusedCallList:
    """Lists refused calls with the reason, newest first."""
    rows, total = await repository.list_refused_calls(
        session, org.organization_id, limit=page.limit, offset=page.offset
    )
    return RefusedCallList(
        refused_calls=[RefusedCallResponse.model_validate(row) for row in rows],
        total_count=total,
        page=page.page,
        limit=page.limit,
        total_pages=page.total_pages(total),
    )
