"""Scenarios: conversations that an agent must be able to hold, tried before it answers a telephone."""

from offhook.scenarios.definition import Scenario
from offhook.scenarios.engine.agent import ScenarioAgent, ScenarioTool, build_scenario_agent
from offhook.scenarios.engine.suite import ScenarioResult, SuiteResult, run_scenario, run_suite
from offhook.scenarios.files import read_scenarios, write_scenarios

__all__ = [
    "Scenario",
    "ScenarioAgent",
    "ScenarioResult",
    "ScenarioTool",
    "SuiteResult",
    "build_scenario_agent",
    "read_scenarios",
    "run_scenario",
    "run_suite",
    "write_scenarios",
]
