"""Saved views of the list of runs over HTTP."""

from offhook.kit.database.database import Session
from offhook.kit.http.path_ids import Id
from offhook.kit.http.routing import Router
from offhook.orgs import Caller, CurrentOrg, Now
from offhook.runs.tables import RunView
from offhook.runs.views import saved_views
from offhook.runs.views.schemas import CreateViewRequest, UpdateViewRequest, ViewDeleted, ViewRecord

router = Router(prefix="/organizations/usage/run-views", tags=["usage"])


@router.get("", response_model=list[ViewRecord], operation_id="list_run_views")
async def list_run_views(org: CurrentOrg, session: Session) -> list[ViewRecord]:
    """Lists the caller's saved views and those that are shared with the organization, by name."""
    return [_present(org, view) for view in await saved_views.list_views(session, org)]


@router.post("", response_model=ViewRecord, operation_id="create_run_view")
async def create_run_view(body: CreateViewRequest, org: CurrentOrg, session: Session) -> ViewRecord:
    """Saves a view. Everyone can save views; members and up can share them."""
    return _present(org, await saved_views.create_view(session, org, body))


@router.patch("/{view_id}", response_model=ViewRecord, operation_id="update_run_view")
async def update_run_view(
    view_id: Id, body: UpdateViewRequest, org: CurrentOrg, session: Session, now: Now
) -> ViewRecord:
    """Renames, replaces, or shares a view. The person who saved a view can change it; admins can change shared ones."""
    return _present(org, await saved_views.update_view(session, org, view_id, body, now))


@router.delete("/{view_id}", response_model=ViewDeleted, operation_id="delete_run_view")
async def delete_run_view(view_id: Id, org: CurrentOrg, session: Session) -> ViewDeleted:
    """Deletes a view."""
    await saved_views.delete_view(session, org, view_id)
    return ViewDeleted(id=view_id)


def _present(caller: Caller, view: RunView) -> ViewRecord:
    return ViewRecord(
        id=view.id,
        name=view.name,
        search=view.search,
        is_shared=view.is_shared,
        is_own=view.user_id is not None and view.user_id == caller.user_id,
        can_edit=saved_views.can_edit(caller, view),
        created_at=view.created_at,
        updated_at=view.updated_at,
    )
