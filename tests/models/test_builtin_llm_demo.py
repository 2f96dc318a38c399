"""The offline agent leads the demo agents' conversations to the end that the caller wants."""

from typing import Any

import pytest

from offhook.models.ports import CallModels, LlmMessage, LlmRequest, ToolCalled
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.runs.call_toolbox import CallToolbox
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.dialog.prompts import edge_tools, hint_for
from offhook.voice.text_session import TextSession
from offhook.workflows.demo import SLUGS, demo_agent
from offhook.workflows.graph import Edge, WorkflowGraph, parse_graph
from tests.fakes.clock import run_virtual
from tests.fakes.scripted import Hearing, ScriptedStt, ScriptedTts
from tests.fakes.voice import KeptEvents


def graph_of(slug: str) -> WorkflowGraph:
    return parse_graph(demo_agent(slug)["definition"])


def talk(slug: str, said: list[str]) -> tuple[list[str], dict[str, Any], bool]:
    """The agent's messages, what was gathered and whether the agent ended the conversation."""

    async def conversation() -> tuple[list[str], dict[str, Any], bool]:
        agent = CallAgent(graph_of(slug), CallConfig(), CallToolbox(), {})
        models = CallModels((BuiltinLlm(),), (ScriptedTts(),), (ScriptedStt(Hearing()),))
        session = TextSession(agent=agent, models=models, sink=KeptEvents())
        messages = await session.start()
        for text in said:
            assert not session.is_over, f"ended before {text!r}"
            messages += await session.say(text)
        is_over = session.is_over
        return messages, (await session.end()).gathered_context, is_over

    return run_virtual(conversation())


CONVERSATIONS = [
    (
        "appointment_booking",
        ["I would like to book an appointment.", "Tuesday.", "Eleven o'clock.", "Yes.", "Yes, please."],
        "Booked",
        {"day": "Tuesday", "time": "eleven o'clock", "is_new_patient": False, "is_confirmed": True},
    ),
    (
        "appointment_booking",
        ["um hi can I come in on Thursday afternoon", "two", "no it's my first time", "sure"],
        "Booked",
        {"day": "Thursday", "time": "two o'clock", "is_new_patient": True, "is_confirmed": True},
    ),
    (
        "appointment_booking",
        [
            "I can't make it tomorrow",
            "another day",
            "saturday",
            "ok then monday",
            "none of these",
            "friday",
            "at 2 pm",
            "what was that",
            "I've been there before",
            "no, change it",
            "wednesday",
            "nine",
            "yes",
        ],
        "Booked",
        {"day": "Wednesday", "time": "nine o'clock", "is_new_patient": False, "is_confirmed": True},
    ),
    ("appointment_booking", ["are you a robot", "could I speak with a human"], "Callback", {}),
    ("appointment_booking", ["when do you open?", "no that's all"], "Goodbye", {}),
    (
        "order_status",
        ["where's my parcel", "it's one two", "four two seven one", "no that's all thanks"],
        "Goodbye",
        {"order_number": "4271", "order_status": "Order 4271 is out for delivery and arrives today before six."},
    ),
    (
        "order_status",
        [
            "My order 99 05 has not arrived",
            "yes",
            "another order",
            "(entered on the keypad) 4711",
            "i want to send it back",
            "yes send it please",
        ],
        "Label sent",
        {
            "order_number": "4711",
            "order_status": "Order 4711 is held up at the carrier, who expects two more days.",
            "wants_return_label": True,
        },
    ),
    ("order_status", ["i don't need anything"], "Goodbye", {}),
    ("order_status", ["track my package", "I don't know the number"], "Callback", {}),
    (
        "survey",
        ["Yes, go ahead.", "Five.", "The food.", "Yes."],
        "Thanks",
        {"rating": 5, "topic": "food", "would_recommend": True},
    ),
    (
        "survey",
        ["okay", "seven", "i'd give it a three", "the people at reception", "probably not"],
        "Thanks and sorry",
        {"rating": 3, "topic": "people at reception", "would_recommend": False},
    ),
    ("survey", ["i'm driving right now"], "Call later", {}),
    ("survey", ["please don't call me again"], "No survey", {}),
]


@pytest.mark.parametrize(
    ("slug", "said", "end", "values"), CONVERSATIONS, ids=[f"{c[0]}: {c[1][0]}" for c in CONVERSATIONS]
)
def test_conversations(slug: str, said: list[str], end: str, values: dict[str, Any]) -> None:
    messages, gathered, is_over = talk(slug, said)
    assert gathered["nodes_visited"][-1] == end
    assert gathered["extracted_variables"] == values
    assert is_over
    assert "bye" in messages[-1].lower()


def test_what_the_tool_found_is_told_before_anything_else_is_asked() -> None:
    messages, _, _ = talk("order_status", ["where is my order", "four two seven one"])
    assert messages[-1] == (
        "Order 4271 is out for delivery and arrives today before six. Is there anything else I can help you with?"
    )


EXAMPLES = [
    pytest.param(slug, edge, example, id=f"{slug} {edge.id}: {example}")
    for slug in SLUGS
    for edges in graph_of(slug).edges.values()
    for edge in edges
    for example in edge.examples
    # "in the morning" is not yet a time where two are free: the agent asks which
    if example != "in the morning"
]


@pytest.mark.parametrize(("slug", "edge", "example"), EXAMPLES)
async def test_every_example_leads_where_its_author_wrote_it(slug: str, edge: Edge, example: str) -> None:
    graph = graph_of(slug)
    node, edges = graph.nodes[edge.source], graph.edges_from(edge.source)
    hint = hint_for(node, edges, (), {}, entered=False)
    history = [LlmMessage("assistant", hint.say_text or "Yes?"), LlmMessage("user", example.capitalize() + ".")]
    events = [event async for event in BuiltinLlm().stream(LlmRequest(history, edge_tools(edges, {}), hint=hint))]
    assert [event.call.name for event in events if isinstance(event, ToolCalled)] == [edge.tool_name]
