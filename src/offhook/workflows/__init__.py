"""Workflows, called agents in the interface: their graphs, versions and hooks."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.recordings.ports import RecordingUsers
from offhook.root import Root
from offhook.tools import ReferenceFinder
from offhook.workflows import endpoints, node_type_endpoints, repository
from offhook.workflows.folders import endpoints as folder_endpoints
from offhook.workflows.generation import endpoints as template_endpoints
from offhook.workflows.hooks import WorkflowDuplication, WorkflowHooks
from offhook.workflows.lifecycle import ERASE, WorkflowEraser
from offhook.workflows.ports import NoRuns, NoTools, RunCounter, ToolCatalog
from offhook.workflows.recording_references import WorkflowRecordingUsers, copy_recordings

__all__ = ["WorkflowDuplication", "WorkflowHooks", "register"]


class _WorkflowReferences:
    """Implements ``tools.ReferenceFinder``."""

    async def workflows_naming(self, session: AsyncSession, organization_id: int, uuid: str) -> list[str]:
        return await repository.names_with_text(session, organization_id, uuid)


def register(root: Root) -> None:
    """Registers the routes and the job; domains above replace the counter and the catalog, and add hooks."""
    hooks = WorkflowHooks()
    root.provide(WorkflowHooks, hooks)
    root.provide(RunCounter, NoRuns())  # type: ignore[type-abstract]
    root.provide(ToolCatalog, NoTools())  # type: ignore[type-abstract]
    root.provide(RecordingUsers, WorkflowRecordingUsers())  # type: ignore[type-abstract]
    root.provide(ReferenceFinder, _WorkflowReferences())  # type: ignore[type-abstract]
    hooks.on_duplicate(copy_recordings)
    root.jobs.add(ERASE, WorkflowEraser(root.db, hooks).erase_workflow)
    root.api.include_router(template_endpoints.router)
    root.api.include_router(endpoints.router)
    root.api.include_router(folder_endpoints.router)
    root.api.include_router(node_type_endpoints.router)
