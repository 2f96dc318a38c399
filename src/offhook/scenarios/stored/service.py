"""Reads and changes the scenarios that an agent keeps with its versions."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller
from offhook.scenarios.definition import Scenario
from offhook.scenarios.errors import ScenarioIssue, ScenarioNotFound, ScenariosInvalid
from offhook.scenarios.files import MAX_BYTES, parse_scenarios, scenario_as_json
from offhook.workflows.version_scenarios.service import VersionScenarios, change_scenarios, get_version_scenarios

_T = TypeVar("_T")


class WorkThread(Protocol):
    """Where scenarios are checked: this loop may be carrying audio."""

    def run(self, work: Callable[[], _T]) -> Awaitable[_T]: ...


class _SharedThread:
    """One of the threads that everything shares, for those who only read."""

    async def run(self, work: Callable[[], _T]) -> _T:
        return await asyncio.to_thread(work)


@dataclass(frozen=True, slots=True)
class AgentScenarios:
    """The scenarios of one version of an agent, in their order; ``plain`` are the same as JSON."""

    version_number: int
    version_status: str
    revision: int
    scenarios: tuple[Scenario, ...]
    plain: tuple[JsonObject, ...]


async def _read_stored(stored: VersionScenarios, thread: WorkThread) -> AgentScenarios:
    def read_all() -> tuple[tuple[Scenario, ...], tuple[JsonObject, ...]]:
        scenarios = parse_scenarios(list(stored.scenarios))
        return scenarios, tuple(scenario_as_json(scenario) for scenario in scenarios)

    scenarios, plain = await thread.run(read_all)
    return AgentScenarios(stored.version_number, stored.version_status, stored.revision, scenarios, plain)


async def list_scenarios(
    session: AsyncSession, organization_id: int, workflow_id: int, *, number: int | None = None
) -> AgentScenarios:
    """Returns the scenarios of the draft, else of the published version, or of a version by its number."""
    stored = await get_version_scenarios(session, organization_id, workflow_id, number)
    return await _read_stored(stored, _SharedThread())


async def get_scenario(
    session: AsyncSession, organization_id: int, workflow_id: int, name: str
) -> tuple[Scenario, AgentScenarios]:
    """Returns one scenario of the draft, and all of them. Raises ScenarioNotFound (404)."""
    found = await list_scenarios(session, organization_id, workflow_id)
    scenario = next((scenario for scenario in found.scenarios if scenario.name == name), None)
    if scenario is None:
        raise ScenarioNotFound
    return scenario, found


async def replace_scenarios(
    session: AsyncSession,
    caller: Caller,
    workflow_id: int,
    scenarios: Sequence[Scenario],
    *,
    thread: WorkThread,
    keeps_others: bool = False,
    expected_revision: int | None = None,
) -> AgentScenarios:
    """Replaces all scenarios of the draft; with ``keeps_others`` only those of the same names. Raises ScenariosInvalid
    (422)."""
    new = await thread.run(lambda: store_scenarios([scenario_as_json(scenario) for scenario in scenarios]))

    async def change(before: Sequence[Any]) -> list[JsonObject]:
        if not keeps_others:
            return new
        names = {scenario["name"]: scenario for scenario in new}
        kept = [names.pop(scenario["name"], scenario) for scenario in before]
        return await thread.run(lambda: store_scenarios([*kept, *names.values()]))

    stored = await change_scenarios(session, caller, workflow_id, change, expected_revision=expected_revision)
    return await _read_stored(stored, thread)


async def put_scenario(
    session: AsyncSession,
    caller: Caller,
    workflow_id: int,
    name: str,
    scenario: Scenario,
    *,
    thread: WorkThread,
    expected_revision: int | None = None,
) -> AgentScenarios:
    """Writes the scenario of this name, or adds it at the end. One that has another name is renamed.

    Raises ScenarioNotFound (404) for a renaming of what is not there, ScenariosInvalid (422) when the name is taken.
    """

    async def change(before: Sequence[Any]) -> list[JsonObject]:
        at = next((index for index, each in enumerate(before) if each["name"] == name), None)
        if at is None and scenario.name != name:
            raise ScenarioNotFound
        end = len(before) if at is None else at
        return await thread.run(
            lambda: store_scenarios([*before[:end], scenario_as_json(scenario), *before[end + 1 :]])
        )

    stored = await change_scenarios(session, caller, workflow_id, change, expected_revision=expected_revision)
    return await _read_stored(stored, thread)


async def delete_scenario(
    session: AsyncSession,
    caller: Caller,
    workflow_id: int,
    name: str,
    *,
    thread: WorkThread,
    expected_revision: int | None = None,
) -> AgentScenarios:
    """Takes a scenario out of the draft. Raises ScenarioNotFound (404)."""

    async def change(before: Sequence[Any]) -> list[JsonObject]:
        kept = [each for each in before if each["name"] != name]
        if len(kept) == len(before):
            raise ScenarioNotFound
        return kept

    stored = await change_scenarios(session, caller, workflow_id, change, expected_revision=expected_revision)
    return await _read_stored(stored, thread)


def store_scenarios(raw: Sequence[Any]) -> list[JsonObject]:
    """Returns scenarios as they are stored: checked, and without what is default. Raises ScenariosInvalid (422)."""
    plain = [scenario_as_json(scenario) for scenario in parse_scenarios(raw)]
    if len(json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass")) > MAX_BYTES:
        issue = ScenarioIssue("scenarios", "scenarios_too_large", "the scenarios of an agent are limited to 1 MB")
        raise ScenariosInvalid((issue,))
    return plain
