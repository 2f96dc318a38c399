"""What of a call's words is stored: redacted, or none at all. Pure."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Final

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.kit.redaction.redactor import RedactedKind, Redactor
from offhook.runs.recording_files.silences import AGENT_CHANNEL, CALLER_CHANNEL, SilentPart
from offhook.runs.records.retention_queries import FACTS
from offhook.voice.events import AGENT_SAID, CALLER_SAID, RECORDING_PAUSED, VoiceEvent

# Redacted from the first pause of the recording on, whatever the organization chose.
PAUSED_KINDS: Final[tuple[RedactedKind, ...]] = ("card", "cvv")
_CHANNELS: Final = {CALLER_SAID: CALLER_CHANNEL, AGENT_SAID: AGENT_CHANNEL}


class WordFilter:
    """Of one call. ``silences`` are the parts of the recording in which something was redacted: whole turns, as the times
    of words are not known."""

    def __init__(self, redacted_kinds: Collection[RedactedKind] = (), *, keeps_words: bool = True) -> None:
        self._kinds = frozenset(redacted_kinds)
        self._redactor = Redactor(redacted_kinds) if redacted_kinds else None
        self.keeps_words = keeps_words
        self._was_paused = False
        self.silences: list[SilentPart] = []

    def filter_event(self, event: VoiceEvent) -> VoiceEvent:
        """Returns the event as it may be stored and shown."""
        if event.type == RECORDING_PAUSED:
            # a recording is paused for a card number, which must not stand in the transcript then
            self._redact_pauses()
        if event.type in FACTS:
            return event
        if not self.keeps_words:
            return replace(event, data={name: part for name, part in event.data.items() if _is_fact(name, part)})
        if self._redactor is None:
            return event
        data: dict[str, Any] = dict(event.data)
        text = data.pop("text", None)
        data = self._redactor.redact_value(data)
        if isinstance(text, str):
            data["text"] = self._redact_text(event, text)
        return replace(event, data=data)

    def _redact_pauses(self) -> None:
        self._was_paused = True
        self._redactor = Redactor({*self._kinds, *PAUSED_KINDS})

    def snapshot(self) -> JsonObject:
        """Returns what another process needs to go on with this call."""
        parts: list[JsonValue] = [[part.channel, part.start_s, part.end_s] for part in self.silences]
        return {"was_paused": self._was_paused, "silences": parts}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from the result of :meth:`snapshot`."""
        self.silences = [SilentPart(*part) for part in state["silences"]]
        if state["was_paused"]:
            self._redact_pauses()

    def filter_values(self, values: Mapping[str, Any]) -> JsonObject:
        """Returns the variables of a call as they may be stored."""
        if not self.keeps_words:
            return {name: part for name, part in values.items() if name == "nodes_visited"}
        return dict(values) if self._redactor is None else dict(self._redactor.redact_value(values))

    def _redact_text(self, event: VoiceEvent, text: str) -> str:
        assert self._redactor is not None
        channel = _CHANNELS.get(event.type)
        if channel is None:
            return str(self._redactor.redact_value(text))
        redacted, findings = self._redactor.redact_turn(text)
        if findings:
            start, end = event.data.get("start_s"), event.data.get("end_s")
            start_s = float(start) if isinstance(start, int | float) else 0.0
            end_s = float(end) if isinstance(end, int | float) else event.at_s
            self.silences.append(SilentPart(channel, start_s, end_s))
        return redacted


def _is_fact(name: str, part: object) -> bool:
    return name == "node_id" or isinstance(part, bool | float) or (isinstance(part, int) and name != "digits")
