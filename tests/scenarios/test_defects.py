"""The bench of planted defects: its graphs are clean, its slips are real, and the gate tells them apart."""

import random

import pytest
from bench.defect_effects import CallEffects
from bench.defect_graphs import generate_graph, generate_large_graph
from bench.defect_planting import KINDS, plant_defects, plant_harmless

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
def test_every_kind_is_planted_and_changes_calls_and_layout_does_not() -> None:
    name, definition, tools = generate_graph(6)
    agent = build_scenario_agent(name, definition, tools=tools)
    effects = CallEffects(agent, propose_scenarios(agent, BuiltinLlm), BuiltinLlm)
    defects = list(plant_defects(agent, random.Random(1), len(KINDS)))
    assert {defect.kind for defect in defects} == set(KINDS)
    assert [defect.what for defect in defects if not effects.has_change(defect.agent)] == []
    silent = {"nothing", "layout", "order", "notes", "colors", "shorter_timeout"}
    harmless = [change for change in plant_harmless(agent, random.Random(1)) if change.kind in silent]
    assert [change.kind for change in harmless if effects.has_change(change.agent)] == ["shorter_timeout"]


def test_a_second_half_of_defects_repeats_none_of_the_first() -> None:
    name, definition, tools = generate_graph(3)
    agent = build_scenario_agent(name, definition, tools=tools)
    known: set[str] = set()
    halves = [[one.what for one in plant_defects(agent, random.Random(seed), 10, known)] for seed in (1, 2)]
    assert len(known) == len({*halves[0], *halves[1]}) == 20


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
    defects = list(plant_defects(agent, random.Random(1), len(KINDS)))
    assert len({defect.what for defect in defects}) == len(KINDS)
    for defect in defects:
        draft = examine_version(defect.agent, scenarios, BuiltinLlm, stops_at_failure=True)
        assert not judge_draft(draft, published, GatePolicy()).has_passed, defect.what
