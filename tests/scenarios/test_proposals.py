"""Proposals take the edges of a graph, pass with the version they are made from, and fail with a worse one."""

import copy
from typing import Any

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import ScenarioTool, build_scenario_agent, read_scenarios, run_suite, write_scenarios
from offhook.scenarios.proposals.paths import iter_paths
from offhook.scenarios.proposals.proposer import propose_scenarios
from offhook.scenarios.templates import build_template_agent
from offhook.tools.definitions import read_definition
from offhook.workflows.catalog.templates import load_template
from tests.scenarios.agents import DEFINITION, agent, scenario


def test_paths_take_every_edge_and_go_on_to_an_end() -> None:
    paths = [[edge.id for edge in path] for path in iter_paths(agent().graph)]
    assert paths == [["start-sales", "sales-bye"], ["start-support"], ["start-sales", "sales-bye"]]


def test_they_take_every_edge_once_and_every_key_and_pass() -> None:
    proposed = propose_scenarios(agent(), BuiltinLlm)
    assert [(one.name, one.expect.edges, one.expect.end) for one in proposed] == [
        ("takes-sales", ("start-sales", "sales-bye"), "bye"),
        ("takes-support", ("start-support",), "support"),
        ("presses-sales", ("start-sales", "sales-bye"), "bye"),
        ("presses-support", ("start-support",), "support"),
    ]
    assert [one.expect.keyed_edges for one in proposed] == [None, None, ("start-sales",), ("start-support",)]
    assert [[rule.press or rule.say for rule in one.caller.rules] for one in proposed[2:]] == [["1", "london"], ["2"]]
    assert run_suite(agent(), proposed, BuiltinLlm).failed == 0
    assert read_scenarios(write_scenarios(proposed)) == tuple(proposed)


def test_they_respect_the_names_that_are_taken() -> None:
    own = scenario(caller={"turns": ["hello"]}, expect={"is_over": False}).model_copy(update={"name": "takes-sales"})
    assert propose_scenarios(agent(), BuiltinLlm, beside=[own])[0].name == "takes-sales-2"


def test_a_changed_sentence_and_a_wrong_edge_fail() -> None:
    proposed = propose_scenarios(agent(), BuiltinLlm)
    # once with words and once with keys
    for node, edge in (({"say": "Thank you."}, {}), ({}, {"target": "support"})):
        worse: dict[str, Any] = copy.deepcopy(DEFINITION)
        worse["nodes"][3]["data"] |= node
        worse["edges"][2] |= edge
        assert run_suite(agent(worse), proposed, BuiltinLlm).failed == 2


def test_a_key_whose_edge_is_taken_without_it_fails() -> None:
    template = build_template_agent(load_template("order_status"))
    raw: dict[str, Any] = copy.deepcopy(dict(template.definition))
    (edge,) = (edge for edge in raw["edges"] if edge["id"] == "more-which")
    edge["data"]["digits"] = ""
    worse = build_scenario_agent(template.name, raw, tools=template.tools, documents=template.documents)
    failed = [
        result
        for result in run_suite(worse, propose_scenarios(template, BuiltinLlm), BuiltinLlm).results
        if result.faults
    ]
    # the offline agent takes the pressed 1 for the first choice, which is this edge
    assert {fault.code for result in failed for fault in result.faults} == {"keys_differ"}
    assert failed


def test_tools_answer_once_well_and_once_not() -> None:
    template = load_template("support_triage")
    proposed = propose_scenarios(build_template_agent(template), BuiltinLlm)
    edges = {edge["id"] for edge in template.definition["edges"]}
    assert edges <= {edge for one in proposed for edge in one.expect.edges or ()}
    failing = [one for one in proposed if one.name.startswith("tool-fails-")]
    assert [mock.transfer for one in failing for mocks in one.tools.values() for mock in mocks] == ["busy"]


def test_an_edge_that_nothing_takes_is_left_out() -> None:
    raw: dict[str, Any] = copy.deepcopy(DEFINITION)
    raw["edges"][1]["data"] = {"label": "??", "condition": "", "digits": "1" * 35}
    server = {"type": "mcp", "config": {"url": "https://example.com/mcp"}}
    tools = [ScenarioTool("server", "Server", "", read_definition(server))]
    proposed = propose_scenarios(agent(raw, tools=tools), BuiltinLlm)
    assert {edge for one in proposed for edge in one.expect.edges or ()} == {"start-sales", "sales-bye"}
