"""The catalog's scenarios happen with the offline agent, name what there is, and have a result."""

from pathlib import Path

import pytest

from offhook.scenarios import run_suite
from offhook.scenarios.engine.suite import MakeLlm
from offhook.scenarios.offline import build_offline_model
from offhook.scenarios.templates import build_template_agent, template_scenarios
from offhook.workflows.catalog.templates import TEMPLATE_IDS, AgentTemplate, load_template
from offhook.workflows.results.definitions import parse_call_analysis
from offhook.workflows.results.rules import CallFacts, choose_result


@pytest.fixture(params=TEMPLATE_IDS)
def template(request: pytest.FixtureRequest) -> AgentTemplate:
    return load_template(request.param)


@pytest.fixture(scope="module")
def make_llm(models_folder: Path) -> MakeLlm:
    return build_offline_model(models_folder)


def test_they_name_what_there_is(template: AgentTemplate) -> None:
    edges = {edge["id"]: edge for edge in template.definition["edges"]}
    ends = {node["id"] for node in template.definition["nodes"] if node["type"] == "endCall"}
    start = next(node["id"] for node in template.definition["nodes"] if node["type"] == "startCall")
    scenarios = template_scenarios(template.id)
    assert len(scenarios) >= 3
    assert {tag for scenario in scenarios for tag in scenario.tags} >= {"direct", "change_of_mind", "question"}
    for scenario in scenarios:
        here = start
        for edge_id in scenario.expect.edges or ():
            assert edges[edge_id]["source"] == here, (scenario.name, edge_id)
            here = edges[edge_id]["target"]
        assert (here if here in ends else None) == scenario.expect.end, scenario.name


def test_they_happen_with_the_offline_agent_and_have_a_result(template: AgentTemplate, make_llm: MakeLlm) -> None:
    result = run_suite(build_template_agent(template), template_scenarios(template.id), make_llm)
    assert {found.name: found.faults for found in result.results if not found.has_passed} == {}
    analysis = parse_call_analysis(template.configurations)
    for found in result.results:
        played = found.played
        assert played is not None
        facts = CallFacts(played.variables, played.nodes, played.edges, played.end_reason)
        assert (choose_result(analysis, facts) is not None) == (played.end is not None), found.name
