"""A small agent with keys, a tool and variables, and scenarios for it."""

from typing import Any

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import Scenario, ScenarioAgent, ScenarioResult, ScenarioTool, build_scenario_agent, run_scenario
from offhook.tools.definitions import read_definition


def node(node_id: str, kind: str, **data: Any) -> dict[str, Any]:
    return {"id": node_id, "type": kind, "position": {"x": 0, "y": 0}, "data": {"name": node_id, **data}}


def edge(source: str, target: str, label: str, *examples: str, **data: Any) -> dict[str, Any]:
    data = {"label": label, "condition": f"The caller wants {label}.", "examples": list(examples), **data}
    return {"id": f"{source}-{target}", "source": source, "target": target, "data": data}


DEFINITION: dict[str, Any] = {
    "nodes": [
        node("start", "startCall", greeting="Hello. Sales or support?", prompt="Ask what the caller wants."),
        node("sales", "agentNode", prompt="Ask for the city.", offline_say="Which city are you in?"),
        node("support", "endCall", say="Support will call you back."),
        node("bye", "endCall", say="Thank you. It is {{ current_weekday }}."),
    ],
    "edges": [
        edge("start", "sales", "sales", "sales please", "i want to buy", digits="1"),
        edge("start", "support", "support", "support please", "it is broken", digits="2"),
        edge("sales", "bye", "city", "london", "paris"),
    ],
}
LOOKUP = ScenarioTool(
    "lookup-1",
    "Look up",
    "Where an order is.",
    read_definition({"type": "http_api", "config": {"url": "https://example.com/orders", "method": "GET"}}),
)


def agent(definition: dict[str, Any] | None = None, **parts: Any) -> ScenarioAgent:
    return build_scenario_agent("Shop", definition or DEFINITION, **parts)


def scenario(**fields: Any) -> Scenario:
    return Scenario.model_validate({"name": "one", **fields})


def play(of: ScenarioAgent, seed: int = 0, **fields: Any) -> ScenarioResult:
    return run_scenario(of, scenario(**fields), BuiltinLlm, seed)


def codes(result: ScenarioResult) -> list[str]:
    return [fault.code for fault in result.faults]
