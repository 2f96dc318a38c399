"""What a play is given: a version with its tools, documents and scenarios, as JSON that a process of its own reads. Pure."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from hashlib import sha256
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent, ScenarioTool, build_scenario_agent
from offhook.scenarios.files import parse_scenarios, scenario_as_json
from offhook.scenarios.gate.verdict import GatePolicy
from offhook.tools.definitions import read_definition

# Rules that verdicts of before 0035 did not know, with what they mean there.
_LATER: Final = {"answers": "built-in", "model_verdicts_stop": False}


@dataclass(frozen=True, slots=True)
class AnsweringModel:
    """A vendor's model, as events and usage name it."""

    provider: str
    model: str


@dataclass(frozen=True, slots=True)
class PlayOrder:
    """``published`` is the version that the agent would replace; ``policy`` is None for a play of some scenarios, which
    gets no verdict. ``models`` has the models of the versions, ``agent`` and ``published``, when the process that started the
    play answers for them; without, the built-in model answers."""

    agent: ScenarioAgent
    scenarios: Sequence[Scenario]
    seeds: Sequence[int]
    published: ScenarioAgent | None = None
    policy: GatePolicy | None = None
    models: Mapping[str, AnsweringModel] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        return {
            "agent": agent_as_json(self.agent),
            "published": agent_as_json(self.published) if self.published is not None else None,
            "scenarios": [scenario_as_json(scenario) for scenario in self.scenarios],
            "seeds": list(self.seeds),
            "policy": asdict(self.policy) if self.policy is not None else None,
            "models": {name: asdict(model) for name, model in self.models.items()},
        }

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> "PlayOrder":
        return cls(
            agent=read_agent(raw["agent"]),
            scenarios=parse_scenarios(raw["scenarios"]),
            seeds=raw["seeds"],
            published=read_agent(raw["published"]) if raw["published"] is not None else None,
            policy=GatePolicy(**raw["policy"]) if raw["policy"] is not None else None,
            models={name: AnsweringModel(**model) for name, model in raw["models"].items()},
        )


def hash_content(
    agent: ScenarioAgent, scenarios: Sequence[Scenario], published: ScenarioAgent | None, policy: GatePolicy
) -> str:
    """Returns the hash of everything that a verdict rests on: one other letter, and it is a verdict about something else."""
    content: JsonObject = {**PlayOrder(agent, scenarios, (), published, policy).as_json()}
    # what came later counts only where it is used: verdicts from before stay
    del content["models"]
    content["policy"] = {name: value for name, value in asdict(policy).items() if _LATER.get(name, ...) != value}
    plain = json.dumps(content, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()


def agent_as_json(agent: ScenarioAgent) -> JsonObject:
    """Returns an agent as JSON that :func:`read_agent` reads."""
    parts: JsonObject = {
        "name": agent.name,
        "definition": dict(agent.definition),
        "configurations": dict(agent.configurations),
        "variables": dict(agent.variables),
        "documents": dict(agent.documents),
        "tools": [
            {
                "id": tool.id,
                "name": tool.name,
                "description": tool.description,
                "definition": tool.definition.model_dump(mode="json"),
            }
            for tool in sorted(agent.tools, key=lambda tool: tool.id)
        ],
    }
    return parts


def read_agent(raw: Mapping[str, Any]) -> ScenarioAgent:
    return build_scenario_agent(
        raw["name"],
        raw["definition"],
        configurations=raw["configurations"],
        variables=raw["variables"],
        documents=raw["documents"],
        tools=[
            ScenarioTool(tool["id"], tool["name"], tool["description"], read_definition(tool["definition"]))
            for tool in raw["tools"]
        ],
    )
