"""The bench of planted defects: its graphs are clean, its slips are real, and the gate tells them apart."""

import random

import pytest
from bench.defect_graphs import generate_graph, generate_large_graph
from bench.defect_planting import SLIPS, plant_defects, plant_harmless

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import build_scenario_agent, run_suite
from offhook.scenarios.checks import check_agent
from offhook.scenarios.gate.verdict import GatePolicy, examine_version, judge_draft
from offhook.scenarios.proposals.proposer import propose_scenarios


def test_the_same_seed_makes_the_same_clean_graphs() -> None:
    for make in (generate_graph, generate_large_graph):
        name, definition, tools = make(3)
        assert make(3) == (name, definition, tools)
        assert check_agent(build_scenario_agent(name, definition, tools=tools)) == ()
    assert len(generate_large_graph(3)[1]["nodes"]) == 100  # type: ignore[arg-type]


@pytest.mark.slow
def test_slips_are_stopped_and_harmless_changes_are_not() -> None:
    name, definition, tools = generate_graph(3)
    agent = build_scenario_agent(name, definition, tools=tools)
    scenarios = propose_scenarios(agent, BuiltinLlm)
    assert run_suite(agent, scenarios, BuiltinLlm).failed == 0
    published = examine_version(agent, scenarios, BuiltinLlm)
    for change in plant_harmless(agent, random.Random(1)):
        draft = examine_version(change.agent, scenarios, BuiltinLlm)
        assert judge_draft(draft, published, GatePolicy()).reasons == (), change.kind
    defects = list(plant_defects(agent, random.Random(1), len(SLIPS)))
    assert len({defect.what for defect in defects}) == len(SLIPS)
    for defect in defects:
        draft = examine_version(defect.agent, scenarios, BuiltinLlm, stops_at_failure=True)
        assert not judge_draft(draft, published, GatePolicy()).has_passed, defect.what
