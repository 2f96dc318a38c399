"""Gathers what a play is about: the version, its scenarios, what it would replace, and what the agent demands."""

import asyncio
from dataclasses import dataclass, fields
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.scenarios.agents import load_agent, load_scenarios
from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent
from offhook.scenarios.gate.verdict import GatePolicy
from offhook.scenarios.plays.orders import hash_content
from offhook.workflows import service as workflows
from offhook.workflows.version_scenarios import gate_settings


@dataclass(frozen=True, slots=True)
class PlayContent:
    """``hash`` names all of it."""

    agent: ScenarioAgent
    scenarios: tuple[Scenario, ...]
    published: ScenarioAgent | None
    policy: GatePolicy
    hash: str


async def gather_content(session: AsyncSession, organization_id: int, version_id: int) -> PlayContent:
    """Returns what a verdict about this version rests on. Raises VersionNotFound (404), AgentNotTestable (422)."""
    version = await workflows.version_to_run(session, organization_id, version_id)
    agent, scenarios = await load_agent(session, version), await load_scenarios(session, version)
    _, published_id = await gate_settings.current_version_ids(session, organization_id, version.workflow_id)
    published = None
    if published_id is not None and published_id != version_id:
        published = await load_agent(session, await workflows.version_to_run(session, organization_id, published_id))
    policy = read_policy(await gate_settings.get_gate(session, organization_id, version.workflow_id))
    return PlayContent(
        agent, scenarios, published, policy, await asyncio.to_thread(hash_content, agent, scenarios, published, policy)
    )


def read_policy(gate: JsonObject) -> GatePolicy:
    """Returns what an agent demands; what it does not say is as :class:`GatePolicy` has it."""
    known = {field.name for field in fields(GatePolicy)}
    values: dict[str, Any] = {name: value for name, value in gate.items() if name in known}
    if "min_edge_coverage" in values:
        # 0 and 0.0 are one demand, and must have one hash
        values["min_edge_coverage"] = float(values["min_edge_coverage"])
    return GatePolicy(**values)
