"""Reads and replaces the scenarios of an agent; they are part of its draft, as its graph is."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, skip_audit_entry
from offhook.workflows import repository, service
from offhook.workflows.canaries import queries as canaries
from offhook.workflows.changes import WorkflowChanges
from offhook.workflows.errors import VersionNotFound
from offhook.workflows.tables import WorkflowVersion
from offhook.workflows.version_scenarios.queries import read_scenarios

ScenarioChange = Callable[[Sequence[Any]], Awaitable[Sequence[JsonObject]]]


@dataclass(frozen=True, slots=True)
class VersionScenarios:
    """The scenarios of one version, and the workflow's revision."""

    version_number: int
    version_status: str
    revision: int
    scenarios: Sequence[Any]


async def get_version_scenarios(
    session: AsyncSession, organization_id: int, workflow_id: int, number: int | None = None
) -> VersionScenarios:
    """Returns those of a version, or of the draft (the published version if there is none). Raises WorkflowNotFound,
    VersionNotFound (404)."""
    workflow = await service.get_workflow(session, organization_id, workflow_id)
    version = await _find_version(session, organization_id, workflow_id, number)
    scenarios = await read_scenarios(session, organization_id, version.id)
    return VersionScenarios(version.version_number, version.status, workflow.revision, scenarios)


async def change_scenarios(
    session: AsyncSession,
    caller: Caller,
    workflow_id: int,
    change: ScenarioChange,
    *,
    expected_revision: int | None = None,
) -> VersionScenarios:
    """Changes the scenarios of the draft, which is created if needed. ``change`` gets the present ones.

    Raises WorkflowNotFound (404), WorkflowRevisionConflict (409), and what ``change`` raises.
    """
    organization_id = caller.organization_id
    # two people who add one each do not lose one
    workflow = await service.get_workflow(session, organization_id, workflow_id, lock="change")
    service.check_revision(workflow, expected_revision)
    before = await get_version_scenarios(session, organization_id, workflow_id)
    scenarios = list(await change(before.scenarios))
    if scenarios == list(before.scenarios):
        skip_audit_entry(session)
        return before
    await service.update_workflow(session, caller, workflow_id, WorkflowChanges(scenarios=scenarios))
    return await get_version_scenarios(session, organization_id, workflow_id)


async def _find_version(
    session: AsyncSession, organization_id: int, workflow_id: int, number: int | None
) -> WorkflowVersion:
    if number is not None:
        version = await repository.version_by_number(session, organization_id, workflow_id, number)
    else:
        version = await canaries.shown_version(session, organization_id, workflow_id)
    if version is None:
        raise VersionNotFound
    return version
