"""Messages of OpenAI's Realtime API (GA) and what its errors mean.

Written from the types of the vendor's SDK (``openai/types/realtime``); the names of the beta are not understood.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.models.ports import LlmMessage, ModelError, SpeechUsage, ToolSpec
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import WireFormat

_CODES: Final[Mapping[str, str]] = {
    "invalid_api_key": "unauthorized",
    "insufficient_quota": "no_quota",
    "rate_limit_exceeded": "rate_limited",
    "model_not_found": "not_found",
    "session_expired": "cut_off",
}
# What the vendor answers to a race that both sides have settled by then.
HARMLESS_CODES: Final = frozenset({"response_cancel_not_active", "item_delete_invalid_item_id"})
ACTIVE_RESPONSE: Final = "conversation_already_has_active_response"
_MAX_ITEM_CHARS: Final = 60_000


def opening_session(wire: WireFormat, voice: str) -> JsonObject:
    """Returns the settings of a whole session: the client decides when a turn is over, the vendor never does."""
    is_mulaw = wire.encoding == "mulaw"
    form: JsonObject = {"type": "audio/pcmu"} if is_mulaw else {"type": "audio/pcm", "rate": wire.sample_rate}
    return {
        "type": "realtime",
        "output_modalities": ["audio"],
        "audio": {
            "input": {"format": form, "turn_detection": None},
            "output": {"format": form, "voice": voice},
        },
    }


def describe_tool(tool: ToolSpec) -> JsonObject:
    return {"type": "function", "name": tool.name, "description": tool.description, "parameters": tool.parameters}


def items_of(message: LlmMessage) -> Iterator[JsonObject]:
    """Yields the entries that a message of the history becomes, without ids."""
    if message.role == "tool":
        yield {
            "type": "function_call_output",
            "call_id": message.tool_call_id or "",
            "output": message.content[:_MAX_ITEM_CHARS],
        }
        return
    if message.content:
        kind = "output_text" if message.role == "assistant" else "input_text"
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
    inputs, outputs = (_section(usage, f"{side}_token_details") for side in ("input", "output"))
    cached = _section(inputs, "cached_tokens_details")
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


def _section(values: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = values.get(name)
    return part if isinstance(part, Mapping) else {}


def _count(values: Mapping[str, Any], kind: str) -> int:
    return int(values.get(f"{kind}_tokens") or 0)


def _total(usage: Mapping[str, Any], side: str) -> int:
    return int(usage.get(f"{side}_tokens") or 0)


def convert_error(errors: VendorErrors, error: Mapping[str, Any]) -> ModelError:
    """Converts an ``error`` event, or the error of a failed response."""
    is_theirs = error.get("type") == "server_error"
    name = _CODES.get(str(error.get("code")), "server_error" if is_theirs else "bad_request")
    return errors.make_error(name, error.get("message") or error.get("code") or "no reason given")


def response_error(errors: VendorErrors, response: Mapping[str, Any]) -> ModelError | None:
    """Returns why a finished response is none; None for one that is complete or was canceled by us."""
    status = response.get("status")
    details = _section(response, "status_details")
    if status == "failed":
        return convert_error(errors, _section(details, "error"))
    if status == "incomplete" and details.get("reason") == "content_filter":
        return ModelError("realtime_content_filtered", "The vendor's filter cut the answer off.", retryable=False)
    return None


def encode_event(kind: str, event_id: str, fields: Sequence[tuple[str, Any]] = ()) -> str:
    return json.dumps({"type": kind, "event_id": event_id, **dict(fields)}, ensure_ascii=False)


def is_fatal(code: str) -> bool:
    """Returns whether an error ends the session, whatever it was an answer to."""
    return code in _CODES
