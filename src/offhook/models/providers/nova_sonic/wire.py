"""Events of Amazon Nova Sonic (Bedrock, InvokeModelWithBidirectionalStream) and what its errors mean.

Written from the vendor's user guide of Nova 2 Sonic and from the clients of pipecat and LiveKit.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.json_values import JsonObject, JsonValue, parse_json
from offhook.models.ports import ModelError, ToolCall, ToolSpec
from offhook.models.providers.nova_sonic.event_stream import EventMessage, encode_message
from offhook.models.speech.errors import VendorErrors, is_about_limits, is_about_money
from offhook.models.speech.formats import SessionFormats, WireFormat
from offhook.models.speech.speech_usage import SpeechUsage

EVENT_STREAM: Final = "application/vnd.amazon.eventstream"
# The model only speaks after a user's turn.
SPEAK_NOTE: Final = "(It is your turn to speak.)"
# Source: pipecat's session_continuation.py, for the conversation that a session begins with.
MAX_HISTORY_BYTES: Final = 200_000
MAX_TEXT_BYTES: Final = 50_000
# Source: the user guide, the quickest of three; it waits this long (1.5 s) for more.
ENDPOINTING: Final = "HIGH"
_ERRORS: Final[Mapping[str, str]] = {
    "unrecognizedclient": "unauthorized",
    "invalidsignature": "unauthorized",
    "invalidclienttokenid": "unauthorized",
    "incompletesignature": "unauthorized",
    "missingauthenticationtoken": "unauthorized",
    "expiredtoken": "unauthorized",
    "accessdenied": "forbidden",
    "resourcenotfound": "not_found",
    "throttling": "rate_limited",
    "servicequotaexceeded": "rate_limited",
    "toomanyrequests": "rate_limited",
    "validation": "bad_request",
    "modeltimeout": "cut_off",
    "modelnotready": "server_error",
    "modelstreamerror": "server_error",
    "modelerror": "server_error",
    "internalserver": "server_error",
    "internalfailure": "server_error",
    "serviceunavailable": "server_error",
}


@dataclass(frozen=True, slots=True)
class PromptNames:
    """The names that a session gives to its only prompt and to the caller's audio in it."""

    prompt: str
    audio: str


def encode_event(name: str, value: Mapping[str, Any]) -> bytes:
    """Returns the message of an event, not signed yet."""
    text = json.dumps({"event": {name: value}}, ensure_ascii=False)
    body = f'{{"bytes":"{base64.b64encode(text.encode()).decode()}"}}'
    headers = {":event-type": "chunk", ":content-type": "application/json", ":message-type": "event"}
    return encode_message(headers, body.encode())


def session_start() -> JsonObject:
    return {
        "inferenceConfiguration": {"maxTokens": 1024, "topP": 0.9, "temperature": 0.7},
        "turnDetectionConfiguration": {"endpointingSensitivity": ENDPOINTING},
    }


def prompt_start(names: PromptNames, spoken: WireFormat, voice: str, tools: Sequence[ToolSpec]) -> JsonObject:
    """Returns how the model answers, and its functions: both are fixed for the session."""
    prompt: JsonObject = {
        "promptName": names.prompt,
        "textOutputConfiguration": {"mediaType": "text/plain"},
        "audioOutputConfiguration": {**_audio_form(spoken), "voiceId": voice},
    }
    if tools:
        described: list[JsonValue] = [
            {
                "toolSpec": {
                    "name": tool.name,
                    "description": tool.description,
                    "inputSchema": {"json": json.dumps(tool.parameters, ensure_ascii=False)},
                }
            }
            for tool in tools
        ]
        prompt["toolUseOutputConfiguration"] = {"mediaType": "application/json"}
        prompt["toolConfiguration"] = {"tools": described}
    return prompt


def _audio_form(wire: WireFormat) -> JsonObject:
    return {
        "mediaType": "audio/lpcm",
        "sampleRateHertz": wire.sample_rate,
        "sampleSizeBits": 16,
        "channelCount": 1,
        "audioType": "SPEECH",
        "encoding": "base64",
    }


def audio_start(names: PromptNames, formats: SessionFormats) -> JsonObject:
    return {
        "promptName": names.prompt,
        "contentName": names.audio,
        "type": "AUDIO",
        "interactive": True,
        "role": "USER",
        "audioInputConfiguration": _audio_form(formats.heard),
    }


def text_events(names: PromptNames, content: str, role: str, text: str, *, is_turn: bool) -> list[bytes]:
    """Returns a text in its three events; ``is_turn``: the model answers it."""
    ids: JsonObject = {"promptName": names.prompt, "contentName": content}
    start = {
        **ids,
        "type": "TEXT",
        "interactive": is_turn,
        "role": role,
        "textInputConfiguration": {"mediaType": "text/plain"},
    }
    body = {**ids, "content": fit_text(text)}
    return [encode_event("contentStart", start), encode_event("textInput", body), encode_event("contentEnd", ids)]


def result_events(names: PromptNames, content: str, call: ToolCall, text: str) -> list[bytes]:
    ids: JsonObject = {"promptName": names.prompt, "contentName": content}
    start: JsonObject = {
        **ids,
        "type": "TOOL",
        "interactive": False,
        "role": "TOOL",
        "toolResultInputConfiguration": {
            "toolUseId": call.id,
            "type": "TEXT",
            "textInputConfiguration": {"mediaType": "text/plain"},
        },
    }
    body = {**ids, "content": fit_text(_as_json(text))}
    return [encode_event("contentStart", start), encode_event("toolResult", body), encode_event("contentEnd", ids)]


def _as_json(text: str) -> str:
    """Returns a result as JSON, which the model expects: a plain text becomes an object."""
    try:
        parse_json(text)
    except ValueError:
        return json.dumps({"result": text}, ensure_ascii=False)
    return text


def fit_text(text: str) -> str:
    raw = text.encode()
    return text if len(raw) <= MAX_TEXT_BYTES else raw[:MAX_TEXT_BYTES].decode(errors="ignore")


def fit_history(texts: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Returns the newest texts by role that a session may begin with. It begins with a user's."""
    kept: list[tuple[str, str]] = []
    left = MAX_HISTORY_BYTES - len(SPEAK_NOTE)
    for role, text in reversed(texts):
        left -= len(fit_text(text).encode())
        if left < 0:
            break
        kept.append((role, text))
    kept.reverse()
    return [("USER", SPEAK_NOTE), *kept] if kept and kept[0][0] != "USER" else kept


def result_note(call: ToolCall | None, text: str) -> str:
    """Tells a session that did not make the call of its result."""
    arguments = json.dumps(call.arguments, ensure_ascii=False) if call is not None else ""
    name = f"{call.name}({arguments})" if call is not None else "a function"
    return f"(Result of {name}: {text})"


def read_event(message: EventMessage) -> tuple[str, Mapping[str, Any]]:
    """Returns an event's name and its value. Raises ValueError, KeyError, TypeError or AttributeError."""
    chunk = parse_json(message.payload)
    event = parse_json(base64.b64decode(chunk["bytes"], validate=True))["event"]
    ((name, value),) = event.items()
    if not isinstance(value, dict):
        raise TypeError("an event without a value")
    return name, value


def read_totals(usage: Mapping[str, Any]) -> dict[str, int] | None:
    """Returns all tokens of the session so far by modality; None when the report does not tell."""
    total = (usage.get("details") or {}).get("total")
    if not isinstance(total, dict):
        return None
    found: dict[str, int] = {}
    for side in ("input", "output"):
        part = total.get(side) or {}
        for ours, theirs in (("audio", "speechTokens"), ("text", "textTokens")):
            found[f"{ours}_{side}_tokens"] = int(part.get(theirs) or 0)
    return found


def usage_since(before: Mapping[str, int], now: Mapping[str, int]) -> SpeechUsage:
    """Returns what a session has used between two reports. It belongs to no response of its own."""
    used = {name: max(count - before.get(name, 0), 0) for name, count in now.items()}
    return SpeechUsage(
        text_input_tokens=used["text_input_tokens"],
        text_output_tokens=used["text_output_tokens"],
        audio_input_tokens=used["audio_input_tokens"],
        audio_output_tokens=used["audio_output_tokens"],
        responses=0,
    )


def response_error(errors: VendorErrors, status: int, headers: Mapping[str, str], body: bytes) -> ModelError:
    """Converts an answer that is no stream; the kind of error is in a header."""
    kind = headers.get("x-amzn-errortype", "").partition(":")[0]
    known = _named_error(errors, kind, body.decode(errors="replace")) if kind else None
    return known or errors.status_error(status, body, headers.get("retry-after"))


def exception_error(errors: VendorErrors, message: EventMessage) -> ModelError:
    """Converts an exception in the stream."""
    headers = message.headers
    kind = str(headers.get(":exception-type") or headers.get(":error-code") or "error")
    text = message.payload.decode(errors="replace") or str(headers.get(":error-message") or "")
    return _named_error(errors, kind, text) or errors.make_error("server_error", f"{kind}: {text}")


def _named_error(errors: VendorErrors, kind: str, text: str) -> ModelError | None:
    try:
        found = parse_json(text)
        text = str(found.get("message") or found.get("Message") or text) if isinstance(found, dict) else text
    except ValueError:
        pass
    name = _ERRORS.get(kind.lower().removesuffix("exception"))
    lower = text.lower()
    if name is None:
        return None
    if "content filter" in lower or "responsible ai" in lower:
        return ModelError("realtime_content_filtered", "The vendor's filter cut the answer off.", retryable=False)
    if name in ("forbidden", "rate_limited", "bad_request") and is_about_money(lower) and "service quota" not in lower:
        name = "no_quota"
    elif name == "bad_request" and "model identifier" in lower:
        name = "not_found"
    elif name == "bad_request" and ("timed out" in lower or "session" in lower):
        # a session that was idle, or is too old, is no fault of what was sent
        name = "cut_off"
    elif name == "bad_request" and is_about_limits(lower):
        name = "rate_limited"
    return errors.make_error(name, f"{kind}: {text}")
