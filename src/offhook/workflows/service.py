"""The rules of workflows and their versions. The functions at the end tell other domains which version runs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database_clock import time_of
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, skip_audit_entry, write_audit_entry
from offhook.orgs.people import members
from offhook.workflows import repository
from offhook.workflows.canaries import queries as canaries
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
from offhook.workflows.version_scenarios.queries import read_scenarios

STATUSES: Final = ("active", "archived")


@dataclass(frozen=True, slots=True)
class WorkflowView:
    """A workflow with its displayed version: the draft if there is one, else the canary's, else the published one."""

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
    scenarios: Sequence[Any] | None = None,
) -> Workflow:
    """Creates a workflow whose version 1 is a draft."""
    workflow = Workflow(organization_id=caller.organization_id, name=name, created_by=caller.user_id)
    session.add(workflow)
    await session.flush()
    await session.refresh(workflow)
    content = WorkflowChanges(None, definition, configurations, template_context_variables, scenarios)
    await _write_draft(session, workflow, None, None, content, created_by=caller.user_id)
    await write_audit_entry(session, caller, "workflow.created", f"workflow:{workflow.id}", {"name": name})
    return workflow


async def get_workflow_view(
    session: AsyncSession, count_runs: RunCounter, organization_id: int, workflow_id: int
) -> WorkflowView:
    """Returns a workflow with its displayed version. Raises WorkflowNotFound (404)."""
    workflow = await get_workflow(session, organization_id, workflow_id)
    draft, published = await repository.latest_versions(session, organization_id, workflow_id)
    shown = draft or await canaries.current_version(session, organization_id, workflow_id) or published
    if shown is None:  # a workflow is created together with its first version
        raise WorkflowNotFound
    runs = await count_runs(session, organization_id, [workflow_id])
    number = published.version_number if published else None
    return WorkflowView(workflow, shown, number, has_draft=draft is not None, total_runs=runs.get(workflow_id, 0))


def parse_statuses(text: str | None) -> tuple[str, ...]:
    """Splits ``"active,archived"``; an empty value means every status. Raises StatusFilterInvalid (422)."""
    parts = tuple(part.strip() for part in (text or "").split(",") if part.strip())
    wrong = [part for part in parts if part not in STATUSES]
    if wrong:
        raise StatusFilterInvalid(f"Invalid workflow status filter: {wrong!r:.200}. Allowed values: {list(STATUSES)}.")
    return parts


async def list_workflows(
    session: AsyncSession,
    count_runs: RunCounter,
    organization_id: int,
    statuses: Collection[str],
    *,
    limit: int | None,
    offset: int,
) -> tuple[list[tuple[str, int]], int]:
    """Returns (JSON object of ``repository.list_as_json``, number of runs), newest first, and the total count."""
    rows = await repository.list_as_json(session, organization_id, statuses, limit=limit, offset=offset)
    runs = await count_runs(session, organization_id, [workflow_id for workflow_id, _ in rows]) if rows else {}
    is_all = limit is None and not offset
    total = len(rows) if is_all else await _count_total(session, organization_id, statuses)
    return [(shown, runs.get(workflow_id, 0)) for workflow_id, shown in rows], total


async def _count_total(session: AsyncSession, organization_id: int, statuses: Collection[str]) -> int:
    by_status = await repository.count_by_status(session, organization_id)
    return sum(by_status.get(status, 0) for status in statuses or STATUSES)


async def list_names(
    session: AsyncSession, organization_id: int, statuses: Collection[str], *, limit: int | None, offset: int
) -> tuple[Sequence[Row[int, str]], int]:
    """Returns ids and names, newest first, and the total count."""
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


async def authors_of(
    session: AsyncSession, organization_id: int, versions: Sequence[WorkflowVersion]
) -> dict[int, members.MemberName]:
    """Returns the authors of versions by version id; omits former members."""
    authors = {version.id: version.created_by for version in versions}
    names = await members.names_of(session, organization_id, {author for author in authors.values() if author})
    return {version_id: names[author] for version_id, author in authors.items() if author in names}


async def update_workflow(
    session: AsyncSession,
    caller: Caller,
    workflow_id: int,
    changes: WorkflowChanges,
    *,
    expected_revision: int | None = None,
) -> None:
    """Renames the workflow at once; writes everything else to the draft, creating one if needed.

    Raises WorkflowRevisionConflict (409) when the workflow is not at the expected revision.
    """
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    check_revision(workflow, expected_revision)
    draft, base = await canaries.draft_and_base(session, caller.organization_id, workflow_id)
    changes = changes.without_unchanged(workflow, draft or base)
    if not changes.changed_fields:
        skip_audit_entry(session)
        return
    if changes.name is not None:
        workflow.name = changes.name
    if changes.are_versioned:
        await _write_draft(session, workflow, draft, base, changes, created_by=caller.user_id)
    await repository.mark_changed(session, workflow, time_of(session), revises=True)
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
    """Returns the draft, created from the published version if needed and updated with any changes, and the revision.

    Raises WorkflowRevisionConflict (409) when the workflow is not at the expected revision.
    """
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    check_revision(workflow, expected_revision)
    draft, base = await canaries.draft_and_base(session, caller.organization_id, workflow_id)
    if draft is not None and not changes.are_versioned:
        skip_audit_entry(session)
        return draft, workflow.revision
    written = await _write_draft(session, workflow, draft, base, changes, created_by=caller.user_id)
    await repository.mark_changed(session, workflow, time_of(session), revises=True)
    data = {"version": written.version_number, "fields": changes.changed_fields}
    await write_audit_entry(session, caller, "workflow.draft_created", f"workflow:{workflow_id}", data)
    return written, workflow.revision


async def restore_version(session: AsyncSession, caller: Caller, workflow_id: int, number: int) -> WorkflowVersion:
    """Copies an old version into the draft. Raises VersionNotFound (404)."""
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    source = await repository.version_by_number(session, caller.organization_id, workflow_id, number)
    if source is None:
        raise VersionNotFound
    draft, base = await canaries.draft_and_base(session, caller.organization_id, workflow_id)
    if draft is not None and draft.id == source.id:
        skip_audit_entry(session)
        return draft
    content = WorkflowChanges(
        definition=source.definition,
        configurations=source.configurations,
        template_context_variables=source.template_context_variables,
        scenarios=await read_scenarios(session, caller.organization_id, source.id),
    )
    written = await _write_draft(session, workflow, draft, base, content, created_by=caller.user_id)
    written.note = f"Restored from version {number}"
    await repository.mark_changed(session, workflow, time_of(session), revises=True)
    data = {"from": number, "version": written.version_number}
    await write_audit_entry(session, caller, "workflow.restored", f"workflow:{workflow_id}", data)
    return written


async def set_status(session: AsyncSession, caller: Caller, workflow_id: int, status: str) -> None:
    """Sets the status to ``active`` or ``archived``; idempotent."""
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    if workflow.status == status:
        skip_audit_entry(session)
        return
    workflow.status = status
    await repository.mark_changed(session, workflow, time_of(session))
    action = "workflow.archived" if status == "archived" else "workflow.unarchived"
    await write_audit_entry(session, caller, action, f"workflow:{workflow_id}")


async def move_to_folder(session: AsyncSession, caller: Caller, workflow_id: int, folder_id: int | None) -> None:
    """Moves a workflow into a folder of its organization, or out of its folder. Raises FolderNotFound (404)."""
    workflow = await get_workflow(session, caller.organization_id, workflow_id, lock="change")
    if folder_id is not None:
        await folders.get_folder(session, caller.organization_id, folder_id)
    if workflow.folder_id == folder_id:
        skip_audit_entry(session)
        return
    workflow.folder_id = folder_id
    await repository.mark_changed(session, workflow, time_of(session))
    await write_audit_entry(session, caller, "workflow.moved", f"workflow:{workflow_id}", {"folder_id": folder_id})


def check_revision(workflow: Workflow, expected: int | None) -> None:
    """Raises WorkflowRevisionConflict (409) unless the workflow is at the revision that the editor has read."""
    if expected is not None and expected != workflow.revision:
        raise WorkflowRevisionConflict(expected, workflow.revision)


async def get_workflow(
    session: AsyncSession, organization_id: int, workflow_id: int, *, lock: LockReason | None = None
) -> Workflow:
    """Returns the row itself, for the use cases of this domain. Raises WorkflowNotFound (404)."""
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
    base: WorkflowVersion | None,
    changes: WorkflowChanges,
    *,
    created_by: int | None,
) -> WorkflowVersion:
    """Changes the draft, or creates one from the base. The caller holds the workflow's lock."""
    base = draft or base
    scenarios = changes.scenarios
    if draft is None:
        if scenarios is None and base is not None:
            scenarios = await read_scenarios(session, workflow.organization_id, base.id)
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
    if scenarios is not None:
        draft.scenarios = list(scenarios)
    await session.flush()
    await session.refresh(draft)
    return draft


# For other domains ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class VersionToRun:
    """A conversation's view of a workflow, read once when the conversation begins."""

    workflow_id: int
    workflow_name: str
    version_id: int
    version_number: int
    definition: JsonObject
    configurations: JsonObject
    template_context_variables: JsonObject
    organization_id: int


async def get_version_to_run(
    session: AsyncSession, organization_id: int, workflow_id: int, *, use_draft: bool = False
) -> VersionToRun:
    """Returns the production version, or with ``use_draft`` the version that an editor shows: for test calls and text chats.

    Raises WorkflowNotFound, WorkflowArchived (404), WorkflowNotPublished (409).
    """
    # locked against deletion until the run that is about to begin exists
    workflow = await get_workflow(session, organization_id, workflow_id, lock="run")
    if workflow.status != "active":
        raise WorkflowArchived
    _, version = await repository.latest_versions(session, organization_id, workflow_id)
    if use_draft:
        version = await canaries.shown_version(session, organization_id, workflow_id)
    if version is None:
        raise WorkflowNotPublished
    return _to_run(workflow, version)


async def version_to_run(session: AsyncSession, organization_id: int, version_id: int) -> VersionToRun:
    """Returns one version for a run that has begun, even of an archived workflow. Raises VersionNotFound (404)."""
    version = await repository.version_by_id(session, organization_id, version_id) if version_id <= MAX_ID else None
    if version is None:
        raise VersionNotFound
    return _to_run(await get_workflow(session, organization_id, version.workflow_id), version)


async def get_numbered_version(
    session: AsyncSession, organization_id: int, workflow_id: int, number: int
) -> VersionToRun:
    """Returns a version by its number, published or not. Raises WorkflowNotFound, VersionNotFound (404)."""
    workflow = await get_workflow(session, organization_id, workflow_id)
    version = None
    if 0 < number <= MAX_ID:
        version = await repository.version_by_number(session, organization_id, workflow_id, number)
    if version is None:
        raise VersionNotFound
    return _to_run(workflow, version)


async def name_of(session: AsyncSession, organization_id: int, workflow_id: int) -> str:
    """Returns the display name, archived or not. Raises WorkflowNotFound (404)."""
    return (await get_workflow(session, organization_id, workflow_id)).name


async def names_of(session: AsyncSession, organization_id: int, workflow_ids: Collection[int]) -> dict[int, str]:
    """Returns the display names by id, omitting missing workflows."""
    return await repository.names_of(session, organization_id, workflow_ids) if workflow_ids else {}


async def by_trigger(session: AsyncSession, path: str) -> tuple[int, int]:
    """Returns ``(organization_id, workflow_id)`` behind a public address. Raises TriggerNotFound (404)."""
    found = await repository.active_trigger(session, path) if "\0" not in path and path.isascii() else None
    if found is None:
        raise TriggerNotFound
    return found


async def organization_of(session: AsyncSession, workflow_id: int) -> int:
    """Returns a workflow's organization for a carrier's webhook, whose address names the workflow and whose signature
    is checked next. Raises WorkflowNotFound (404).
    """
    found = await repository.organization_of(session, workflow_id) if workflow_id <= MAX_ID else None
    if found is None:
        raise WorkflowNotFound
    return found


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
