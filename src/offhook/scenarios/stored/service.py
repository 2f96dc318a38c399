"""Reads and changes the scenarios that an agent keeps with its versions."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller
from offhook.scenarios.definition import Scenario
from offhook.scenarios.errors import ScenarioIssue, ScenarioNotFound, ScenariosInvalid
from offhook.scenarios.files import MAX_BYTES, parse_scenarios, scenario_as_json
from offhook.workflows.version_scenarios.service import VersionScenarios, change_scenarios, get_version_scenarios


@dataclass(frozen=True, slots=True)
class AgentScenarios:
    """The scenarios of one version of an agent, in their order."""

    version_number: int
    version_status: str
    revision: int
    scenarios: tuple[Scenario, ...]


async def _read_stored(stored: VersionScenarios) -> AgentScenarios:
    """Reads in a thread: this loop may be carrying audio."""
    scenarios = await asyncio.to_thread(parse_scenarios, list(stored.scenarios))
    return AgentScenarios(stored.version_number, stored.version_status, stored.revision, scenarios)


async def list_scenarios(
    session: AsyncSession, organization_id: int, workflow_id: int, *, number: int | None = None
) -> AgentScenarios:
    """Returns the scenarios of the draft, else of the published version, or of a version by its number."""
    return await _read_stored(await get_version_scenarios(session, organization_id, workflow_id, number))


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
    keeps_others: bool = False,
    expected_revision: int | None = None,
) -> AgentScenarios:
    """Replaces all scenarios of the draft; with ``keeps_others`` only those of the same names. Raises ScenariosInvalid
    (422)."""
    # In a thread, as :func:`_read_stored`.
    new = await asyncio.to_thread(lambda: store_scenarios([scenario_as_json(scenario) for scenario in scenarios]))

    def change(before: Sequence[Any]) -> list[JsonObject]:
        if not keeps_others:
            return new
        names = {scenario["name"]: scenario for scenario in new}
        kept = [names.pop(scenario["name"], scenario) for scenario in before]
        return store_scenarios([*kept, *names.values()])

    stored = await change_scenarios(session, caller, workflow_id, change, expected_revision=expected_revision)
    return await _read_stored(stored)


async def put_scenario(
    session: AsyncSession,
    caller: Caller,
    workflow_id: int,
    name: str,
    scenario: Scenario,
    *,
    expected_revision: int | None = None,
) -> AgentScenarios:
    """Writes the scenario of this name, or adds it at the end. One that has another name is renamed.

    Raises ScenarioNotFound (404) for a renaming of what is not there, ScenariosInvalid (422) when the name is taken.
    """
    new = scenario_as_json(scenario)

    def change(before: Sequence[Any]) -> list[JsonObject]:
        at = next((index for index, each in enumerate(before) if each["name"] == name), None)
        if at is None and scenario.name != name:
            raise ScenarioNotFound
        return store_scenarios([*before, new] if at is None else [*before[:at], new, *before[at + 1 :]])

    stored = await change_scenarios(session, caller, workflow_id, change, expected_revision=expected_revision)
    return await _read_stored(stored)


async def delete_scenario(
    session: AsyncSession, caller: Caller, workflow_id: int, name: str, *, expected_revision: int | None = None
) -> AgentScenarios:
    """Takes a scenario out of the draft. Raises ScenarioNotFound (404)."""

    def change(before: Sequence[Any]) -> list[JsonObject]:
        kept = [each for each in before if each["name"] != name]
        if len(kept) == len(before):
            raise ScenarioNotFound
        return kept

    stored = await change_scenarios(session, caller, workflow_id, change, expected_revision=expected_revision)
    return await _read_stored(stored)


def store_scenarios(raw: Sequence[Any]) -> list[JsonObject]:
    """Returns scenarios as they are stored: checked, and without what is default. Raises ScenariosInvalid (422)."""
    plain = [scenario_as_json(scenario) for scenario in parse_scenarios(raw)]
    if len(json.dumps(plain, ensure_ascii=False).encode("utf-8", "surrogatepass")) > MAX_BYTES:
        issue = ScenarioIssue("scenarios", "scenarios_too_large", "the scenarios of an agent are limited to 1 MB")
        raise ScenariosInvalid((issue,))
    return plain
