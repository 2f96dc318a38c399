"""The engine: what a caller can do, what can be expected, and that the same seed gives the same bytes."""

from typing import Any

import pytest

from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.scenarios import run_suite
from offhook.scenarios.engine.suite import run_scenario
from offhook.scenarios.errors import AgentNotTestable
from offhook.voice import events
from tests.fakes.scripted import ScriptedLlm, calls, says
from tests.scenarios.agents import DEFINITION, LOOKUP, agent, codes, edge, node, play, scenario

SALES = {"turns": ["sales please", "london"]}


def test_what_is_expected_holds() -> None:
    result = play(
        agent(),
        caller=SALES,
        expect={
            "edges": ["start-sales", "sales-bye"],
            "nodes": ["start", "bye"],
            "nodes_never": ["support"],
            "end": "bye",
            "says": ["which city"],
            "never_says": ["support will call"],
            "outcome": "answered",
            "end_reason": "agent_ended",
            "max_turns": 2,
            "max_seconds": 60,
            "tools": [],
        },
    )
    assert result.faults == ()
    assert result.played is not None
    assert result.played.duration_s > 5


@pytest.mark.parametrize(
    ("expect", "code"),
    [
        ({"edges": ["start-support"]}, "edges_differ"),
        ({"edges": []}, "edges_differ"),
        ({"keyed_edges": ["start-sales"]}, "keys_differ"),
        ({"edges_include": ["start-support"]}, "edge_missing"),
        ({"edges_never": ["sales-bye"]}, "edge_forbidden"),
        ({"nodes": ["bye", "start"]}, "node_missing"),
        ({"nodes_never": ["sales"]}, "node_forbidden"),
        ({"says": ["goodbye"]}, "words_missing"),
        ({"never_says": ["WHICH city"]}, "words_forbidden"),
        ({"variables": {"city": "London"}}, "variable_differs"),
        ({"end": "support"}, "end_differs"),
        ({"is_over": False}, "end_differs"),
        ({"outcome": "transferred"}, "outcome_differs"),
        ({"end_reason": "idle"}, "end_reason_differs"),
        ({"max_turns": 1}, "too_many_turns"),
        ({"max_seconds": 1}, "too_long"),
        ({"tools": [{"name": "look_up"}]}, "tools_differ"),
    ],
)
def test_what_does_not_hold_is_named(expect: dict[str, Any], code: str) -> None:
    assert codes(play(agent(), caller=SALES, expect=expect)) == [code]


def test_words_of_one_reply() -> None:
    turns = [{"say": "sales please", "agent_says": "WHICH CITY"}, {"say": "london", "agent_says": "paris"}]
    (fault,) = play(agent(), caller={"turns": turns}, expect={"end": "bye"}).faults
    assert (fault.code, fault.turn) == ("words_missing", 1)


def test_a_conversation_that_is_over_before_its_last_turn() -> None:
    turns = ["support please", {"say": "hello?", "agent_says": "yes"}]
    assert codes(play(agent(), caller={"turns": turns}, expect={"end": "support"})) == ["over_too_early"]


def test_keys() -> None:
    assert play(agent(), caller={"turns": [{"press": 2}]}, expect={"edges": ["start-support"]}).has_passed


def test_keys_that_are_no_edge_are_an_entry() -> None:
    result = play(agent(), caller={"turns": [{"press": "9#"}]}, expect={"edges": [], "is_over": False})
    assert result.has_passed
    assert result.played is not None
    assert [event.data["digits"] for event in result.played.journal if event.type == events.DIGITS_PRESSED] == ["9#"]


def test_silence_is_asked_about_and_ends_the_call() -> None:
    result = play(
        agent(), caller={"turns": [{"silence_s": 35}]}, expect={"end_reason": "idle", "says": ["are you still there"]}
    )
    assert result.has_passed, result.faults
    assert result.played is not None
    assert sum(event.type == events.CALLER_IDLE for event in result.played.journal) == 2


def test_a_short_silence_is_not_the_end() -> None:
    turns = [{"silence_s": 12, "agent_says": "still there"}, "support please"]
    assert play(agent(), caller={"turns": turns}, expect={"end": "support"}).has_passed


def test_hanging_up() -> None:
    turns = ["sales please", {"hang_up": True}]
    assert play(agent(), caller={"turns": turns}, expect={"end_reason": "caller_hung_up"}).has_passed


def test_the_longest_call() -> None:
    short = agent(configurations={"max_call_duration": 5})
    result = play(short, caller={"turns": ["sales please", "sales please"]}, expect={"end_reason": "max_duration"})
    assert result.has_passed, result.faults


def test_rules_answer_at_nodes_and_to_words() -> None:
    rules = [
        {"at": "start", "one_of": ["sales please", "i want to buy"]},
        {"when_agent_says": "which city", "say": "{{ city }}"},
    ]
    caller = {"facts": {"city": "Paris"}, "rules": rules}
    for seed in range(6):
        result = play(agent(), seed, caller=caller, expect={"edges": ["start-sales", "sales-bye"], "end": "bye"})
        assert result.has_passed, result.faults


def test_wrong_answers_come_first() -> None:
    manner = {"wrong_answers": 2, "wrong_sentences": ["purple elephants"]}
    result = play(agent(), caller={**SALES, "manner": manner}, expect={"end": "bye"})
    assert result.played is not None
    said = [turn.move.say for turn in result.played.turns if turn.move is not None]
    assert said.count("purple elephants") == 2
    assert result.has_passed, result.faults


def test_the_same_seed_gives_the_same_bytes() -> None:
    caller = {**SALES, "manner": {"hesitates": 0.5, "wrong_answers": 1}}
    scenarios = [
        scenario(name="a", caller=caller, expect={"end": "bye"}),
        scenario(caller=SALES, expect={"end": "bye"}),
    ]
    first, again, other = (run_suite(agent(), scenarios, BuiltinLlm, seed) for seed in (1, 1, 2))
    assert first.as_json() == again.as_json()
    assert len({run_suite(agent(), scenarios, BuiltinLlm, seed).hash for seed in range(8)}) > 1
    assert (first.results[1].hash, first.seed) == (other.results[1].hash, 1)
    # its place among the others changes nothing
    assert run_suite(agent(), scenarios[1:], BuiltinLlm, 1).results[0].hash == first.results[1].hash


def test_clocks_stand_still() -> None:
    friday = play(agent(), now="2026-01-09T10:00:00Z", caller=SALES, expect={"says": ["it is friday"]})
    assert friday.has_passed, friday.faults


def test_stopping_between_two() -> None:
    scenarios = [scenario(name=name, caller=SALES, expect={"end": "bye"}) for name in ("a", "b", "c")]
    result = run_suite(agent(), scenarios, BuiltinLlm, on_result=lambda done: done.name != "b")
    assert [found.name for found in result.results] == ["a", "b"]


TOOL_AGENT = {
    "nodes": [
        node("start", "startCall", greeting="Hello.", prompt="Help.", tool_uuids=["lookup-1"]),
        node("bye", "endCall", say="Bye."),
    ],
    "edges": [edge("start", "bye", "end", "bye")],
}


def _play_tool(mocks: Any, expect: dict[str, Any]) -> Any:
    llm = ScriptedLlm([calls("look_up", order="17"), says("It is on its way.")])
    of = scenario(caller={"turns": ["where is it"]}, tools=mocks, expect=expect)
    return run_scenario(agent(TOOL_AGENT, tools=[LOOKUP]), of, lambda: llm), llm


def test_a_tool_answers_as_the_scenario_says() -> None:
    mocks = {"Look up": [{"arguments": {"order": "99"}, "fails": "no"}, {"result": {"state": "sent"}, "takes_s": 1.5}]}
    result, llm = _play_tool(mocks, {"tools": [{"name": "look_up", "arguments": {"order": "17"}}]})
    assert result.faults == ()
    assert '{"state": "sent"}' in [message.content for message in llm.requests[-1].messages]


def test_other_arguments_than_expected() -> None:
    result, _ = _play_tool({"look_up": [{}]}, {"tools": [{"name": "look_up", "arguments": {"order": "18"}}]})
    assert codes(result) == ["arguments_differ"]


def test_a_tool_without_an_answer_is_a_fault() -> None:
    result, _ = _play_tool({}, {"is_over": False})
    assert codes(result) == ["tool_not_mocked"]


def test_a_tool_that_answers_too_late() -> None:
    result, llm = _play_tool({"look_up": [{"takes_s": 60, "result": 1}]}, {"is_over": False})
    assert result.has_passed
    assert any("No answer within" in message.content for message in llm.requests[-1].messages)


def test_a_definition_without_a_start_is_refused() -> None:
    with pytest.raises(AgentNotTestable, match="no start node"):
        agent({"nodes": DEFINITION["nodes"][1:], "edges": []})
