"""Transcript, latency and progress, computed only from a run's event list. Pure."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.runs.finishing.do_not_call_event import DO_NOT_CALL_REQUESTED
from offhook.runs.finishing.human_request_detection import HUMAN_REQUESTED
from offhook.voice.events import (
    AGENT_SAID,
    CALLER_NOT_UNDERSTOOD,
    CALLER_SAID,
    NODE_ENTERED,
    USAGE_COUNTED,
    VARIABLES_EXTRACTED,
    find_timing,
)

# A text chat was rewound and continued: {turn_id, node_id, name, values, nodes_visited, lines, caller_lines}, the state
# from here on and how many transcript lines remain.
CHAT_REWOUND: Final = "chat_rewound"
# Stands for the words of a caller whom the recognizer did not understand.
NOT_UNDERSTOOD_TEXT: Final = "(not understood)"


@dataclass(frozen=True, slots=True)
class TranscriptLine:
    """An utterance of one side; times are seconds on the run's audio clock. Without ``understood`` it has no words."""

    role: str
    text: str
    start_s: float
    end_s: float
    interrupted: bool = False
    node_id: str | None = None
    understood: bool = True


def nearest_rank_percentile(values: Sequence[float], share: float) -> int | None:
    """Returns the nearest-rank percentile as a whole number; None for an empty list."""
    if not values:
        return None
    ordered = sorted(values)
    return round(ordered[max(0, math.ceil(share * len(ordered)) - 1)])


@dataclass(slots=True)
class RunTally:
    """Accumulates the events of one run, live or stored, and knows their totals at any time. An answer counts once,
    however often its times are reported. ``first_sound_s``: when the agent was first heard."""

    responses_ms: list[float] = field(default_factory=list)
    nodes_visited: list[str] = field(default_factory=list)
    extracted: JsonObject = field(default_factory=dict)
    usage: JsonObject = field(default_factory=dict)
    last_at_s: float = 0.0
    has_opted_out: bool = False
    has_asked_for_person: bool = False
    first_sound_s: float | None = None
    _first_frames: set[float] = field(default_factory=set, init=False, repr=False)

    def add_event(self, kind: str, at_s: float, data: Mapping[str, Any]) -> None:
        self.last_at_s = max(self.last_at_s, at_s)
        if (
            kind == AGENT_SAID
            and self.first_sound_s is None
            and isinstance(start_s := data.get("start_s"), int | float)
        ):
            self.first_sound_s = float(start_s)
        timing = find_timing(kind, data)
        if timing is not None:
            self._add_response(timing)
        elif kind == NODE_ENTERED:
            self.nodes_visited.append(str(data.get("name") or data.get("node_id")))
        elif kind == VARIABLES_EXTRACTED:
            values = data.get("values")
            if isinstance(values, Mapping):
                self.extracted.update(values)
        elif kind == CHAT_REWOUND:
            # without words where they cannot be decrypted
            self.extracted, self.nodes_visited = dict(data.get("values", {})), list(data.get("nodes_visited", []))
        elif kind == USAGE_COUNTED:
            self.usage = dict(data)
        elif kind == DO_NOT_CALL_REQUESTED:
            self.has_opted_out = True
        elif kind == HUMAN_REQUESTED:
            self.has_asked_for_person = True

    def has_timing(self, timing: Mapping[str, Any]) -> bool:
        """Returns whether the answer with these times was counted."""
        return timing.get("first_frame") in self._first_frames

    def _add_response(self, timing: Mapping[str, Any]) -> None:
        response, sent_s = timing.get("response_ms"), timing.get("first_frame")
        if not isinstance(response, int | float) or self.has_timing(timing):
            return
        self.responses_ms.append(response)
        if isinstance(sent_s, int | float):
            self._first_frames.add(sent_s)

    def latency_summary(self) -> JsonObject:
        """Returns ``{p50_ms, p95_ms, turns}``: from the caller's last word to the first frame of the answer."""
        return {
            "p50_ms": nearest_rank_percentile(self.responses_ms, 0.5),
            "p95_ms": nearest_rank_percentile(self.responses_ms, 0.95),
            "turns": len(self.responses_ms),
        }

    def gathered_context(self, extra: Mapping[str, Any] | None = None) -> JsonObject:
        """Returns extracted variables at the top level (for ``gathered.<name>`` filters) and the path through the
        graph."""
        values = {**self.extracted, **(extra or {})}
        return {**values, "extracted_variables": values, "nodes_visited": list(self.nodes_visited)}


def tally_events(events: Iterable[Mapping[str, Any]]) -> RunTally:
    """Tallies stored events ``{type, at_ms, data}`` in order."""
    tally = RunTally()
    for event in events:
        tally.add_event(event["type"], event["at_ms"] / 1000, event["data"])
    return tally


def build_transcript(events: Iterable[Mapping[str, Any]]) -> list[TranscriptLine]:
    """Returns both sides' utterances, ordered by time."""
    lines: list[TranscriptLine] = []
    for event in events:
        if event["type"] == CHAT_REWOUND:
            del lines[event["data"]["lines"] :]
        role = {CALLER_SAID: "caller", CALLER_NOT_UNDERSTOOD: "caller", AGENT_SAID: "agent"}.get(event["type"])
        data = event["data"]
        is_understood = event["type"] != CALLER_NOT_UNDERSTOOD
        text = str(data.get("text") or "").strip() if is_understood else NOT_UNDERSTOOD_TEXT
        if role is None or not text:
            continue
        end_s = _rounded_seconds(data.get("end_s"), event["at_ms"] / 1000)
        lines.append(
            TranscriptLine(
                role=role,
                text=text,
                start_s=_rounded_seconds(data.get("start_s"), end_s),
                end_s=end_s,
                interrupted=bool(data.get("interrupted")),
                node_id=data.get("node_id"),
                understood=is_understood,
            )
        )
    return sorted(lines, key=lambda line: line.start_s)


def format_transcript(lines: Iterable[TranscriptLine]) -> str:
    """Formats a transcript as plain text, one line per utterance: ``[00:12] Agent: How may I help?``."""
    rendered = []
    for line in lines:
        minutes, seconds = divmod(int(line.start_s), 60)
        cut = " …" if line.interrupted else ""
        rendered.append(f"[{minutes:02d}:{seconds:02d}] {line.role.capitalize()}: {line.text}{cut}\n")
    return "".join(rendered)


def summarize_progress(events: Sequence[Mapping[str, Any]]) -> JsonObject:
    """Returns the run's progress: ``{node, turns, last_at_ms, events}``."""
    node, turns = None, 0
    for event in events:
        if event["type"] in (NODE_ENTERED, CHAT_REWOUND):
            node = event["data"].get("name")
        if event["type"] == CALLER_SAID:
            turns += 1
        elif event["type"] == CHAT_REWOUND:
            turns = event["data"]["caller_lines"]
    return {
        "node": node,
        "turns": turns,
        "last_at_ms": max((event["at_ms"] for event in events), default=0),
        "events": len(events),
    }


def _rounded_seconds(value: Any, otherwise: float) -> float:
    return round(float(value), 3) if isinstance(value, int | float) else round(otherwise, 3)
