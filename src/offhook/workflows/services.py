"""The services of workflows, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.models import ModelConfigurationStore
from offhook.models.ports import ModelSource
from offhook.root import use_service
from offhook.workflows.hooks import WorkflowHooks
from offhook.workflows.ports import RunCounter, ScenarioReader, ToolCatalog


@dataclass(frozen=True, slots=True)
class WorkflowServices:
    """The services of workflows; the runs domain replaces ``count_runs`` and ``tools`` by its own, the
    scenarios domain ``read_scenarios``."""

    hooks: WorkflowHooks
    configurations: ModelConfigurationStore
    models: ModelSource
    count_runs: RunCounter
    tools: ToolCatalog
    read_scenarios: ScenarioReader


Services = Annotated[WorkflowServices, Depends(use_service(WorkflowServices))]
