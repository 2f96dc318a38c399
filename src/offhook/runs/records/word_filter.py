"""What of a call's words is stored: redacted, or none at all. Pure."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.kit.redaction.redactor import RedactedKind, RedactionRules, Redactor
from offhook.runs.recording_files.silences import AGENT_CHANNEL, CALLER_CHANNEL, SilentPart
from offhook.runs.records.event_cipher import is_fact
from offhook.runs.records.retention_queries import FACTS
from offhook.voice.events import (
    AGENT_SAID,
    CALLER_PARTIAL,
    CALLER_SAID,
    RECORDING_PAUSED,
    TOOL_ANSWERED,
    TOOL_CALLED,
    VARIABLES_EXTRACTED,
    VoiceEvent,
)

# Redacted from the first pause of the recording on, whatever the organization chose.
PAUSED_KINDS: Final[tuple[RedactedKind, ...]] = ("card", "cvv")
# Where an event has what the caller said of themselves: there a "name" is a person's.
_ABOUT_CALLER: Final = {TOOL_CALLED: "arguments", VARIABLES_EXTRACTED: "values"}
# They say which tool is meant, and which answer belongs to which call, or are times.
_NOT_REDACTED: Final = {
    TOOL_CALLED: ("id", "name"),
    TOOL_ANSWERED: ("id", "name"),
    VARIABLES_EXTRACTED: ("node_id",),
    AGENT_SAID: ("timing",),
}
_CHANNELS: Final = {CALLER_SAID: CALLER_CHANNEL, AGENT_SAID: AGENT_CHANNEL}


class WordFilter:
    """Redacts the words of one call. ``silences`` are the parts of the recording in which something was redacted:
    whole turns, as the times
    of words are not known."""

    def __init__(self, rules: RedactionRules | None = None, *, keeps_words: bool = True) -> None:
        self._rules = rules or RedactionRules()
        self._redactor = Redactor(self._rules.kinds, self._rules.names) if self._rules.kinds else None
        self.keeps_words = keeps_words
        self._was_paused = False
        self.silences: list[SilentPart] = []

    @property
    def is_redacting(self) -> bool:
        """Returns whether anything of what is said is redacted."""
        return self._redactor is not None

    def filter_event(self, event: VoiceEvent) -> VoiceEvent:
        """Returns the event as it may be stored and shown."""
        if event.type == RECORDING_PAUSED:
            # a recording is paused for a card number, which must not stand in the transcript then
            self._redact_pauses()
        if event.type in FACTS:
            return event
        if not self.keeps_words:
            return replace(event, data={name: part for name, part in event.data.items() if is_fact(name, part)})
        if self._redactor is None:
            return event
        data: dict[str, Any] = dict(event.data)
        kept = {name: data.pop(name) for name in _NOT_REDACTED.get(event.type, ()) if name in data}
        text = data.pop("text", None)
        own = data.pop(_ABOUT_CALLER.get(event.type, ""), None)
        data = kept | self._redactor.redact_value(data)
        if own is not None:
            data[_ABOUT_CALLER[event.type]] = self._redactor.redact_value(own, is_about_caller=True)
        if isinstance(text, str):
            data["text"] = self._redact_text(event, text)
        return replace(event, data=data)

    def _redact_pauses(self) -> None:
        before = self._redactor
        self._was_paused = True
        self._redactor = Redactor({*self._rules.kinds, *PAUSED_KINDS}, self._rules.names)
        if before is not None:
            self._redactor.restore(before.snapshot())

    def snapshot(self) -> JsonObject:
        """Returns what another process needs to go on with this call."""
        parts: list[JsonValue] = [[part.channel, part.start_s, part.end_s] for part in self.silences]
        redactor = None if self._redactor is None else self._redactor.snapshot()
        return {"was_paused": self._was_paused, "silences": parts, "redactor": redactor}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from the result of :meth:`snapshot`."""
        self.silences = [SilentPart(*part) for part in state["silences"]]
        if state["was_paused"]:
            self._redact_pauses()
        # none in the state of a process from before
        if self._redactor is not None and (redactor := state.get("redactor")) is not None:
            self._redactor.restore(redactor)

    def filter_values(self, values: Mapping[str, Any]) -> JsonObject:
        """Returns the variables of a call as they may be stored."""
        if not self.keeps_words:
            return {name: part for name, part in values.items() if name == "nodes_visited"}
        if self._redactor is None:
            return dict(values)
        return dict(self._redactor.redact_value(values, is_about_caller=True))

    def _redact_text(self, event: VoiceEvent, text: str) -> str:
        assert self._redactor is not None
        if event.type == CALLER_PARTIAL:
            return self._redactor.redact_partial(text)
        channel = _CHANNELS.get(event.type)
        if channel is None:
            return str(self._redactor.redact_value(text))
        redacted, findings = self._redactor.redact_turn(text, is_caller=event.type == CALLER_SAID)
        if findings:
            start, end = event.data.get("start_s"), event.data.get("end_s")
            start_s = float(start) if isinstance(start, int | float) else 0.0
            end_s = float(end) if isinstance(end, int | float) else event.at_s
            self.silences.append(SilentPart(channel, start_s, end_s))
        return redacted
