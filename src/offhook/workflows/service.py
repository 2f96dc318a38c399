"""The rules of workflows and their versions. Other domains use the functions at the end: which version runs?"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.workflows import repository
from offhook.workflows.changes import WorkflowChanges
from offhook.workflows.definition import complete_definition
from offhook.workflows.errors import (
    StatusFilterInvalid,
    TriggerNotFound,
    VersionNotFound,
    WorkflowArchived,
    WorkflowNotFound,
    WorkflowNotPublished,
    WorkflowRevisionConflict,
)
from offhook.workflows.folders import folders
from offhook.workflows.ports import RunCounter
from offhook.workflows.repository import MAX_ID, LockReason
from offhook.workflows.tables import Workflow, WorkflowVersion

STATUSES: Final = ("active", "archived")


@dataclass(frozen=True, slots=True)
class WorkflowView:
    """A workflow with the version that is shown of it: the draft if there is one, else the published one."""

    workflow: Workflow
    shown: WorkflowVersion
    published_number: int | None
    has_draft: bool
    total_runs: int


async def create_workflow(
    session: AsyncSession,
    caller: Caller,
    name: str,
    definition: Mapping[str, Any],
    *,
    configurations: Mapping[str, Any] | None = None,
    template_context_variables: Mapping[str, Any] | None = None,
) -> Workflow:
    """A new workflow whose version 1 is a draft."""
    workflow = Workflow(organization_id=caller.organization_id, name=name, created_by=caller.user_id)
    session.add(workflow)
    await session.flush()
    await session.refresh(workflow)
    content = WorkflowChanges(None, definition, configurations, template_context_variables)
    await _write_draft(session, workflow, None, None, content, created_by=caller.user_id)
    await write_audit_entry(session, caller, "workflow.created", f"workflow:{workflow.id}", {"name": name})
    return workflow


async def get_workflow_view(
    session: AsyncSession, counter: RunCounter, organization_id: int, workflow_id: int
) -> WorkflowView:
    """WorkflowNotFound (404)."""
    workflow = await get_workflow(session, organization_id, workflow_id)
    draft, published = await repository.latest_versions(session, organization_id, workflow_id)
    shown = draft or published
    if shown is None:  # a workflow is created together with its first version
        raise WorkflowNotFound
    runs = await counter.count_runs(session, organization_id, [workflow_id])
    return WorkflowView(
        workflow=workflow,
        shown=shown,
        published_number=published.version_number if published else None,
        has_draft=draft is not None,
        total_runs=runs.get(workflow_id, 0),
    )


def parse_statuses(text: str | None) -> tuple[str, ...]:
    """``"active,archived"`` → its parts; nothing means every status. StatusFilterInvalid (422)."""
    parts = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    wrong = [part for part in parts if part not in STATUSES]
    if wrong:
        raise StatusFilterInvalid(f"Invalid workflow status filter: {wrong!r:.200}. Allowed values: {list(STATUSES)}.")
    return parts


async def list_workflows(
    session: AsyncSession,
    counter: RunCounter,
    organization_id: int,
    statuses: Collection[str],
    *,
    limit: int | None,
    offset: int,
) -> tuple[list[tuple[str, int]], int]:
    """(JSON object as ``repository.listing`` gives it, number of runs) newest first, and how many there are in all."""
    rows = await repository.list_as_json(session, organization_id, statuses, limit=limit, offset=offset)
    runs = await counter.count_runs(session, organization_id, [workflow_id for workflow_id, _ in rows]) if rows else {}
    is_all = limit is None and not offset
    total = len(rows) if is_all else await _count_total(session, organization_id, statuses)
    return [(shown, runs.get(workflow_id, 0)) for workflow_id, shown in rows], total


async def _count_total(session: AsyncSession, organization_id: int, statuses: Collection[str]) -> int:
    by_status = await repository.count_by_status(session, organization_id)
    return sum(by_status.get(status, 0) for status in statuses or STATUSES)


async def list_names(
    session: AsyncSession, organization_id: int, statuses: Collection[str], *, limit: int | None, offset: int
) -> tuple[Sequence[Row[int, str]], int]:
    """Newest first, and how many there are in all."""
    rows = await repository.list_names(session, organization_id, statuses, limit=limit, offset=offset)
    return rows, await _count_total(session, organization_id, statuses)


async def count_workflows(session: AsyncSession, organization_id: int) -> dict[str, int]:
    by_status = await repository.count_by_status(session, organization_id)
    numbers = {status: by_status.get(status, 0) for status in STATUSES}
    return {"total": sum(numbers.values()), **numbers}


async def list_versions(
    session: AsyncSession, organization_id: int, workflow_id: int, *, limit: int | None, offset: int
) -> tuple[Sequence[WorkflowVersion], int]:
    await get_workflow(session, organization_id, workflow_id)
    return await repository.list_versions(session, organization_id, workflow_id, limit=limit, offset=offset)


async def update_workflow(
    session: AsyncSession,
    caller: Caller,
    workflow_id: int,
    changes: WorkflowChanges,
    *,
    expected_revision: int | None = None,
) -> None:
    """The name takes effect at once; everything else goes into the draft, which is made when there is none.

    WorkflowChanged (409) when the workflow is at another revision than expected.
    """
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    check_revision(workflow, expected_revision)
    draft, published = await repository.latest_versions(session, caller.organization_id, workflow_id)
    changes = changes.without_unchanged(workflow, draft or published)
    if not changes.changed_fields:
        skip_audit_entry(session)
        return
    if changes.name is not None:
        workflow.name = changes.name
    if changes.are_versioned:
        await _write_draft(session, workflow, draft, published, changes, created_by=caller.user_id)
    await repository.mark_changed(session, workflow, datetime.now(UTC), revises=True)
    await write_audit_entry(
        session, caller, "workflow.updated", f"workflow:{workflow_id}", {"fields": changes.changed_fields}
    )


async def create_draft(
    session: AsyncSession,
    caller: Caller,
    workflow_id: int,
    changes: WorkflowChanges,
    *,
    expected_revision: int | None = None,
) -> tuple[WorkflowVersion, int]:
    """The draft, made from the published version when there is none, and changed when there is something to change;
    and the workflow's revision. WorkflowChanged (409) when it is at another one than expected."""
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    check_revision(workflow, expected_revision)
    draft, published = await repository.latest_versions(session, caller.organization_id, workflow_id)
    if draft is not None and not changes.are_versioned:
        skip_audit_entry(session)
        return draft, workflow.revision
    written = await _write_draft(session, workflow, draft, published, changes, created_by=caller.user_id)
    await repository.mark_changed(session, workflow, datetime.now(UTC), revises=True)
    data = {"version": written.version_number, "fields": changes.changed_fields}
    await write_audit_entry(session, caller, "workflow.draft_created", f"workflow:{workflow_id}", data)
    return written, workflow.revision


async def restore_version(session: AsyncSession, caller: Caller, workflow_id: int, number: int) -> WorkflowVersion:
    """Copy an old version into the draft. VersionNotFound (404)."""
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    source = await repository.version_by_number(session, caller.organization_id, workflow_id, number)
    if source is None:
        raise VersionNotFound
    draft, published = await repository.latest_versions(session, caller.organization_id, workflow_id)
    if draft is not None and draft.id == source.id:
        skip_audit_entry(session)
        return draft
    content = WorkflowChanges(
        definition=source.definition,
        configurations=source.configurations,
        template_context_variables=source.template_context_variables,
    )
    written = await _write_draft(session, workflow, draft, published, content, created_by=caller.user_id)
    written.note = f"Restored from version {number}"
    await repository.mark_changed(session, workflow, datetime.now(UTC), revises=True)
    data = {"from": number, "version": written.version_number}
    await write_audit_entry(session, caller, "workflow.restored", f"workflow:{workflow_id}", data)
    return written


async def set_status(session: AsyncSession, caller: Caller, workflow_id: int, status: str) -> None:
    """``active`` or ``archived``; idempotent."""
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    if workflow.status == status:
        skip_audit_entry(session)
        return
    workflow.status = status
    await repository.mark_changed(session, workflow, datetime.now(UTC))
    action = "workflow.archived" if status == "archived" else "workflow.unarchived"
    await write_audit_entry(session, caller, action, f"workflow:{workflow_id}")


async def move_to_folder(session: AsyncSession, caller: Caller, workflow_id: int, folder_id: int | None) -> None:
    """Into a folder of the same organization, or out of its folder. FolderNotFound (404)."""
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    if folder_id is not None:
        await folders.get_folder(session, caller.organization_id, folder_id)
    if workflow.folder_id == folder_id:
        skip_audit_entry(session)
        return
    workflow.folder_id = folder_id
    await repository.mark_changed(session, workflow, datetime.now(UTC))
    await write_audit_entry(session, caller, "workflow.moved", f"workflow:{workflow_id}", {"folder_id": folder_id})


def check_revision(workflow: Workflow, expected: int | None) -> None:
    """WorkflowChanged (409) unless it is at the revision that the editor has read."""
    if expected is not None and expected != workflow.revision:
        raise WorkflowRevisionConflict(expected, workflow.revision)


async def get_workflow(
    session: AsyncSession, organization_id: int, workflow_id: int, *, lock: LockReason | None = None
) -> Workflow:
    """The row itself, for the use cases of this domain. WorkflowNotFound (404)."""
    found = None
    if 0 < workflow_id <= MAX_ID:
        found = await repository.find_workflow(session, organization_id, workflow_id, lock=lock)
    if found is None:
        raise WorkflowNotFound
    return found


async def _write_draft(
    session: AsyncSession,
    workflow: Workflow,
    draft: WorkflowVersion | None,
    published: WorkflowVersion | None,
    changes: WorkflowChanges,
    *,
    created_by: int | None,
) -> WorkflowVersion:
    """Change the draft, or make one of the published version. The caller holds the lock on the workflow."""
    base = draft or published
    if draft is None:
        draft = WorkflowVersion(
            workflow_id=workflow.id,
            organization_id=workflow.organization_id,
            version_number=await repository.next_number(session, workflow.organization_id, workflow.id),
            status="draft",
            definition=base.definition if base else {"nodes": [], "edges": []},
            configurations=base.configurations if base else {},
            template_context_variables=base.template_context_variables if base else {},
            created_by=created_by,
        )
        session.add(draft)
    if changes.definition is not None:
        draft.definition = complete_definition(changes.definition, base.definition if base else None)
    if changes.configurations is not None:
        draft.configurations = dict(changes.configurations)
    if changes.template_context_variables is not None:
        draft.template_context_variables = dict(changes.template_context_variables)
    await session.flush()
    await session.refresh(draft)
    return draft


# What other domains ask -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VersionToRun:
    """Everything that a conversation needs of a workflow, read once when it begins."""

    workflow_id: int
    workflow_name: str
    version_id: int
    version_number: int
    definition: JsonObject
    configurations: JsonObject
    template_context_variables: JsonObject
    organization_id: int


async def get_published_version(session: AsyncSession, organization_id: int, workflow_id: int) -> VersionToRun:
    """The version that production runs. WorkflowNotFound, WorkflowArchived (404), WorkflowNotPublished (409)."""
    workflow = await _get_active(session, organization_id, workflow_id)
    _, version = await repository.latest_versions(session, organization_id, workflow_id)
    if version is None:
        raise WorkflowNotPublished
    return _to_run(workflow, version)


async def draft_or_published(session: AsyncSession, organization_id: int, workflow_id: int) -> VersionToRun:
    """The version that a test call or a text chat runs. Errors as of :func:`get_published_version`."""
    workflow = await _get_active(session, organization_id, workflow_id)
    draft, version = await repository.latest_versions(session, organization_id, workflow_id)
    if draft is None and version is None:
        raise WorkflowNotPublished
    return _to_run(workflow, draft or version)  # type: ignore[arg-type]  # one of them is there


async def version_to_run(session: AsyncSession, organization_id: int, version_id: int) -> VersionToRun:
    """One certain version, for a run that has begun: also when the workflow was archived since. VersionNotFound (404)."""
    version = await repository.version_by_id(session, organization_id, version_id) if version_id <= MAX_ID else None
    if version is None:
        raise VersionNotFound
    return _to_run(await get_workflow(session, organization_id, version.workflow_id), version)


async def name_of(session: AsyncSession, organization_id: int, workflow_id: int) -> str:
    """The display name, archived or not. WorkflowNotFound (404)."""
    return (await get_workflow(session, organization_id, workflow_id)).name


async def names_of(session: AsyncSession, organization_id: int, workflow_ids: Collection[int]) -> dict[int, str]:
    """The display names by id; workflows that are not there are left out."""
    return await repository.names_of(session, organization_id, workflow_ids) if workflow_ids else {}


async def by_trigger(session: AsyncSession, path: str) -> tuple[int, int]:
    """``(organization_id, workflow_id)`` behind a public address. TriggerNotFound (404)."""
    found = await repository.active_trigger(session, path) if "\0" not in path and path.isascii() else None
    if found is None:
        raise TriggerNotFound
    return found


async def organization_of(session: AsyncSession, workflow_id: int) -> int:
    """Whose workflow this is: for carriers' webhooks, whose address names it and whose signature is checked next.
    WorkflowNotFound (404)."""
    found = await repository.organization_of(session, workflow_id) if workflow_id <= MAX_ID else None
    if found is None:
        raise WorkflowNotFound
    return found


async def _get_active(session: AsyncSession, organization_id: int, workflow_id: int) -> Workflow:
    # locked, so that nobody deletes it before the run that is about to begin is there
    workflow = await get_workflow(session, organization_id, workflow_id, lock="run")
    if workflow.status != "active":
        raise WorkflowArchived
    return workflow


def _to_run(workflow: Workflow, version: WorkflowVersion) -> VersionToRun:
    return VersionToRun(
        workflow_id=workflow.id,
        workflow_name=workflow.name,
        version_id=version.id,
        version_number=version.version_number,
        definition=version.definition,
        configurations=version.configurations,
        template_context_variables=version.template_context_variables,
        organization_id=workflow.organization_id,
    )
