"""One graph for every finding, and the graphs that must have none."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from offhook.workflows.analysis import MAX_NODES, analyze_graph
from offhook.workflows.catalog.templates import TEMPLATE_IDS, load_template
from offhook.workflows.graph import parse_graph
from offhook.workflows.ports import ToolFacts
from tests.workflows.definitions import agent, definition, edge, end, simple, start

TOOLS = {
    "desk": ToolFacts("Front desk", timeout_s=30, is_transfer=True),
    "lookup": ToolFacts("Look up order", timeout_s=5),
    "shop": ToolFacts("Shop", timeout_s=5, functions={"find_order": "shop_find_order"}),
}
PHRASES = ("filler", "idle")
SPANISH = (
    "Buenos días, le atiende la clínica dental. Puedo darle una cita, cambiarla o cancelarla. Dígame qué necesita hoy "
    "y cuándo le vendría bien, por favor. También puedo pasarle con una persona de la recepción."
)


def variables(*names: str) -> dict[str, Any]:
    return {"extraction_enabled": True, "extraction_variables": [{"name": name, "type": "string"} for name in names]}


def chain(*edges: dict[str, Any], **agent_data: Any) -> dict[str, Any]:
    """start → a → e, with further edges."""
    return definition(start(), agent(**agent_data), end(), edges=[edge("s", "a", "Begin"), *edges])


def findings(raw: dict[str, Any], **more: Any) -> list[tuple[str, str, str | None, str | None]]:
    found = analyze_graph(parse_graph(raw), tools=TOOLS, **more)
    return [(finding.severity, finding.code, finding.id, finding.field) for finding in found]


def swapped(name: str, one: str, other: str) -> dict[str, Any]:
    """A template with the prompts of two nodes swapped."""
    raw = load_template(name).definition
    prompts = {node["id"]: node["data"].get("prompt") for node in raw["nodes"]}
    prompts[one], prompts[other] = prompts[other], prompts[one]
    return {**raw, "nodes": [{**n, "data": {**n["data"], "prompt": prompts[n["id"]]}} for n in raw["nodes"]]}


LATE = definition(
    start(),
    agent("a", **variables("city")),
    agent("b", say="You are in {{ city }}, right?"),
    end(),
    edges=[edge("s", "a", "Ask"), edge("s", "b", "Skip"), edge("a", "b", "Told"), edge("b", "e", "Right")],
)
RING = definition(
    start(),
    agent("a", say="One moment."),
    agent("b", say="I am looking."),
    end(),
    edges=[
        edge("s", "a", "Begin"),
        edge("a", "b", "On", condition="always"),
        edge("b", "a", "Back", condition="Next."),
        edge("b", "e", "Stop", condition="", digits="9"),
    ],
)

CASES: list[tuple[str, dict[str, Any], list[tuple[str, str, str | None, str | None]]]] = [
    (
        "an edge that never holds",
        chain(edge("a", "e", "Finish", condition="never")),
        [("error", "edge_never_taken", "a-e", "data.condition"), ("error", "end_cut_off", "e", None)],
    ),
    (
        "an edge that always wins",
        chain(edge("a", "s2", "On", condition="Always."), edge("a", "e", "Bye"))
        | {"nodes": [start(), agent(), agent("s2", say="Well?"), end()]},
        [
            ("error", "edge_never_taken", "a-e", "data.condition"),
            ("error", "end_cut_off", "e", None),
            ("warning", "edge_always_wins", "a-s2", "data.condition"),
        ],
    ),
    (
        "an edge to its own step",
        chain(edge("a", "a", "Again"), edge("a", "e", "Bye")),
        [("warning", "edge_to_itself", "a-a", None)],
    ),
    (
        "two edges of one condition",
        chain(edge("a", "e", "Yes", condition="They agree."), edge("a", "s2", "OK", condition="they agree"))
        | {"nodes": [start(), agent(), end("s2"), end()]},
        [("warning", "edges_indistinct", "a-s2", "data.condition")],
    ),
    (
        "a phrase at two edges",
        chain(edge("a", "e", "Yes", examples=["Sure!"]), edge("a", "s2", "No", examples=["no", "sure"]))
        | {"nodes": [start(), agent(), end("s2"), end()]},
        [("warning", "phrase_at_two_edges", "a-s2", "data.examples")],
    ),
    ("a ring that asks nothing", RING, [("error", "loop_without_progress", "a", None)]),
    ("a variable on one of two paths", LATE, [("warning", "variable_used_too_early", "b", "data.say")]),
    (
        "a key that no edge has",
        chain(edge("a", "e", "Sales", digits="1"), say="Press 1 for sales, or press two for support."),
        [("error", "prompt_names_missing_key", "a", "data.say")],
    ),
    (
        "a fixed sentence without a question",
        chain(edge("a", "e", "Yes"), say="We are open until five."),
        [("warning", "step_asks_nothing", "a", "data.say")],
    ),
    (
        "an end that asks",
        definition(start(), end(say="Goodbye. Anything else?"), edges=[edge("s", "e", "Bye")]),
        [("warning", "end_asks_question", "e", "data.say")],
    ),
    (
        "a function that is not there",
        chain(edge("a", "e", "Done"), prompt="Call look_up_order, then shop_find_order.", tool_uuids=["shop"]),
        [("error", "prompt_names_missing_tool", "a", "data.prompt")],
    ),
    (
        "a transfer without a tool",
        chain(edge("a", "e", "Done"), prompt="Transfer the caller to the front desk."),
        [("error", "transfer_without_target", "a", "data.prompt")],
    ),
]


@pytest.mark.parametrize(("raw", "expected"), [pytest.param(*case[1:], id=case[0]) for case in CASES])
def test_findings(raw: dict[str, Any], expected: list[tuple[str, str, str | None, str | None]]) -> None:
    assert findings(raw) == expected


@pytest.mark.parametrize(
    "raw",
    [
        simple(),
        {"nodes": [], "edges": []},
        # keys take an edge whatever the model decides
        chain(edge("a", "e", "On", condition="always"), edge("a", "s2", "Desk", condition="", digits="0"))
        | {"nodes": [start(), agent(say="Hello."), end("s2"), end()]},
        chain(edge("a", "a", "Weekend", transition_speech="We are closed."), edge("a", "e", "Bye")),
        chain(edge("a", "e", "Done"), prompt="Transfer the caller to the front desk.", tool_uuids=["desk"]),
        chain(edge("a", "e", "Done"), prompt="Call look_up_order.", tool_uuids=["lookup"]),
        chain(edge("a", "e", "Done"), say="Thanks {{ city | friend }}, what else?", **variables("city")),
        chain(edge("a", "e", "Thanks {{ city }}", transition_speech="Bye {{ called_number }}.")),
    ],
)
def test_graphs_without_findings(raw: dict[str, Any]) -> None:
    assert findings(raw) == []


def test_a_path_without_the_variable_is_named() -> None:
    (found,) = analyze_graph(parse_graph(LATE))
    assert "on the path “Node s” → “Node b”: only “Node a” asks for it" in found.message
    assert analyze_graph(parse_graph(LATE), template_variables=["city"]) == ()


def test_swapped_prompts_are_found_at_both_steps() -> None:
    found = findings(swapped("order_status", "return", "callback"))
    assert found == [("warning", "prompt_contradicts_edges", at, "data.prompt") for at in ("return", "callback")]


@pytest.mark.parametrize(
    "prompt", ["First tab seat", "Do what you think is right here.", "You are a helpful assistant who books tables."]
)
def test_one_prompt_that_fits_nowhere_is_not_swapped(prompt: str) -> None:
    for name in ("event_reminder", "payment_reminder", "delivery_window", "recruiting_screen"):
        raw = load_template(name).definition
        for at in (node["id"] for node in raw["nodes"] if node["data"].get("prompt")):
            nodes = [{**n, "data": {**n["data"], "prompt": prompt}} if n["id"] == at else n for n in raw["nodes"]]
            found = [code for _, code, *_ in findings({**raw, "nodes": nodes})]
            assert "prompt_contradicts_edges" not in found, (name, at)


def test_phrases_stay_english_only_in_agents_that_speak_it() -> None:
    raw = simple(greeting=SPANISH)
    phrases = {"phrases": {"filler": "Un segundo, por favor.", "idle": " "}}
    found = findings(raw, configurations=phrases, phrase_names=PHRASES)
    assert found == [("warning", "sentence_not_translated", None, "workflow_configurations.phrases.idle")]
    in_spanish = {"models": {"stt": {"language": "es-MX"}}}
    assert findings(raw, configurations=in_spanish, phrase_names=PHRASES) == []
    english = simple(greeting="Hello, and thank you for calling the clinic. " * 5 + "What can I do for you?")
    assert findings(english, phrase_names=PHRASES) == []


def test_fixed_sentences_that_another_language_lacks_are_named() -> None:
    raw = simple(greeting="Hello.")
    spoken = {"languages": [{"language": "en"}, {"language": "es"}], "disclosure": {"text": "We record."}}
    found = findings(raw, configurations=spoken, phrase_names=PHRASES)
    assert [(code, field) for _, code, _, field in found] == [
        ("sentence_not_translated", "disclosure"),
        ("sentence_not_translated", "data.greeting"),
    ]
    spoken["languages"][1] = {"language": "es", "translations": {"Hello.": "Hola.", "We record.": "Grabamos."}}  # type: ignore[index]
    assert findings(raw, configurations=spoken, phrase_names=PHRASES) == []


def test_phrases_of_a_language_that_has_none_are_named() -> None:
    spoken = {"languages": [{"language": "en"}, {"language": "sv", "phrases": {"idle": "Är du kvar?"}}]}
    found = analyze_graph(parse_graph(simple(greeting="")), configurations=spoken, phrase_names=PHRASES)
    assert [finding.message for finding in found] == ["Callers who speak sv hear the phrase “filler” in English"]


@pytest.mark.parametrize("text", ["{{" * 100_000, f"Transfer them{' ' * 100_000}.", f"Press{' ' * 100_000}one"])
def test_long_texts_take_linear_time(text: str) -> None:
    # quadratic patterns would take minutes, and the test's timeout
    assert findings(simple(greeting=text, prompt=text)) is not None


def test_a_graph_that_is_too_large_says_so() -> None:
    nodes = [start(), *(agent(f"n{number}") for number in range(MAX_NODES))]
    assert [found.code for found in analyze_graph(parse_graph(definition(*nodes)))] == ["graph_too_large"]


@pytest.mark.parametrize("template_id", TEMPLATE_IDS)
def test_the_catalog_has_no_findings(template_id: str) -> None:
    template = load_template(template_id)
    tools = {tool.id: ToolFacts(tool.name, timeout_s=5, is_transfer=True) for tool in template.card.tools}
    tools["demo_order_status"] = ToolFacts("demo_order_status", timeout_s=5)
    raw = parse_graph(template.definition)
    assert analyze_graph(raw, tools=tools, phrase_names=PHRASES) == ()


values = st.sampled_from(
    [None, True, 3, "", "always", "never", "Press 1.", "{{ city }}", "call find_order", [{"name": 1}], ["x"]]
)
ids = st.sampled_from(["s", "a", "e"])
kinds = st.sampled_from(["startCall", "agentNode", "endCall", "globalNode"])
node_fields = st.sampled_from(
    ["prompt", "say", "offline_say", "extraction_enabled", "extraction_variables", "tool_uuids"]
)
edge_fields = st.sampled_from(["label", "condition", "digits", "examples"])
any_node = st.fixed_dictionaries({"id": ids, "type": kinds, "data": st.dictionaries(node_fields, values, max_size=4)})
any_edge = st.fixed_dictionaries(
    {"id": ids, "source": ids, "target": ids, "data": st.dictionaries(edge_fields, values, max_size=3)}
)


@settings(max_examples=30, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.lists(any_node, max_size=4), st.lists(any_edge, max_size=5), values)
def test_never_raises(nodes: list[Any], edges: list[Any], phrases: Any) -> None:
    graph = parse_graph({"nodes": nodes, "edges": edges})
    analyze_graph(graph, tools={}, configurations={"phrases": phrases}, phrase_names=PHRASES)
