"""Scenarios: conversations that an agent must be able to hold, tried before it answers a telephone."""

from dataclasses import replace

from offhook.root import Root
from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent, ScenarioTool, build_scenario_agent
from offhook.scenarios.engine.suite import ScenarioResult, SuiteResult, run_scenario, run_suite
from offhook.scenarios.files import read_scenarios, write_scenarios
from offhook.scenarios.stored import endpoints
from offhook.scenarios.stored.service import store_scenarios
from offhook.workflows import WorkflowServices

__all__ = [
    "Scenario",
    "ScenarioAgent",
    "ScenarioResult",
    "ScenarioTool",
    "SuiteResult",
    "build_scenario_agent",
    "read_scenarios",
    "register",
    "run_scenario",
    "run_suite",
    "write_scenarios",
]


def register(root: Root) -> None:
    """Registers the routes, and what reads the scenarios in files of agents."""
    root.provide(WorkflowServices, replace(root.get(WorkflowServices), read_scenarios=store_scenarios))
    root.api.include_router(endpoints.router)
