"""Events that all vendors of this protocol have in common: entries of a conversation, and reports of usage."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.models.ports import LlmMessage
from offhook.models.speech.realtime_events.dialect import section_of
from offhook.models.speech.speech_usage import SpeechUsage

_MAX_ITEM_CHARS: Final = 60_000


def items_of(message: LlmMessage, assistant_content: str) -> Iterator[JsonObject]:
    """Yields the entries that a message of the history becomes, without ids."""
    if message.role == "tool":
        yield {
            "type": "function_call_output",
            "call_id": message.tool_call_id or "",
            "output": message.content[:_MAX_ITEM_CHARS],
        }
        return
    if message.content:
        kind = assistant_content if message.role == "assistant" else "input_text"
        content: list[JsonValue] = [{"type": kind, "text": message.content[:_MAX_ITEM_CHARS]}]
        yield {"type": "message", "role": message.role, "content": content}
    for call in message.tool_calls:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        yield {"type": "function_call", "call_id": call.id, "name": call.name, "arguments": arguments}


def read_usage(response: Mapping[str, Any]) -> SpeechUsage | None:
    """Returns the usage of a finished response; None when the vendor reports none, or not by modality."""
    usage = response.get("usage")
    if not isinstance(usage, Mapping):
        return None
    inputs, outputs = (section_of(usage, f"{side}_token_details") for side in ("input", "output"))
    cached = section_of(inputs, "cached_tokens_details")
    used = {kind: _count(inputs, kind) for kind in ("text", "audio")}
    produced = {kind: _count(outputs, kind) for kind in ("text", "audio")}
    is_split = sum(used.values()) >= _total(usage, "input") and sum(produced.values()) >= _total(usage, "output")
    if not is_split or (not cached and inputs.get("cached_tokens")):
        return None
    return SpeechUsage(
        text_input_tokens=max(used["text"] - _count(cached, "text"), 0),
        text_cached_tokens=_count(cached, "text"),
        text_output_tokens=produced["text"],
        audio_input_tokens=max(used["audio"] - _count(cached, "audio"), 0),
        audio_cached_tokens=_count(cached, "audio"),
        audio_output_tokens=produced["audio"],
    )


def _count(values: Mapping[str, Any], kind: str) -> int:
    return int(values.get(f"{kind}_tokens") or 0)


def _total(usage: Mapping[str, Any], side: str) -> int:
    return int(usage.get(f"{side}_tokens") or 0)


def encode_event(kind: str, event_id: str, fields: Sequence[tuple[str, Any]] = ()) -> str:
    return json.dumps({"type": kind, "event_id": event_id, **dict(fields)}, ensure_ascii=False)
