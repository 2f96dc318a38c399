"""The do-not-call list over HTTP."""

import asyncio
from datetime import datetime
from typing import Annotated

from fastapi import Query
from pydantic import ConfigDict, Field, StringConstraints, model_validator

from offhook.kit.database.database import Session
from offhook.kit.http.pagination import PageParams
from offhook.kit.http.path_ids import LongId
from offhook.kit.http.routing import Router
from offhook.kit.phone_numbers import E164
from offhook.kit.schema import Schema
from offhook.orgs.audit_trail.recorder import write_change_entry
from offhook.orgs.dependencies import CurrentOrg, RequireMember
from offhook.orgs.do_not_call import do_not_call_list, repository
from offhook.orgs.do_not_call.do_not_call_list import SOURCE_IMPORT, SOURCE_MANUAL, DoNotCallOrigin
from offhook.orgs.tables import DoNotCallEntry

router = Router(prefix="/organizations/do-not-call", tags=["do not call"])

MAX_NUMBERS = 5000
PhoneText = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=32)]


class DoNotCallAdd(Schema):
    """One phone number or a list, each with its country code; they are stored in E.164 format."""

    phone_number: PhoneText | None = None
    phone_numbers: list[PhoneText] | None = Field(default=None, min_length=1, max_length=MAX_NUMBERS)
    reason: Annotated[str, StringConstraints(strip_whitespace=True, max_length=500)] | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> "DoNotCallAdd":
        if (self.phone_number is None) == (self.phone_numbers is None):
            raise ValueError("provide either phone_number or phone_numbers")
        return self


class DoNotCallEntryResponse(Schema):
    """``source``: ``manual``, ``import`` (several at once) or ``call`` (the caller of ``run_id`` asked for it)."""

    model_config = ConfigDict(from_attributes=True)

    id: int
    phone_number: str
    reason: str | None
    source: str
    run_id: int | None
    created_by: int | None
    created_at: datetime


class DoNotCallAdded(Schema):
    """``entries`` holds the new entries; numbers that were already listed are only counted."""

    added: int
    already_listed: int
    entries: list[DoNotCallEntryResponse]


class DoNotCallList(Schema):
    entries: list[DoNotCallEntryResponse]
    total_count: int
    page: int
    limit: int
    total_pages: int


@router.get("", response_model=DoNotCallList, operation_id="list_do_not_call")
async def list_do_not_call(
    org: CurrentOrg,
    session: Session,
    page: PageParams,
    search: Annotated[str | None, Query(max_length=32, description="Part of the phone number")] = None,
) -> DoNotCallList:
    """Lists the numbers, newest first."""
    entries, total = await repository.list_entries(
        session, org.organization_id, search=search, limit=page.limit, offset=page.offset
    )
    return DoNotCallList(
        entries=entries,
        total_count=total,
        page=page.page,
        limit=page.limit,
        total_pages=page.total_pages(total),
    )


@router.post("", response_model=DoNotCallAdded, operation_id="add_do_not_call")
async def add_do_not_call(body: DoNotCallAdd, org: RequireMember, session: Session) -> DoNotCallAdded:
    """Adds all numbers, or none of them when one is invalid."""
    texts = body.phone_numbers or [body.phone_number or ""]
    numbers = await asyncio.to_thread(do_not_call_list.normalize_numbers, texts)
    source = SOURCE_MANUAL if body.phone_numbers is None else SOURCE_IMPORT
    origin = DoNotCallOrigin(source, body.reason, user_id=org.user_id)
    entries = await do_not_call_list.add_numbers(session, org.organization_id, numbers, origin)
    if entries:
        target = f"do_not_call:{entries[0].id}" if len(entries) == 1 else "do_not_call"
        await write_change_entry(session, org, "do_not_call.added", target, {"count": len(entries), "source": source})
    return DoNotCallAdded(added=len(entries), already_listed=len(numbers) - len(entries), entries=entries)


@router.delete("", response_model=DoNotCallEntryResponse, operation_id="remove_do_not_call_number")
async def remove_do_not_call_number(
    org: RequireMember, session: Session, phone_number: Annotated[E164, Query(max_length=32)]
) -> DoNotCallEntry:
    """Removes a phone number from the list."""
    removed = await do_not_call_list.remove_entry(session, org.organization_id, number=phone_number)
    await write_change_entry(
        session, org, "do_not_call.removed", f"do_not_call:{removed.id}", {"source": removed.source}
    )
    return removed


@router.delete("/{entry_id}", response_model=DoNotCallEntryResponse, operation_id="remove_do_not_call")
async def remove_do_not_call(entry_id: LongId, org: RequireMember, session: Session) -> DoNotCallEntry:
    """Removes an entry from the list."""
    removed = await do_not_call_list.remove_entry(session, org.organization_id, entry_id=entry_id)
    await write_change_entry(session, org, "do_not_call.removed", f"do_not_call:{entry_id}", {"source": removed.source})
    return removed
