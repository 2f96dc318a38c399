"""What a call looks like in a terminal: the conversation as it goes, then transcript, outcome and latency."""

from typing import Any, Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

# One line of the live view for each kind of event; what is not here is not shown.
_LIVE: Final[dict[str, tuple[str, str]]] = {
    "status_changed": ("dim", "{status}"),
    "node_entered": ("dim", "at {name}"),
    "edge_taken": ("dim", "→ {label}"),
    "agent_said": ("cyan", "Agent:  {text}"),
    "caller_said": ("green", "Caller: {text}"),
    "digits_pressed": ("green", "Caller pressed {digits}"),
    "barged_in": ("yellow", "the caller interrupts"),
    "tool_called": ("magenta", "tool {name} {arguments}"),
    "tool_answered": ("magenta", "tool {name} answered in {ms} ms"),
    "model_failed": ("red", "{kind} of {provider} failed: {message}"),
    "failed_over": ("yellow", "{kind} goes on with {to}"),
    "watchdog_acted": ("yellow", "watchdog: {step} ({reason})"),
    "caller_idle": ("dim", "the caller is silent"),
    "voicemail_detected": ("yellow", "an answering machine ({by})"),
    "call_ended": ("dim", "the call is over: {end_reason}"),
}
_STEPS: Final = ("turn_decided", "first_token", "first_sentence", "first_byte", "first_frame")


class _MissingFields(dict[str, Any]):
    def __missing__(self, key: str) -> str:
        return "?"


def live_line(event: dict[str, Any]) -> Text | None:
    """One event as a line with its time on the audio clock; None for what is not worth one."""
    style, template = _LIVE.get(event["type"], ("", ""))
    if not template:
        return None
    at = event.get("at_ms", 0) / 1000
    return Text.assemble((f"{at:7.2f}  ", "dim"), (template.format_map(_MissingFields(event.get("data") or {})), style))


def turn_timings(run: dict[str, Any]) -> list[dict[str, Any]]:
    """The turns that have an answer, in ms after the caller stopped; None for a step that did not happen."""
    turns = []
    for event in run["events"]:
        stamps = event["data"]
        if event["type"] != "turn_timed" or stamps.get("caller_stopped") is None or stamps.get("first_frame") is None:
            continue
        stopped = stamps["caller_stopped"]
        steps = {step: round((stamps[step] - stopped) * 1000) if step in stamps else None for step in _STEPS}
        turns.append({**steps, "response_ms": stamps.get("response_ms")})
    return turns


def print_report(console: Console, run: dict[str, Any]) -> None:
    console.print()
    console.rule("Transcript")
    for line in run["transcript"]:
        who = "Agent" if line["role"] == "agent" else "Caller"
        cut = " …" if line["interrupted"] else ""
        console.print(Text(f"{line['start_s']:7.2f}  {who + ':':8}{line['text']}{cut}"))
    if not run["transcript"]:
        console.print(Text("nobody said anything", "dim"))
    console.rule("Outcome")
    duration = f"{run['duration']:.1f} s" if run["duration"] is not None else "-"
    console.print(
        Text(f"{run['outcome']} ({run['status']}, {run['end_reason'] or 'no reason given'}), {duration}", "bold")
    )
    for name, value in (run["gathered_context"].get("extracted_variables") or {}).items():
        console.print(Text(f"  {name}: {value}"))
    turns = turn_timings(run)
    if turns:
        console.print(_latency_table(run, turns))


def _latency_table(run: dict[str, Any], turns: list[dict[str, Any]]) -> Table:
    latency = run["latency"]
    table = Table(title=f"Latency after the caller stopped, ms (p50 {latency['p50_ms']}, p95 {latency['p95_ms']})")
    table.add_column("turn", justify="right")
    for step in _STEPS:
        table.add_column(step.replace("_", " "), justify="right")
    for number, turn in enumerate(turns, 1):
        table.add_row(str(number), *("-" if turn[step] is None else str(turn[step]) for step in _STEPS))
    return table


def as_json(run: dict[str, Any]) -> dict[str, Any]:
    """The one object of ``--json``."""
    keys = ("workflow_run_id", "workflow_id", "name", "mode", "status", "outcome", "end_reason", "duration", "phone_number",
            "gathered_context", "latency", "usage", "tags", "transcript", "recording_url")  # fmt: skip
    return {**{key: run[key] for key in keys}, "turns": turn_timings(run)}
