"""The steps and marks of a run, computed only from its events. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from offhook.kit.json_values import JsonObject
from offhook.voice.events import (
    AGENT_SAID,
    BARGED_IN,
    CALLER_NOT_UNDERSTOOD,
    FAILED_OVER,
    INTERRUPTION_JUDGED,
    MODEL_FAILED,
    NODE_ENTERED,
    TOOL_ANSWERED,
    TOOL_CALLED,
    TURN_TIMED,
    WATCHDOG_ACTED,
    find_timing,
)

# What a strip shows; other events are not read for it. Of ``agent_said`` only the times of an answer.
EVENT_TYPES: Final = (
    NODE_ENTERED,
    BARGED_IN,
    INTERRUPTION_JUDGED,
    CALLER_NOT_UNDERSTOOD,
    TOOL_CALLED,
    TOOL_ANSWERED,
    AGENT_SAID,
    TURN_TIMED,
    MODEL_FAILED,
    FAILED_OVER,
    WATCHDOG_ACTED,
)
# Kinds of marks.
BARGE_IN: Final = "barge_in"
TALKED_THROUGH: Final = "talked_through"
NOT_UNDERSTOOD: Final = "not_understood"
TOOL_CALL: Final = "tool_call"
SLOW_ANSWER: Final = "slow_answer"
FAILURE: Final = "failure"

# From here on a caller wonders whether anybody is there.
SLOW_ANSWER_MS: Final = 1500
# A decision that another one corrects within this time was about the same speech.
SAME_SPEECH_S: Final = 1.5
MAX_STEPS: Final = 200
MAX_MARKS: Final = 300


@dataclass(slots=True)
class Timeline:
    """``steps``: ``{node_id, name, kind, start_s, end_s}``; ``marks``: ``{kind, label, start_s, end_s}``; both in order,
    in seconds on the run's audio clock."""

    steps: list[JsonObject] = field(default_factory=list)
    marks: list[JsonObject] = field(default_factory=list)


def build_timeline(events: Iterable[tuple[str, int, JsonObject]], end_s: float) -> Timeline:
    """Builds the timeline from events ``(type, at_ms, data)`` in order. A step lasts until the next one, the last one
    until ``end_s``."""
    timeline = Timeline()
    calls: dict[str, JsonObject] = {}
    for kind, at_ms, data in events:
        at_s = at_ms / 1000
        if kind == NODE_ENTERED:
            _add_step(timeline, at_s, data)
        elif kind == TOOL_ANSWERED:
            call = calls.get(str(data.get("id")))
            if call is not None:
                call["end_s"] = round(at_s, 3)
                call["is_ok"] = data.get("ok") is not False
        else:
            mark = _mark_of(kind, at_s, data)
            if kind == BARGED_IN:
                _drop_undecided(timeline, at_s)
            if mark is not None and len(timeline.marks) < MAX_MARKS:
                timeline.marks.append(mark)
                if kind == TOOL_CALLED:
                    calls[str(data.get("id"))] = mark
    if timeline.steps:
        timeline.steps[-1]["end_s"] = round(max(end_s, _seconds(timeline.steps[-1]["start_s"], 0.0)), 3)
    timeline.marks.sort(key=lambda mark: _seconds(mark["start_s"], 0.0))
    return timeline


def _drop_undecided(timeline: Timeline, at_s: float) -> None:
    """Drops the mark of a sound that the agent talked through at first and then took for an interruption."""
    last = timeline.marks[-1] if timeline.marks else None
    if last is not None and last["kind"] == TALKED_THROUGH and at_s - _seconds(last["end_s"], 0.0) <= SAME_SPEECH_S:
        timeline.marks.pop()


def _add_step(timeline: Timeline, at_s: float, data: JsonObject) -> None:
    if len(timeline.steps) >= MAX_STEPS:
        return
    if timeline.steps:
        timeline.steps[-1]["end_s"] = round(at_s, 3)
    node_id = str(data.get("node_id") or "")
    name = str(data.get("name") or node_id)
    step: JsonObject = {"node_id": node_id, "name": name, "kind": str(data.get("kind") or "")}
    timeline.steps.append({**step, "start_s": round(at_s, 3), "end_s": round(at_s, 3)})


def _mark_of(kind: str, at_s: float, data: JsonObject) -> JsonObject | None:
    if kind == BARGED_IN:
        return _mark(BARGE_IN, "", at_s, at_s)
    if kind == INTERRUPTION_JUDGED:
        if data.get("decision") == "yielded":  # its barge-in has a mark of its own
            return None
        after_s = _seconds(data.get("after_ms"), 0.0) / 1000
        return _mark(TALKED_THROUGH, str(data.get("reason") or ""), at_s - after_s, at_s)
    if kind == CALLER_NOT_UNDERSTOOD:
        return _mark(NOT_UNDERSTOOD, "", _seconds(data.get("start_s"), at_s), _seconds(data.get("end_s"), at_s))
    if kind == TOOL_CALLED:
        return _mark(TOOL_CALL, str(data.get("name") or ""), at_s, at_s)
    if kind in (AGENT_SAID, TURN_TIMED):
        return _slow_answer(at_s, find_timing(kind, data) or {})
    label = str(data.get("message") or data.get("reason") or data.get("to") or "")
    return _mark(FAILURE, label, at_s, at_s)


def _slow_answer(at_s: float, timing: Mapping[str, object]) -> JsonObject | None:
    response_ms = _seconds(timing.get("response_ms"), 0.0)
    if response_ms < SLOW_ANSWER_MS:
        return None
    heard_s = _seconds(timing.get("first_frame"), at_s)
    return _mark(SLOW_ANSWER, "", _seconds(timing.get("caller_stopped"), heard_s - response_ms / 1000), heard_s)


def _mark(kind: str, label: str, start_s: float, end_s: float) -> JsonObject:
    return {"kind": kind, "label": label[:200], "start_s": round(max(0.0, start_s), 3), "end_s": round(end_s, 3)}


def _seconds(value: object, otherwise: float) -> float:
    return float(value) if isinstance(value, int | float) else otherwise
