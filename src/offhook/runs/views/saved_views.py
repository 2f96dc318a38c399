"""The rules of saved views: a person's own, and those that are shared with the organization."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.orgs.caller import ADMINS, WRITERS
from offhook.runs.tables import RunView
from offhook.runs.views import repository
from offhook.runs.views.errors import (
    TooManyViews,
    ViewNameTaken,
    ViewNotEditable,
    ViewNotFound,
    ViewNotShareable,
)
from offhook.runs.views.schemas import CreateViewRequest, UpdateViewRequest

MAX_VIEWS: Final = 100


async def list_views(session: AsyncSession, caller: Caller) -> Sequence[RunView]:
    """Returns the caller's own views and the shared ones, by name."""
    return await repository.list_views(session, caller.organization_id, caller.user_id)


async def create_view(session: AsyncSession, caller: Caller, body: CreateViewRequest) -> RunView:
    """Saves a view. Raises ViewNotShareable (403), ViewNameTaken and TooManyViews (409)."""
    # Nobody would see a program's own view.
    is_shared = body.is_shared or caller.user_id is None
    if is_shared:
        _require_sharing(caller)
    known = await repository.lock_views(session, caller.organization_id, caller.user_id)
    if body.name.lower() in known:
        raise ViewNameTaken
    if len(known) >= MAX_VIEWS:
        raise TooManyViews
    view = RunView(
        organization_id=caller.organization_id,
        user_id=caller.user_id,
        name=body.name,
        search=body.search,
        is_shared=is_shared,
    )
    session.add(view)
    await session.flush()
    await session.refresh(view)
    await _record(session, caller, "run_view.created", view)
    return view


async def update_view(
    session: AsyncSession, caller: Caller, view_id: int, body: UpdateViewRequest, now: datetime
) -> RunView:
    """Changes a view. Raises ViewNotFound (404), ViewNotEditable, ViewNotShareable (403), ViewNameTaken (409)."""
    view = await _get_editable(session, caller, view_id)
    was_shared = view.is_shared
    if body.name is not None:
        known = await repository.lock_views(session, caller.organization_id, view.user_id)
        if known.get(body.name.lower(), view_id) != view_id:
            raise ViewNameTaken
        view.name = body.name
    if body.search is not None:
        view.search = body.search
    if body.is_shared is not None and view.user_id is not None:
        if body.is_shared:
            _require_sharing(caller)
        view.is_shared = body.is_shared
    if not session.is_modified(view):
        return view
    view.updated_at = now
    await session.flush()
    await _record(session, caller, "run_view.updated", view, was_shared=was_shared)
    return view


async def delete_view(session: AsyncSession, caller: Caller, view_id: int) -> None:
    """Deletes a view. Raises ViewNotFound (404), ViewNotEditable (403)."""
    view = await _get_editable(session, caller, view_id)
    await repository.delete_view(session, caller.organization_id, view_id)
    await _record(session, caller, "run_view.deleted", view)


def can_edit(caller: Caller, view: RunView) -> bool:
    """Returns whether the caller may change the view: the person who saved it, and admins if it is shared."""
    if view.user_id == caller.user_id and (caller.user_id is not None or caller.role in WRITERS):
        return True
    return view.is_shared and caller.role in ADMINS


def _require_sharing(caller: Caller) -> None:
    if caller.role not in WRITERS:
        raise ViewNotShareable


async def _get_editable(session: AsyncSession, caller: Caller, view_id: int) -> RunView:
    view = await repository.find_view(session, caller.organization_id, caller.user_id, view_id)
    if view is None:
        raise ViewNotFound
    if not can_edit(caller, view):
        raise ViewNotEditable
    return view


async def _record(
    session: AsyncSession, caller: Caller, action: str, view: RunView, *, was_shared: bool = False
) -> None:
    """Writes changes of shared views to the audit log; a person's own views concern no one else."""
    if view.is_shared or was_shared:
        await write_audit_entry(session, caller, action, f"run_view:{view.id}", {"name": view.name})
    else:
        skip_audit_entry(session)
