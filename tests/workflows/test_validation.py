"""One case for every error and every warning, and the shapes that must pass."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from offhook.workflows.nodes import KINDS
from offhook.workflows.ports import ToolFacts
from offhook.workflows.validation import ValidationIssue, ValidationReport, validate_definition
from tests.workflows.definitions import agent, definition, edge, end, global_node, node, simple, start, trigger
from tests.workflows.strategies import json_values, patient

Found = tuple[str, str | None, str | None, str]
TOOLS = {
    "weather": ToolFacts("Weather!", timeout_s=5),
    "slow": ToolFacts("slow"),
    "begin": ToolFacts("Finish", timeout_s=5),
    "desk": ToolFacts("desk", timeout_s=30, is_transfer=True),
    "desk2": ToolFacts("desk2", timeout_s=30, is_transfer=True, has_fallback=True),
    "hang_up": ToolFacts("hang_up", ends_call=True),
    "old": ToolFacts("Finish", timeout_s=5, ends_call=True, is_archived=True),
    "server": ToolFacts("Shop", timeout_s=5, functions={"find": "shop_find", "weather": "weather_"}),
    "twin": ToolFacts("Twin", timeout_s=5, functions={"a-b": "twin_a_b", "a_b": "twin_a_b"}),
    "silent": ToolFacts("Silent", timeout_s=5, functions={}),
}


def found(issues: tuple[ValidationIssue, ...]) -> list[Found]:
    return [(issue.kind, issue.id, issue.field, issue.code) for issue in issues]


def errors(raw: dict[str, Any]) -> list[Found]:
    return found(validate_definition(raw, tools=TOOLS).errors)


def without(item: dict[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name != key}


def chain(*middle: dict[str, Any], more: list[dict[str, Any]] | None = None, **agent_data: Any) -> dict[str, Any]:
    """start → a → e, with further nodes and edges beside it."""
    edges = [edge("s", "a", "Begin"), edge("a", "e", "Finish"), *(more or [])]
    return definition(start(), agent(**agent_data), end(), *middle, edges=edges)


def with_edge(**data: Any) -> dict[str, Any]:
    return definition(start(), end(), edges=[edge("s", "e", **{"label": "Bye", **data})])


ERRORS: list[tuple[str, dict[str, Any], Found]] = [
    ("no nodes", {"edges": []}, ("workflow", None, "nodes", "field_required")),
    ("edges is no list", {"nodes": [], "edges": 3}, ("workflow", None, "edges", "field_invalid")),
    ("node is no object", {"nodes": [7], "edges": []}, ("node", None, "nodes.0", "field_invalid")),
    ("edge is no object", {**definition(start()), "edges": ["x"]}, ("edge", None, "edges.0", "field_invalid")),
    ("node without id", definition(without(start(), "id")), ("node", None, "id", "field_required")),
    ("node without type", definition(without(start(), "type")), ("node", "s", "type", "field_required")),
    ("node of unknown type", definition(node("s", "robot")), ("node", "s", "type", "node_type_unknown")),
    ("node without data", definition(without(start(), "data")), ("node", "s", "data", "field_required")),
    ("node without position", definition(without(start(), "position")), ("node", "s", "position", "field_required")),
    ("half a position", definition({**start(), "position": {"y": 1}}), ("node", "s", "position.x", "field_required")),
    (
        "position in words",
        definition({**start(), "position": {"x": "left", "y": 1}}),
        ("node", "s", "position.x", "field_invalid"),
    ),
    ("node without name", definition(start(name="")), ("node", "s", "data.name", "field_required")),
    ("two nodes of one id", definition(start(), end("s")), ("node", "s", "id", "node_id_duplicate")),
    ("start without prompt", definition(start(prompt="  ")), ("node", "s", "data.prompt", "prompt_required")),
    ("agent without prompt", chain(prompt=None), ("node", "a", "data.prompt", "prompt_required")),
    ("end without prompt", definition(start(), end(prompt="")), ("node", "e", "data.prompt", "prompt_required")),
    ("global without prompt", definition(start(), global_node("")), ("node", "g", "data.prompt", "prompt_required")),
    ("prompt is a number", definition(start(prompt=3)), ("node", "s", "data.prompt", "field_invalid")),
    ("flag in words", definition(start(allow_interrupt="yes")), ("node", "s", "data.allow_interrupt", "field_invalid")),
    (
        "too long a delay",
        definition(start(delayed_start_duration=11)),
        ("node", "s", "data.delayed_start_duration", "field_invalid"),
    ),
    ("unknown option", definition(start(greeting_type="song")), ("node", "s", "data.greeting_type", "field_invalid")),
    (
        "address without scheme",
        definition(start(pre_call_fetch_url="ftp://x")),
        ("node", "s", "data.pre_call_fetch_url", "field_invalid"),
    ),
    (
        "variable without name",
        definition(start(extraction_variables=[{"type": "string"}])),
        ("node", "s", "data.extraction_variables.0.name", "field_required"),
    ),
    (
        "variable of unknown type",
        definition(start(extraction_variables=[{"name": "n", "type": "date"}])),
        ("node", "s", "data.extraction_variables.0.type", "field_invalid"),
    ),
    ("tools in words", definition(start(tool_uuids="all")), ("node", "s", "data.tool_uuids", "field_invalid")),
    ("documents in words", definition(start(document_refs={})), ("node", "s", "data.document_refs", "field_invalid")),
    ("phrases of numbers", definition(start(examples=[1])), ("node", "s", "data.examples", "field_invalid")),
    ("phrases in an object", definition(start(examples={})), ("node", "s", "data.examples", "field_invalid")),
    ("unknown vocabulary", definition(start(expects=["colors"])), ("node", "s", "data.expects", "field_invalid")),
    (
        "unknown method",
        definition(start(), node("w", "webhook", http_method="HEAD")),
        ("node", "w", "data.http_method", "field_invalid"),
    ),
    (
        "body of a webhook is a list",
        definition(start(), node("w", "webhook", payload_template=[])),
        ("node", "w", "data.payload_template", "field_invalid"),
    ),
    (
        "share above 100",
        definition(start(), node("q", "qa", qa_sample_rate=101)),
        ("node", "q", "data.qa_sample_rate", "field_invalid"),
    ),
    (
        "two of a service that is not here",
        definition(start(), node("p", "paygent"), node("p2", "paygent")),
        ("workflow", None, "nodes", "too_many_nodes"),
    ),
    ("edge into nothing", definition(start(), edges=[edge("s", "x")]), ("edge", "s-x", "target", "edge_dangling")),
    ("edge out of nothing", definition(start(), edges=[edge("x", "s")]), ("edge", "x-s", "source", "edge_dangling")),
    (
        "edge without data",
        definition(start(), end(), edges=[without(edge("s", "e"), "data")]),
        ("edge", "s-e", "data", "field_required"),
    ),
    ("edge without label", with_edge(label=" "), ("edge", "s-e", "data.label", "field_required")),
    ("edge without condition", with_edge(condition=""), ("edge", "s-e", "data.condition", "field_required")),
    ("edge with words for keys", with_edge(digits="one"), ("edge", "s-e", "data.digits", "digits_invalid")),
    ("edge phrases in words", with_edge(examples="bye"), ("edge", "s-e", "data.examples", "field_invalid")),
    (
        "edge speech of unknown type",
        with_edge(transition_speech_type="song"),
        ("edge", "s-e", "data.transition_speech_type", "field_invalid"),
    ),
    (
        "edge speech is a number",
        with_edge(transition_speech=3),
        ("edge", "s-e", "data.transition_speech", "field_invalid"),
    ),
    (
        "twin labels",
        chain(more=[edge("a", "e", "finish")]),
        ("edge", "a-e", "data.label", "transition_duplicate"),
    ),
    (
        "twin keys",
        definition(start(), end(), end("f"), edges=[edge("s", "e", "A", digits="1"), edge("s", "f", "B", digits="1")]),
        ("edge", "s-f", "data.digits", "digits_duplicate"),
    ),
    (
        "no start",
        definition(end(), agent(), edges=[edge("a", "e"), edge("a", "a")]),
        ("workflow", None, "nodes", "too_few_nodes"),
    ),
    ("two starts", definition(start(), start("s2")), ("workflow", None, "nodes", "too_many_nodes")),
    (
        "two triggers",
        definition(start(), trigger("x"), trigger("y", "t2")),
        ("workflow", None, "nodes", "too_many_nodes"),
    ),
    (
        "two globals",
        definition(start(), global_node(), global_node("b", "g2")),
        ("workflow", None, "nodes", "too_many_nodes"),
    ),
    ("edge into start", chain(more=[edge("a", "s", "Again")]), ("node", "s", None, "incoming_not_allowed")),
    ("edge out of end", chain(more=[edge("e", "a", "Again")]), ("node", "e", None, "outgoing_not_allowed")),
    (
        "edge into webhook",
        chain(node("w", "webhook"), more=[edge("a", "w", "Tell")]),
        ("node", "w", None, "incoming_not_allowed"),
    ),
    (
        "edge out of webhook",
        chain(node("w", "webhook"), more=[edge("w", "a", "Told")]),
        ("node", "w", None, "outgoing_not_allowed"),
    ),
    ("edge out of global", chain(global_node(), more=[edge("g", "a")]), ("node", "g", None, "outgoing_not_allowed")),
    (
        "edge into qa",
        chain(node("q", "qa"), more=[edge("a", "q", "Rate")]),
        ("node", "q", None, "incoming_not_allowed"),
    ),
    ("edge into trigger", chain(trigger(), more=[edge("a", "t", "T")]), ("node", "t", None, "incoming_not_allowed")),
    ("agent that nothing leads to", definition(start(), agent()), ("node", "a", None, "incoming_required")),
    ("end that nothing leads to", definition(start(), end()), ("node", "e", None, "incoming_required")),
    (
        "path too long",
        definition(start(), trigger("x" * 37)),
        ("node", "t", "data.trigger_path", "trigger_path_too_long"),
    ),
    (
        "path of two parts",
        definition(start(), trigger("a/b")),
        ("node", "t", "data.trigger_path", "trigger_path_invalid"),
    ),
    (
        "path used twice",
        definition(start(), trigger("x"), trigger("x", "t2")),
        ("node", "t2", "data.trigger_path", "trigger_path_duplicate"),
    ),
    (
        "tool named like an edge",
        chain(tool_uuids=["begin"]),
        ("node", "a", "data.tool_uuids", "tool_name_duplicate"),
    ),
    (
        "function of an MCP server named like a tool",
        chain(tool_uuids=["weather", "server"]),
        ("node", "a", "data.tool_uuids", "tool_name_duplicate"),
    ),
    (
        "function of an MCP server named like an edge",
        chain(tool_uuids=["server"], more=[edge("a", "e", "Shop find")]),
        ("node", "a", "data.tool_uuids", "tool_name_duplicate"),
    ),
    (
        "two functions of an MCP server that models cannot tell apart",
        chain(tool_uuids=["twin"]),
        ("node", "a", "data.tool_uuids", "tool_name_duplicate"),
    ),
]


@pytest.mark.parametrize(("raw", "expected"), [case[1:] for case in ERRORS], ids=[case[0] for case in ERRORS])
def test_an_error_is_found_and_named(raw: dict[str, Any], expected: Found) -> None:
    report = validate_definition(raw, tools=TOOLS)
    assert expected in found(report.errors)
    assert not report.is_valid
    assert all(issue.message.endswith(".") for issue in report.errors)


WARNINGS: list[tuple[str, dict[str, Any], Found]] = [
    (
        "a step that only itself leads to",
        chain(agent("b"), more=[edge("b", "b", "Again"), edge("b", "e", "Out")]),
        ("node", "b", None, "node_unreachable"),
    ),
    ("a start alone", definition(start()), ("node", "s", None, "node_without_end")),
    ("a dead end", chain(agent("b"), more=[edge("a", "b", "Side")]), ("node", "b", None, "node_without_end")),
    (
        "a loop of two without an exit",
        chain(agent("b"), agent("c"), more=[edge("a", "b", "In"), edge("b", "c"), edge("c", "b")]),
        ("node", "b", None, "loop_without_exit"),
    ),
    (
        "a loop of one without an exit",
        chain(agent("b"), more=[edge("a", "b", "In"), edge("b", "b")]),
        ("node", "b", None, "loop_without_exit"),
    ),
    ("a variable in a prompt", chain(prompt="Ask {{ who }}"), ("node", "a", "data.prompt", "variable_never_set")),
    (
        "a variable in a greeting",
        simple(greeting="Hi {{ initial_context.who }}"),
        ("node", "s", "data.greeting", "variable_never_set"),
    ),
    (
        "a variable in a condition",
        with_edge(condition="{{x}}"),
        ("edge", "s-e", "data.condition", "variable_never_set"),
    ),
    (
        "a transfer that may fail",
        definition(start(), agent(tool_uuids=["desk"]), edges=[edge("s", "a")]),
        ("node", "a", "data.tool_uuids", "transfer_without_fallback"),
    ),
    (
        "a tool that may never return",
        chain(tool_uuids=["slow"]),
        ("node", "a", "data.tool_uuids", "tool_without_timeout"),
    ),
    *(
        (f"{kind} of another platform", chain(node("p", kind, house=1)), ("node", "p", "type", "node_without_effect"))
        for kind in ("tuner", "noveum", "paygent")
    ),
    ("a tool that is not there", chain(tool_uuids=["gone"]), ("node", "a", "data.tool_uuids", "tool_unknown")),
    ("an archived tool", chain(tool_uuids=["old"]), ("node", "a", "data.tool_uuids", "tool_archived")),
    (
        "an MCP server without a catalog",
        chain(tool_uuids=["silent"]),
        ("node", "a", "data.tool_uuids", "tool_without_functions"),
    ),
]


@pytest.mark.parametrize(("raw", "expected"), [case[1:] for case in WARNINGS], ids=[case[0] for case in WARNINGS])
def test_a_warning_is_found_and_does_not_make_it_invalid(raw: dict[str, Any], expected: Found) -> None:
    report = validate_definition(raw, tools=TOOLS)
    assert expected in found(report.warnings)
    assert report.is_valid
    assert all(issue.message.endswith(".") for issue in report.warnings)


CLEAN: list[tuple[str, dict[str, Any]]] = [
    ("start, agent, end", simple()),
    (
        "branches to one end, with what an editor adds",
        definition(
            {**start(), "width": 200, "measured": {"width": 200}, "selected": True},
            agent(),
            agent("b"),
            agent("c"),
            end(),
            edges=[
                {**edge("s", "a", "Go"), "type": "custom", "animated": True},
                edge("a", "b", "Left"),
                edge("a", "c", "Right"),
                edge("b", "e", "Done"),
                edge("c", "e", "Done"),
            ],
        ),
    ),
    ("a loop with an exit", chain(agent("b"), more=[edge("a", "b", "Again?"), edge("b", "a", "Back")])),
    ("two ends", chain(end("f"), more=[edge("a", "f", "Other")])),
    ("any number of webhooks", chain(node("w", "webhook"), node("w2", "webhook"), node("q", "qa"))),
    ("a fixed sentence instead of a prompt", chain(say="Please hold.", prompt="")),
    ("a key instead of a condition", with_edge(digits="1", condition="")),
    ("a key beside a condition", with_edge(digits="1")),
    ("labels in another script", chain(more=[edge("a", "e", "да"), edge("a", "e", "но")])),
    ("a variable with a default", chain(prompt="Ask {{ who | them }} at {{ current_time_Europe/Oslo }}")),
    ("a variable of every run", chain(prompt="They called from {{ caller_number }}")),
    (
        "a variable that a step extracts",
        chain(prompt="{{ day }}", extraction_variables=[{"name": "day", "type": "string"}]),
    ),
    ("a call that a tool ends", definition(start(), agent(tool_uuids=["hang_up"]), edges=[edge("s", "a")])),
    ("a transfer with a fallback", definition(start(), agent(tool_uuids=["desk2"]), edges=[edge("s", "a")])),
    ("a tool with a timeout", chain(tool_uuids=["weather"])),
    ("an MCP server", chain(tool_uuids=["server"])),
    ("a filter parts namesakes", chain(tool_uuids=["weather", "server"], mcp_tool_filters={"server": ["find"]})),
    ("a filter parts twins", chain(tool_uuids=["twin"], mcp_tool_filters={"twin": ["a-b"]})),
    ("a filter that is none", chain(tool_uuids=["server"], mcp_tool_filters=["all"])),
    ("a key of its own", simple(house="kept")),
    ("the old form of the fetch switch", simple(pre_call_fetch_enabled=True)),
]


@pytest.mark.parametrize("raw", [case[1] for case in CLEAN], ids=[case[0] for case in CLEAN])
def test_nothing_is_wrong(raw: dict[str, Any]) -> None:
    assert validate_definition(raw, tools=TOOLS) == ValidationReport()


def test_a_start_alone_is_no_error() -> None:
    assert errors(definition(start())) == []


def test_a_variable_that_the_workflow_sets_is_no_warning() -> None:
    raw = chain(prompt="Ask {{ who }}")
    assert validate_definition(raw, template_variables=["who"]) == ValidationReport()


def test_every_error_is_reported_at_once() -> None:
    raw = definition(start(prompt=""), agent(name=""), edges=[edge("s", "x"), edge("y", "a")])
    assert {item[3] for item in errors(raw)} == {"prompt_required", "field_required", "edge_dangling"}
    assert len(errors(raw)) == 4


def test_a_long_chain_is_checked_without_recursion() -> None:
    count = 480
    nodes = [start(), *(agent(f"a{index}") for index in range(count))]
    edges = [edge("s", "a0"), *(edge(f"a{index}", f"a{(index + 1) % count}") for index in range(count))]
    warnings = found(validate_definition(definition(*nodes, edges=edges)).warnings)
    assert [(item[1], item[3]) for item in warnings] == [("a0", "loop_without_exit"), ("s", "node_without_end")]


def mangled(replace: Callable[[dict[str, Any]], None]) -> dict[str, Any]:
    raw = chain()
    replace(raw)
    return raw


@patient
@given(json_values, st.sampled_from(["nodes", "edges"]), st.integers(0, 1))
def test_any_json_as_a_node_or_an_edge_gives_a_report(value: Any, where: str, index: int) -> None:
    def replace(raw: dict[str, Any]) -> None:
        raw[where][index] = value

    validate_definition(mangled(replace))


@patient
@given(json_values, st.sampled_from(sorted(KINDS)), st.data())
def test_any_json_as_a_field_gives_a_report(value: Any, kind: str, data: st.DataObject) -> None:
    field = data.draw(st.sampled_from([spec.name for spec in KINDS[kind].spec.properties]))
    raw = definition(start(), node("n", kind, **{field: value}), edges=[edge("s", "n")])
    assert all(issue.message.endswith(".") for issue in validate_definition(raw, tools=TOOLS).errors)


@patient
@given(st.dictionaries(st.sampled_from(["id", "source", "target", "data"]), json_values))
def test_any_edge_gives_a_report(value: dict[str, Any]) -> None:
    validate_definition(definition(start(), end(), edges=[edge("s", "e"), value]))
