"""Makes a scenario from a call: what the caller did, what tools answered, and where it led as what must hold. Pure."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.kit.redaction.redactor import RedactionRules, Redactor
from offhook.scenarios.definition import MAX_ENTRIES, MAX_TURNS, Scenario
from offhook.voice import events
from offhook.voice.input.interruption_rules import TURNED_AWAY

FROM_CALL_TAG: Final = "from-call"
MAX_WORDS: Final = 1000
MAX_KEYS: Final = 32
MAX_SILENCE_S: Final = 600.0
MAX_EDGE_ID: Final = 200
_KEYS: Final = frozenset("0123456789*#ABCD")
_EVENTS_WITH_WORDS: Final = frozenset(
    {events.CALLER_SAID, events.AGENT_SAID, events.DIGITS_PRESSED, events.TOOL_CALLED, events.TOOL_ANSWERED}
)
# They say which tool is meant, and which answer belongs to which call.
_NOT_REDACTED: Final = ("id", "name")


@dataclass(frozen=True, slots=True)
class PastCall:
    """A run that is over. ``gathered`` is its gathered context. ``real_tools`` work in scenarios as in calls, by function
    name; ``transfers`` are those that connect the caller. ``redaction``: what the scenario must not hold."""

    run_id: int
    began_at: datetime
    context: JsonObject
    gathered: JsonObject
    journal: Iterable[Mapping[str, Any]]
    real_tools: Collection[str] = ()
    transfers: Collection[str] = ()
    redaction: RedactionRules = field(default_factory=RedactionRules)


def build_call_scenario(call: PastCall) -> Scenario | None:
    """Returns the scenario of a run; None when its caller did nothing but hang up.

    Words of the agent are not expected: a model says them differently each time. The author adds those that matter.
    """
    if call.redaction.kinds:
        call = _redact_call(call)
    listed = list(call.journal)
    turns = list(_turns_of(listed))[:MAX_TURNS]
    if all("hang_up" in turn for turn in turns):
        return None
    called = [event["data"] for event in listed if event["type"] == events.TOOL_CALLED]
    variables = call.gathered.get("extracted_variables")
    edges = [str(event["data"]["edge_id"]) for event in listed if event["type"] == events.EDGE_TAKEN]
    tools = [{"name": each["name"], "arguments": each.get("arguments") or {}} for each in called]
    ended: Mapping[str, Any] = next(
        (event["data"] for event in reversed(listed) if event["type"] == events.CALL_ENDED), {}
    )
    raw: dict[str, Any] = {
        "name": f"call-{call.run_id}",
        "title": f"Call {call.run_id}",
        "tags": [FROM_CALL_TAG],
        "now": call.began_at,
        "context": call.context,
        "caller": {"turns": turns},
        "tools": _answers_of(call, called, listed),
        "expect": {
            "edges": edges if len(edges) <= MAX_ENTRIES and all(len(edge) <= MAX_EDGE_ID for edge in edges) else None,
            "variables": variables if isinstance(variables, dict) else {},
            "tools": tools if len(tools) <= MAX_ENTRIES else None,
            **({"outcome": ended["outcome"]} if ended.get("outcome") else {}),
        },
    }
    return Scenario.model_validate(raw)


def _redact_call(call: PastCall) -> PastCall:
    """Redacts calls from before redaction was on, and what it leaves alone: text chats, and the variables at the start."""
    redactor = Redactor(call.redaction.kinds, call.redaction.names)
    # first of all, so that the variables are known by what was said
    journal = [_redact_event(event, redactor) for event in call.journal]
    return replace(
        call,
        context=redactor.redact_value(call.context, is_about_caller=True),
        gathered=redactor.redact_value(call.gathered, is_about_caller=True),
        journal=journal,
    )


def _redact_event(event: Mapping[str, Any], redactor: Redactor) -> Mapping[str, Any]:
    if event["type"] not in _EVENTS_WITH_WORDS:
        return event
    data = dict(event["data"])
    kept = {name: data.pop(name) for name in _NOT_REDACTED if name in data}
    text = data.pop("text", None)
    own = data.pop("arguments", None)
    redacted = {**redactor.redact_value(data), **kept}
    if own is not None:
        redacted["arguments"] = redactor.redact_value(own, is_about_caller=True)
    if text is not None:
        # a turn: the question before it tells what a number is
        redacted["text"] = redactor.redact_text(str(text), is_caller=event["type"] == events.CALLER_SAID)
    return {**event, "data": redacted}


def _turns_of(journal: list[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields what the caller did. Sounds that the agent did not answer are left out."""
    silent_s, idle_s = 0.0, 0.0
    for event in _answered_turns(journal):
        kind, data = event["type"], event["data"]
        if kind == events.CALLER_SAID:
            if words := str(data.get("text") or "").strip()[:MAX_WORDS]:
                yield from _silence(silent_s)
                silent_s = 0.0
                yield {"say": words}
        elif kind == events.DIGITS_PRESSED:
            keys = "".join(key for key in str(data.get("digits") or "") if key in _KEYS)[:MAX_KEYS]
            if keys:
                yield from _silence(silent_s)
                silent_s = 0.0
                yield {"press": keys}
        elif kind == events.CALLER_IDLE:
            idle_s = float(data.get("idle_s") or 0.0)
            silent_s += idle_s
        elif kind == events.CALL_ENDED:
            # the call ends after one more time without a word
            yield from _silence(silent_s + idle_s if data.get("end_reason") == "idle" else silent_s)
            if data.get("end_reason") == "caller_hung_up":
                yield {"hang_up": True}


def _answered_turns(journal: list[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Yields the events without the turns that were ignored. Words that seemed to be for others, and were answered after all,
    are one turn where the agent took them."""
    ignored: list[str] = []
    for event in journal:
        kind, data = event["type"], event["data"]
        if kind == events.HELD_TURNS_ANSWERED:
            yield {"type": events.CALLER_SAID, "data": {"text": " ".join(ignored[-data["turns"] :])}}
        elif kind != events.CALLER_SAID or not data.get("ignored"):
            yield event
        elif data["ignored"] == TURNED_AWAY:
            ignored.append(str(data.get("text") or "").strip())


def _silence(seconds: float) -> Iterator[dict[str, Any]]:
    if seconds > 0:
        yield {"silence_s": min(seconds, MAX_SILENCE_S)}


def _answers_of(
    past: PastCall, called: Iterable[Mapping[str, Any]], journal: list[Mapping[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """Returns what each tool answered, by its name, once for each set of arguments."""
    answered = {event["data"].get("id"): event["data"] for event in journal if event["type"] == events.TOOL_ANSWERED}
    answers: dict[str, list[dict[str, Any]]] = {}
    for call in called:
        answer = answered.get(call.get("id"))
        if call["name"] in past.real_tools:
            continue
        if call["name"] in past.transfers:
            is_connected = answer is None or bool(answer.get("ok"))
            answers[str(call["name"])] = [{"transfer": "answered" if is_connected else "no_answer"}]
            continue
        mock: dict[str, Any] = {"arguments": call.get("arguments") or {}}
        if answer is None or not answer.get("ok"):
            mock["fails"] = str((answer or {}).get("error") or "There was no answer.")[:MAX_WORDS]
        else:
            mock["result"] = answer.get("result")
        known = answers.setdefault(str(call["name"]), [])
        if len(known) < MAX_ENTRIES and all(other["arguments"] != mock["arguments"] for other in known):
            known.append(mock)
    return answers
