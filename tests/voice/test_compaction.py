"""A long conversation goes on with a summary of what was said before."""

import json
from typing import Any

from offhook.models.ports import LlmMessage, ToolCall
from offhook.voice import events
from offhook.voice.dialog.compaction import _find_safe_cut
from tests.fakes.scripted import ScriptedLlm, says, takes
from tests.voice.phone import Call, agent_graph, edge, node

SUMMARY = "The caller is Ada and wants a table for two on Friday."
ON = {"context_compaction_enabled": True}


def long_call(settings: dict[str, Any], extracts: str = json.dumps({"summary": SUMMARY})) -> tuple[Call, ScriptedLlm]:
    graph = agent_graph(
        node("start", "startCall", prompt="Ask.", greeting="Hello."),
        node("book", "agentNode", prompt="Book."),
        edge("start", "book", "Book"),
    )
    answers = [says(f"Answer {n}.") for n in range(6)]
    llm = ScriptedLlm([*answers, takes("book"), says("Let me book."), says("Done.")], extracts=extracts)
    call = Call(graph, llms=[llm], configurations=settings)
    for n in range(9):
        call.says(f"Word number {n}", at=3 + 4 * n)
    return call.hangs_up(at=42).run(), llm


def contents(llm: ScriptedLlm) -> list[str]:
    return [message.content for message in llm.requests[-1].messages]


def test_the_model_gets_the_summary_and_the_newest_words() -> None:
    call, llm = long_call(ON)

    system, *history = contents(llm)
    assert SUMMARY in system
    assert "Word number 8" in history
    assert "Word number 1" not in history
    (compacted,) = call.sink.of(events.CONTEXT_COMPACTED)
    assert compacted["summary"] == SUMMARY
    assert len(history) < 12


def test_without_the_setting_everything_stays() -> None:
    call, llm = long_call({})

    assert "Word number 1" in contents(llm)
    assert not call.sink.of(events.CONTEXT_COMPACTED)


def test_a_model_that_cannot_summarise_changes_nothing() -> None:
    call, llm = long_call(ON, extracts="no")

    assert "Word number 1" in contents(llm)
    assert not call.sink.of(events.CONTEXT_COMPACTED)


def test_a_function_call_is_never_torn_from_its_answer() -> None:
    history = [
        LlmMessage("user", "a"),
        LlmMessage("assistant", "", (ToolCall("c1", "look", {}),)),
        LlmMessage("user", "b"),
        LlmMessage("tool", "{}", tool_call_id="c1"),
        LlmMessage("user", "c"),
    ]
    assert _find_safe_cut(history, 2) == 0
    assert _find_safe_cut(history, 4) == 4
