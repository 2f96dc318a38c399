"""Duplicates and deletes whole workflows, including the belongings that domains above keep for them."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.kit.database.database import Database
from offhook.kit.database.database_clock import time_of
from offhook.orgs import Caller, write_audit_entry
from offhook.workflows import repository, service
from offhook.workflows.canaries import queries as canaries
from offhook.workflows.definition import without_trigger_paths
from offhook.workflows.errors import WorkflowNotFound
from offhook.workflows.hooks import WorkflowDuplication, WorkflowHooks
from offhook.workflows.recording_references import rename_recordings_in
from offhook.workflows.tables import Workflow
from offhook.workflows.version_scenarios.queries import read_scenarios

ERASE: Final = "workflow.erase"
_SUFFIX: Final = " - Duplicate"
_MAX_NAME_CHARS: Final = 200


async def duplicate_workflow(session: AsyncSession, hooks: WorkflowHooks, caller: Caller, workflow_id: int) -> Workflow:
    """Creates a workflow whose draft is the current state of this one. Copies definition, configuration and variables,
    gives triggers new paths, and lets the domains above copy their part (recordings). Raises WorkflowNotFound (404).
    """
    source = await service.get_workflow(session, caller.organization_id, workflow_id, lock="run")
    shown = await canaries.shown_version(session, caller.organization_id, workflow_id)
    if shown is None:
        raise WorkflowNotFound
    name = source.name[: _MAX_NAME_CHARS - len(_SUFFIX)] + _SUFFIX
    copy = await service.create_workflow(
        session,
        caller,
        name,
        without_trigger_paths(shown.definition),
        configurations=shown.configurations,
        template_context_variables=shown.template_context_variables,
        scenarios=await read_scenarios(session, caller.organization_id, shown.id),
    )
    copy.folder_id = source.folder_id
    duplication = WorkflowDuplication(caller.organization_id, source.id, copy.id, caller.user_id)
    await session.flush()
    references: dict[str, str] = {}
    for copier in hooks.copiers:
        references.update(await copier(session, duplication))
    if references:
        written, _ = await repository.latest_versions(session, caller.organization_id, copy.id)
        if written is not None:
            rename_recordings_in(written, references)
    await write_audit_entry(session, caller, "workflow.duplicated", f"workflow:{copy.id}", {"from": workflow_id})
    return copy


async def delete_workflow(session: AsyncSession, hooks: WorkflowHooks, caller: Caller, workflow_id: int) -> None:
    """Deletes a workflow at once; a job removes its versions and its history, which may be millions of rows.

    Raises WorkflowNotFound (404), a Conflict (409) while it is needed (a live run, a running campaign), and Forbidden (403)
    when it has runs and the caller is no admin.
    """
    workflow = await service.get_workflow(session, caller.organization_id, workflow_id, lock="delete")
    for check in hooks.deletion_checks:
        await check(session, caller, workflow_id)
    await repository.mark_deleted(session, workflow, caller.organization_id)
    await repository.mark_changed(session, workflow, time_of(session))
    await enqueue(session, ERASE, {"organization_id": caller.organization_id, "workflow_id": workflow_id})
    await write_audit_entry(session, caller, "workflow.deleted", f"workflow:{workflow_id}", {"name": workflow.name})


class WorkflowEraser:
    """The job ``workflow.erase``: removes a deleted workflow for good, in steps; a restart resumes."""

    def __init__(self, db: Database, hooks: WorkflowHooks) -> None:
        self._db = db
        self._hooks = hooks

    async def erase_workflow(self, payload: Mapping[str, int]) -> None:
        organization_id, workflow_id = int(payload["organization_id"]), int(payload["workflow_id"])
        for eraser in self._hooks.erasers:
            while await eraser(organization_id, workflow_id):
                pass
        async with self._db.transaction() as session:
            await repository.erase_workflow(session, organization_id, workflow_id)
