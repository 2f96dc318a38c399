"""The template catalog: every template is complete."""

import re
from pathlib import Path

import pytest

from offhook.workflows.catalog.templates import TEMPLATE_IDS, AgentTemplate, list_templates, load_template
from offhook.workflows.graph import parse_graph
from offhook.workflows.nodes import KINDS
from offhook.workflows.ports import ToolFacts
from offhook.workflows.results.definitions import parse_call_analysis
from offhook.workflows.validation import ValidationReport, validate_definition

TOOLS = {"demo_order_status": ToolFacts("demo_order_status", timeout_s=5)}
PLACES_APART = 200


@pytest.fixture(params=TEMPLATE_IDS)
def template(request: pytest.FixtureRequest) -> AgentTemplate:
    return load_template(request.param)


def test_a_folder_for_each_template() -> None:
    folder = Path(__file__).parents[2] / "src" / "offhook" / "workflows" / "catalog" / "agents"
    assert {path.name for path in folder.iterdir()} == set(TEMPLATE_IDS)
    assert len(TEMPLATE_IDS) == 12
    assert len({template.card.title for template in list_templates()}) == len(TEMPLATE_IDS)


def test_nothing_is_wrong_with_it(template: AgentTemplate) -> None:
    own = {tool.id: ToolFacts(tool.name, timeout_s=35, is_transfer=True) for tool in template.card.tools}
    assert validate_definition(template.definition, tools=TOOLS | own) == ValidationReport()


def test_its_card_and_documents_have_texts(template: AgentTemplate) -> None:
    card = template.card
    assert card.summary.endswith(".")
    assert card.before_use.endswith(".")
    assert card.works_offline
    assert template.documents
    for document in template.documents:
        assert re.fullmatch(r"[a-z-]+\.md", document.filename)
        assert document.content.startswith(f"# {document.name}\n".encode())


def test_every_end_is_a_result_and_some_are_a_success(template: AgentTemplate) -> None:
    analysis = parse_call_analysis(template.configurations)
    assert not analysis.needs_reading
    graph = parse_graph(template.definition)
    rules = [rule for result in analysis.results for rule in result.rules]
    assert {rule.name for rule in rules if rule.check == "edge"} <= {
        edge["id"] for edge in template.definition["edges"]
    }
    ends = {node_id for node_id, node in graph.nodes.items() if node.kind == "endCall"}
    assert {rule.name for rule in rules if rule.check == "node"} == ends
    assert True in {result.is_success for result in analysis.results}


def test_it_always_has_something_to_say_without_a_model(template: AgentTemplate) -> None:
    transfers = {tool.id for tool in template.card.tools}
    for node in parse_graph(template.definition).nodes.values():
        if KINDS[node.kind].is_conversational:
            sentence = node.say or node.greeting or node.data["offline_say"]
            assert sentence.endswith((".", "?", "!"))
            is_statement = node.kind == "endCall" or transfers & set(node.tool_uuids)
            assert ("?" in sentence) != bool(is_statement), node.id


def test_every_edge_can_be_told_apart_by_its_phrases(template: AgentTemplate) -> None:
    graph = parse_graph(template.definition)
    for node_id in graph.nodes:
        seen: dict[str, str] = {}
        for edge in graph.edges_from(node_id):
            assert edge.condition.endswith("."), edge.id
            assert len(edge.examples) >= 2, edge.id
            for phrase in edge.examples:
                assert re.fullmatch(r"[a-z' ]+", phrase), phrase
                assert seen.setdefault(phrase, edge.id) == edge.id, f"{phrase!r} at {node_id}"


def test_a_simulated_caller_answers_every_question(template: AgentTemplate) -> None:
    asked = {node["id"] for node in template.definition["nodes"] if node["type"] in ("startCall", "agentNode")}
    assert {move["node"] for move in template.definition["demo_caller"]} <= asked


def test_its_nodes_do_not_lie_upon_each_other(template: AgentTemplate) -> None:
    places = [node["position"] for node in template.definition["nodes"]]
    for index, one in enumerate(places):
        for other in places[index + 1 :]:
            assert max(abs(one["x"] - other["x"]), abs(one["y"] - other["y"])) >= PLACES_APART, (one, other)
