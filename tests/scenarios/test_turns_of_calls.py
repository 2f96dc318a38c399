"""Which of the caller's utterances in a journal are turns of the scenario that is made from it."""

from datetime import UTC, datetime
from typing import Any

from offhook.scenarios.stored.from_runs import PastCall, build_call_scenario


def test_words_that_were_held_and_answered_are_turns() -> None:
    """Two utterances that the agent took as one, and one that it never took."""
    away = {"ignored": "turned_away"}
    journal: list[dict[str, Any]] = [
        {"type": "caller_said", "data": {"text": "it was fine"}},
        {"type": "caller_said", "data": {"text": "where are the keys", **away}},
        {"type": "caller_said", "data": {"text": "sorry, I liked it"}},
        {"type": "caller_said", "data": {"text": "the", **away}},
        {"type": "caller_said", "data": {"text": "um", "ignored": "filler"}},
        {"type": "caller_said", "data": {"text": "the food", **away}},
        {"type": "held_turns_answered", "data": {"turns": 2}},
        {"type": "edge_taken", "data": {"edge_id": "liked-food"}},
        {"type": "call_ended", "data": {"end_reason": "agent_ended", "outcome": "answered"}},
    ]
    made = build_call_scenario(PastCall(1, datetime(2026, 11, 2, tzinfo=UTC), {}, {}, journal))
    assert made is not None
    assert [turn.say for turn in made.caller.turns] == ["it was fine", "sorry, I liked it", "the the food"]
    assert made.expect.edges == ("liked-food",)
