"""Compares a replay with the call, or with the replay of another version: the first point at which they differ. Pure."""

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final

from offhook.runs.records.storable_json import to_storable_json
from offhook.voice import events
from offhook.voice.events import LIVE_ONLY
from offhook.voice.journal.replay import EVENT, Observation

# Events of the conversation itself. Others are added by the server: of carriers, webhooks, reviews.
CALL_EVENTS: Final = (
    frozenset(value for name, value in vars(events).items() if name.isupper() and isinstance(value, str)) - LIVE_ONLY
) | {events.TURN_TIMED}
MAX_SHOWN: Final = 300
NOTHING: Final = "nothing more"
NOT_THERE: Final = "not there"
_QUESTIONS: Final = {
    "asked_model": "what the model is asked",
    "asked_documents": "what the documents are asked",
    "spoke": "what the voice speaks",
}


@dataclass(frozen=True, slots=True)
class ReplayDifference:
    """``turn`` counts what the caller said, 0 before that. ``what`` is the type of the event, or a question to a model."""

    turn: int
    node_id: str
    node: str
    at_ms: int
    what: str
    expected: str
    came: str


def stored_observations(stored: Sequence[Mapping[str, Any]]) -> list[Observation]:
    """Returns the events of a call as they were stored, with their turn and node."""
    turn, node, found = 0, ("", ""), []
    for event in stored:
        kind, data = event["type"], event["data"]
        if kind not in CALL_EVENTS:
            continue
        if kind == events.NODE_ENTERED:
            node = (str(data["node_id"]), str(data["name"]))
        turn += kind == events.CALLER_SAID
        found.append(Observation(EVENT, event["at_ms"], {"type": kind, "data": data}, turn, *node))
    return found


def encode_observation(seen: Observation) -> str:
    """Returns an observation as canonical JSON, as events are stored: equal ones are equal byte for byte."""
    data = to_storable_json(seen.data)
    return json.dumps([seen.kind, seen.at_ms, data], sort_keys=True, ensure_ascii=False)


def hash_events(observations: Sequence[Observation]) -> str:
    """Returns the SHA-256 of all events of a call, with their times."""
    lines = (encode_observation(seen) for seen in _with_times_apart(observations) if seen.kind == EVENT)
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()


def find_difference(expected: Sequence[Observation], came: Sequence[Observation]) -> ReplayDifference | None:
    """Returns the first point at which two calls differ; None for the same call."""
    for before, after in zip_longest(_with_times_apart(expected), _with_times_apart(came)):
        if before is not None and after is not None and encode_observation(before) == encode_observation(after):
            continue
        place = after or before
        assert place is not None
        first, second = _describe_both(before, after)
        return ReplayDifference(place.turn, place.node_id, place.node, place.at_ms, _name(place), first, second)
    return None


def _with_times_apart(observations: Sequence[Observation]) -> list[Observation]:
    """Returns the observations with the times of each answer as a ``turn_timed`` of its own, at its first frame: earlier
    versions stored them so, this one with the words of the answer."""
    apart, times = [], {}
    for seen in observations:
        kind, data = (seen.data["type"], seen.data["data"]) if seen.kind == EVENT else ("", {})
        timing = events.find_timing(kind, data)
        if timing is None or "first_frame" not in timing:
            apart.append(seen)
            continue
        record = {name: value for name, value in timing.items() if name != "unheard"}
        at_ms = round(record["first_frame"] * 1000)
        times[at_ms] = replace(seen, at_ms=at_ms, data={"type": events.TURN_TIMED, "data": record})
        if kind == events.AGENT_SAID:
            rest = {name: value for name, value in data.items() if name != "timing"}
            apart.append(replace(seen, data={"type": kind, "data": rest}))
    for at_ms in sorted(times):
        later = (index for index, seen in enumerate(apart) if seen.at_ms > at_ms)
        apart.insert(next(later, len(apart)), times[at_ms])
    return apart


def _name(seen: Observation) -> str:
    return str(seen.data["type"]) if seen.kind == EVENT else _QUESTIONS[seen.kind]


def _describe_both(before: Observation | None, after: Observation | None) -> tuple[str, str]:
    if before is None or after is None or _name(before) != _name(after):
        return _describe(before), _describe(after)
    first, second = _lines(before.data), _lines(after.data)
    changes = list(difflib.ndiff(first, second)) if first != second else []
    removed = [line[2:] for line in changes if line.startswith("- ")]
    added = [line[2:] for line in changes if line.startswith("+ ")]
    if not changes:
        return f"at {before.at_ms / 1000:.3f} s", f"at {after.at_ms / 1000:.3f} s"
    return _shorten(removed) or NOT_THERE, _shorten(added) or NOT_THERE


def _describe(seen: Observation | None) -> str:
    if seen is None:
        return NOTHING
    return f"{_name(seen)} at {seen.at_ms / 1000:.3f} s: {_shorten(_lines(seen.data))}".removesuffix(": ")


def _lines(data: Any) -> list[str]:
    """Returns the values of JSON as lines, so that a changed sentence of a long prompt stands alone."""
    return list(_walk(data.get("data", data) if isinstance(data, Mapping) else data, ""))


def _walk(value: Any, path: str) -> Sequence[str]:
    if isinstance(value, Mapping):
        return [line for key in sorted(value) for line in _walk(value[key], f"{path}.{key}" if path else str(key))]
    if isinstance(value, list | tuple):
        return [line for index, item in enumerate(value) for line in _walk(item, f"{path}[{index}]")]
    if isinstance(value, str):
        return [f"{path}: {line}" if path else line for line in value.split("\n")]
    return [f"{path}: {json.dumps(value, default=str)}"]


def _shorten(lines: Sequence[str]) -> str:
    text = "; ".join(lines)
    return text if len(text) <= MAX_SHOWN else f"{text[:MAX_SHOWN]}…"
