"""Workflows, called agents in the interface: their graphs, versions and hooks."""

from dataclasses import replace

from offhook.models import ModelConfigurationStore
from offhook.models.ports import ModelSource
from offhook.recordings import RecordingServices
from offhook.root import Root
from offhook.tools import ToolServices
from offhook.workflows import endpoints, node_type_endpoints, repository
from offhook.workflows.agent_files import endpoints as file_endpoints
from offhook.workflows.catalog import endpoints as catalog_endpoints
from offhook.workflows.folders import endpoints as folder_endpoints
from offhook.workflows.generation import endpoints as template_endpoints
from offhook.workflows.hooks import WorkflowDuplication, WorkflowHooks
from offhook.workflows.lifecycle import ERASE, WorkflowEraser
from offhook.workflows.ports import NoTools, count_no_runs, refuse_scenarios
from offhook.workflows.recording_references import WorkflowRecordingUsers, copy_recordings
from offhook.workflows.services import WorkflowServices
from offhook.workflows.tables import WorkflowCanary

__all__ = ["WorkflowCanary", "WorkflowDuplication", "WorkflowHooks", "WorkflowServices", "register"]


def register(root: Root) -> None:
    """Registers the routes and the job; the runs domain sets the counter and the catalog, others add hooks."""
    hooks = WorkflowHooks()
    root.provide(WorkflowHooks, hooks)
    services = WorkflowServices(
        hooks=hooks,
        configurations=root.get(ModelConfigurationStore),
        models=root.get(ModelSource),  # type: ignore[type-abstract]  # found by its port
        count_runs=count_no_runs,
        tools=NoTools(),
        read_scenarios=refuse_scenarios,
    )
    root.provide(WorkflowServices, services)
    root.get(RecordingServices).users.append(WorkflowRecordingUsers())
    root.provide(ToolServices, replace(root.get(ToolServices), find_references=repository.names_with_text))
    hooks.copiers.append(copy_recordings)
    root.jobs.add(ERASE, WorkflowEraser(root.db, hooks).erase_workflow)
    root.api.include_router(template_endpoints.router)
    root.api.include_router(catalog_endpoints.router)
    root.api.include_router(file_endpoints.router)
    root.api.include_router(endpoints.router)
    root.api.include_router(folder_endpoints.router)
    root.api.include_router(node_type_endpoints.router)
