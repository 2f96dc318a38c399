"""The transcript of a run: every utterance of the caller, with those that the recognizer did not understand."""

from offhook.runs.records.projections import build_transcript, format_transcript
from offhook.voice.events import AGENT_SAID, CALLER_NOT_UNDERSTOOD, CALLER_SAID

EVENTS = [
    {"type": AGENT_SAID, "at_ms": 2000, "data": {"text": "Hello?", "start_s": 0.5, "end_s": 2.0}},
    {"type": CALLER_NOT_UNDERSTOOD, "at_ms": 6000, "data": {"start_s": 3.2, "end_s": 4.4}},
    {"type": CALLER_SAID, "at_ms": 9000, "data": {"text": "A table", "start_s": 8.0, "end_s": 8.6}},
]


def test_has_what_was_not_understood_at_its_time() -> None:
    lines = build_transcript(EVENTS)

    assert [(line.role, line.understood, line.start_s, line.end_s) for line in lines] == [
        ("agent", True, 0.5, 2.0),
        ("caller", False, 3.2, 4.4),
        ("caller", True, 8.0, 8.6),
    ]
    assert format_transcript(lines).splitlines()[1] == "[00:03] Caller: (not understood)"
