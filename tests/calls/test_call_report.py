"""What `offhook call` prints."""

import json
from typing import Any

import pytest
from rich.console import Console

from offhook.commands.call.report import CallEvent, ReportedCall, as_json, live_line, print_report, turn_timings

ANSWER: dict[str, Any] = {
    "workflow_run_id": 7,
    "workflow_id": 1,
    "name": "WR-1",
    "mode": "sandbox",
    "status": "completed",
    "outcome": "answered",
    "end_reason": "agent_ended",
    "duration": 12.34,
    "phone_number": "+12015550101",
    "gathered_context": {"extracted_variables": {"day": "[Tuesday]"}},
    "latency": {"p50_ms": 900, "p95_ms": 1000, "turns": 1},
    "usage": {},
    "tags": [],
    "recording_url": None,
    "transcript": [
        {"role": "agent", "text": "Hello [red]there", "start_s": 0.1, "end_s": 1.0, "interrupted": True},
        {"role": "caller", "text": "Hi", "start_s": 2.0, "end_s": 2.5, "interrupted": False},
    ],
    "events": [
        {"type": "turn_timed", "at_ms": 1, "data": {"first_frame": 0.2}},
        {"type": "turn_timed", "at_ms": 9, "data": {"caller_stopped": 2.5, "turn_decided": 3.2, "first_frame": 3.4, "response_ms": 900}},
    ],
}  # fmt: skip
# As the command reads it: what is not shown is in it all the same.
RUN: ReportedCall = json.loads(json.dumps(ANSWER))


def test_the_report_shows_what_was_said_how_it_ended_and_how_long_answers_took() -> None:
    console = Console(width=120)
    with console.capture() as printed:
        print_report(console, RUN)
    text = printed.get()

    assert "Agent:  Hello [red]there …" in text
    assert "answered (completed, agent_ended), 12.3 s" in text
    assert "day: [Tuesday]" in text
    assert "p50 900, p95 1000" in text
    assert "700" in text


def test_only_turns_with_an_answer_count() -> None:
    (turn,) = turn_timings(RUN)

    assert (turn["turn_decided"], turn["first_frame"], turn["first_token"]) == (700, 900, None)
    assert as_json(RUN)["turns"] == [turn]


def test_times_that_are_stored_with_the_words_count_as_well() -> None:
    events: list[CallEvent] = [
        {"type": "agent_said", "at_ms": 900, "data": {"text": "Hello"}},
        {"type": "agent_said", "at_ms": 9000, "data": {"text": "Yes", "timing": RUN["events"][1]["data"]}},
    ]
    assert turn_timings({**RUN, "events": events}) == turn_timings(RUN)


@pytest.mark.parametrize(
    ("event", "line"),
    [
        ({"type": "agent_said", "at_ms": 1500, "data": {"text": "Hi {there}"}}, "   1.50  Agent:  Hi {there}"),
        ({"type": "edge_taken", "at_ms": 0, "data": {}}, "   0.00  → ?"),
        ({"type": "caller_partial", "at_ms": 0, "data": {"text": "x"}}, None),
        ({"type": "ended", "status": "completed"}, None),
    ],
)
def test_the_live_view(event: CallEvent, line: str | None) -> None:
    shown = live_line(event)

    assert (shown.plain if shown else None) == line
