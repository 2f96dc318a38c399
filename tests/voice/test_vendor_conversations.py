"""Whole conversations through each LLM vendor's port and the emulator of its wire format, deaths included."""

import asyncio
from contextlib import AsyncExitStack
from typing import Any

import pytest

from offhook.models.llm.stream import LlmTimeouts
from offhook.models.ports import CallModels
from offhook.voice import events
from offhook.voice.call_context import CallAgent
from offhook.voice.config import CallConfig
from offhook.voice.text_session import TextSession
from offhook.workflows.graph import parse_graph
from offhook_lab.sse import ScriptedAnswer, StreamFault
from tests.fakes.scripted import Hearing, ScriptedStt, ScriptedTts
from tests.fakes.voice import KeptEvents, ScriptedTool, Tools
from tests.models.llm_vendors import VENDORS, LlmVendor
from tests.quick import first_quick
from tests.voice.phone import Call, agent_graph, edge, node, simple_agent

CALM = LlmTimeouts()
HALF = "I can book that table for four people at"


def booking() -> dict[str, Any]:
    return agent_graph(
        node("start", "startCall", prompt="Help.", greeting="Hello.", tool_uuids=["free_tables"]),
        node("day", "agentNode", prompt="Ask for the day."),
        node("end", "endCall", prompt="Say goodbye.", say="Goodbye."),
        edge("start", "day", "Wants a table"),
        edge("day", "end", "Done"),
    )


@pytest.mark.parametrize("vendor", first_quick(VENDORS), ids=lambda vendor: vendor.provider)
async def test_a_chat_with_tools_and_moves(vendor: LlmVendor) -> None:
    graph = parse_graph(booking())
    moves = {e.target: e.tool_name for at in graph.nodes for e in graph.edges_from(at)}
    script = [
        ScriptedAnswer("Let me look.", (("free_tables", {"people": 4}),)),
        ScriptedAnswer("There is one."),
        ScriptedAnswer(calls=((moves["day"], {}),)),
        ScriptedAnswer("For which day?"),
        ScriptedAnswer(calls=((moves["end"], {}),)),
    ]
    tool = ScriptedTool("free_tables", result={"free": 1}, takes_s=0.0)
    async with vendor.serving(script, CALM) as (server, llm):
        agent = CallAgent(graph, CallConfig(), Tools(tool), {})
        models = CallModels((llm,), (ScriptedTts(),), (ScriptedStt(Hearing()),))
        session = TextSession(agent=agent, models=models, sink=KeptEvents())
        said = await session.start()
        for text in ("A table for four?", "Book it.", "Tomorrow."):
            said += await session.say(text)
    assert said == ["Hello.", "Let me look.", "There is one.", "For which day?", "Goodbye."]
    assert tool.calls == [{"people": 4}]
    assert session.is_over
    assert len(server.requests) == 5


async def until_answered(call: Call) -> None:
    """Hang up when the agent has greeted and answered."""
    while len(call.agent_said) < 2:
        await asyncio.sleep(0.05)
    call.session.end_call()


async def call_through(stack: AsyncExitStack, vendor: LlmVendor, after: LlmVendor) -> Call:
    """The first vendor dies in the middle of its sentence; the second one goes on. On the wall clock."""
    deltas = len(HALF.split()) + (1 if vendor.provider == "openai" else 0)
    dying = ScriptedAnswer(HALF + " never heard words.", token_s=0.01, fault=StreamFault("cut", after=deltas))
    _, first = await stack.enter_async_context(vendor.serving([dying], CALM))
    server, second = await stack.enter_async_context(after.serving([ScriptedAnswer("eight. Anything else?")], CALM))
    voice = ScriptedTts(s_per_char=0.01, first_byte_s=0.02)
    call = Call(simple_agent(greeting="Hello."), llms=[first, second], ttss=[voice])
    call.says("Book a table", at=0.8).hangs_up(at=40)
    answered = asyncio.create_task(until_answered(call))
    call.result = await call._run()
    await answered
    assert server.requests, (call.transcript, call.sink.of(events.MODEL_FAILED))
    assert HALF in str(server.requests[0].body)
    return call


@pytest.mark.slow
async def test_calls_in_which_the_vendor_dies_mid_sentence_are_answered_by_the_next() -> None:
    pairs = list(zip(VENDORS, [*VENDORS[1:], VENDORS[0]], strict=True))
    async with AsyncExitStack() as stack:
        calls = await asyncio.gather(*(call_through(stack, vendor, after) for vendor, after in pairs))
    for call, (vendor, after) in zip(calls, pairs, strict=True):
        assert call.agent_said[-1] == f"{HALF} eight. Anything else?"
        assert call.sink.of(events.FAILED_OVER) == [{"kind": "llm", "from": vendor.provider, "to": after.provider}]
        assert call.sink.of(events.MODEL_FAILED)[0]["code"] == "llm_connection"
