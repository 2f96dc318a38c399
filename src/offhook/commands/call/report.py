"""A call in a terminal: the live conversation, then transcript, outcome and latency."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict

from rich.console import Console
from rich.table import Table
from rich.text import Text

from offhook.voice.events import find_timing

# One line of the live view for each kind of event; others are not shown.
_LIVE: Final[dict[str, tuple[str, str]]] = {
    "status_changed": ("dim", "{status}"),
    "node_entered": ("dim", "at {name}"),
    "edge_taken": ("dim", "→ {label}"),
    "agent_said": ("cyan", "Agent:  {text}"),
    "caller_said": ("green", "Caller: {text}"),
    "caller_not_understood": ("yellow", "Caller: (not understood)"),
    "digits_pressed": ("green", "Caller pressed {digits}"),
    "interruption_judged": ("yellow", "speech over the agent: {decision} ({reason})"),
    "barged_in": ("yellow", "the caller interrupted"),
    "tool_called": ("magenta", "tool {name} {arguments}"),
    "tool_answered": ("magenta", "tool {name} answered in {ms} ms"),
    "model_failed": ("red", "{kind} of {provider} failed: {message}"),
    "failed_over": ("yellow", "{kind} fails over to {to}"),
    "watchdog_acted": ("yellow", "watchdog: {step} ({reason})"),
    "held_turns_answered": ("dim", "answered late: it seemed to be said to someone else"),
    "caller_idle": ("dim", "the caller is silent"),
    "values_left_out": ("yellow", "extracted values are too long to store: {names}"),
    "voicemail_detected": ("yellow", "an answering machine ({by})"),
    "recording_paused": ("dim", "the recording is paused"),
    "recording_resumed": ("dim", "the recording goes on"),
    "recording_discarded": ("yellow", "the recording is deleted"),
    "disclosure_missed": ("yellow", "no recording: the disclosure was not heard in full ({reason})"),
    "call_ended": ("dim", "the call is over: {end_reason}"),
}
_STEPS: Final = ("turn_decided", "first_token", "first_sentence", "first_byte", "first_frame")


class CallEvent(TypedDict):
    """An event of a run; ``at_ms`` is its time on the audio clock."""

    type: str
    at_ms: int
    data: Mapping[str, Any]


class ReportedLine(TypedDict):
    role: str
    text: str
    start_s: float
    interrupted: bool


class ReportedCall(TypedDict):
    """A run as the API returns it; only the displayed fields."""

    workflow_run_id: int
    status: str
    outcome: str | None
    end_reason: str | None
    duration: float | None
    gathered_context: Mapping[str, Any]
    latency: Mapping[str, float | None]
    transcript: Sequence[ReportedLine]
    events: Sequence[CallEvent]


TurnTimings = dict[str, int | None]


class _MissingFields(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "?"


def live_line(event: CallEvent) -> Text | None:
    """Returns one event as a line with its time on the audio clock; None for events that are not shown."""
    style, template = _LIVE.get(event["type"], ("", ""))
    if not template:
        return None
    at = event.get("at_ms", 0) / 1000
    return Text.assemble((f"{at:7.2f}  ", "dim"), (template.format_map(_MissingFields(event.get("data") or {})), style))


def turn_timings(run: ReportedCall) -> list[TurnTimings]:
    """Returns the turns with a response, in ms after the caller stopped; None for a step that did not happen."""
    turns: list[TurnTimings] = []
    for event in run["events"]:
        stamps = find_timing(event["type"], event["data"])
        if stamps is None or stamps.get("caller_stopped") is None or stamps.get("first_frame") is None:
            continue
        stopped = stamps["caller_stopped"]
        steps = {step: round((stamps[step] - stopped) * 1000) if step in stamps else None for step in _STEPS}
        turns.append({**steps, "response_ms": stamps.get("response_ms")})
    return turns


def print_report(console: Console, run: ReportedCall) -> None:
    console.print()
    console.rule("Transcript")
    for line in run["transcript"]:
        who = "Agent" if line["role"] == "agent" else "Caller"
        cut = " …" if line["interrupted"] else ""
        console.print(Text(f"{line['start_s']:7.2f}  {who + ':':8}{line['text']}{cut}"))
    if not run["transcript"]:
        console.print(Text("No speech.", "dim"))
    console.rule("Outcome")
    duration = f"{run['duration']:.1f} s" if run["duration"] is not None else "-"
    console.print(Text(f"{run['outcome']} ({run['status']}, {run['end_reason'] or 'no reason'}), {duration}", "bold"))
    for name, value in (run["gathered_context"].get("extracted_variables") or {}).items():
        console.print(Text(f"  {name}: {value}"))
    turns = turn_timings(run)
    if turns:
        console.print(_latency_table(run, turns))


def _latency_table(run: ReportedCall, turns: Sequence[TurnTimings]) -> Table:
    latency = run["latency"]
    table = Table(title=f"Latency after the caller stopped, ms (p50 {latency['p50_ms']}, p95 {latency['p95_ms']})")
    table.add_column("turn", justify="right")
    for step in _STEPS:
        table.add_column(step.replace("_", " "), justify="right")
    for number, turn in enumerate(turns, 1):
        table.add_row(str(number), *("-" if turn[step] is None else str(turn[step]) for step in _STEPS))
    return table


def as_json(run: ReportedCall) -> dict[str, object]:
    """Returns the object that ``--json`` prints."""
    keys = ("workflow_run_id", "workflow_id", "name", "mode", "status", "outcome", "end_reason", "duration", "phone_number",
            "gathered_context", "latency", "usage", "tags", "transcript", "recording_url")  # fmt: skip
    fields: Mapping[str, object] = run
    return {**{key: fields[key] for key in keys}, "turns": turn_timings(run)}
