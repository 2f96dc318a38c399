"""Messages of the Gemini Live API (BidiGenerateContent) and what its errors mean.

Written from the types of the vendor's SDK (``google/genai/types.py``).
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.models.ports import ModelError, ToolCall, ToolSpec
from offhook.models.speech.errors import VendorErrors, is_about_money
from offhook.models.speech.formats import WireFormat
from offhook.models.speech.speech_usage import SpeechUsage

# The model only speaks after a user's turn.
SPEAK_NOTE: Final = "(It is your turn to speak.)"
_MAX_TEXT_CHARS: Final = 60_000
UNFINISHED_REASONS: Final = frozenset({"NEED_MORE_INPUT", "TURN_COMPLETE_REASON_UNSPECIFIED"})


def setup_message(model: str, voice: str) -> str:
    """Returns the first message: the client decides when a turn is over, the vendor never does."""
    setup: JsonObject = {
        "model": f"models/{model}",
        "generationConfig": {
            "responseModalities": ["AUDIO"],
            "speechConfig": {"voiceConfig": {"prebuiltVoiceConfig": {"voiceName": voice}}},
        },
        "outputAudioTranscription": {},
        "realtimeInputConfig": {
            "automaticActivityDetection": {"disabled": True},
            "activityHandling": "START_OF_ACTIVITY_INTERRUPTS",
            "turnCoverage": "TURN_INCLUDES_ONLY_ACTIVITY",
        },
        # the old session goes on while no other one can be opened
        "contextWindowCompression": {"slidingWindow": {}},
    }
    return json.dumps({"setup": setup})


def step_message(instructions: str, tools: Sequence[ToolSpec]) -> str:
    """Returns the update that replaces the instructions and all functions."""
    # a session that waits for results says nothing in between, so that one answer is one response
    described: list[JsonValue] = [
        {
            "name": tool.name,
            "description": tool.description,
            "parametersJsonSchema": tool.parameters,
            "behavior": "BLOCKING",
        }
        for tool in tools
    ]
    update: JsonObject = {
        "systemInstruction": {"role": "user", "parts": [{"text": instructions}]},
        "tools": {"tools": [{"functionDeclarations": described}] if described else []},
    }
    return json.dumps({"contextUpdate": update}, ensure_ascii=False)


def content_message(turns: Sequence[tuple[str, str]], *, is_complete: bool) -> str:
    """Returns turns as text by role (user, model); ``is_complete`` lets the model answer."""
    contents: list[JsonValue] = [{"role": role, "parts": [{"text": text[:_MAX_TEXT_CHARS]}]} for role, text in turns]
    content: JsonObject = {"turns": contents, "turnComplete": is_complete}
    return json.dumps({"clientContent": content}, ensure_ascii=False)


def activity_message(kind: str) -> str:
    """Returns ``activityStart``, which also stops what is generated, or ``activityEnd``."""
    return json.dumps({"realtimeInput": {kind: {}}})


def audio_message(audio: bytes, wire: WireFormat) -> str:
    text = base64.b64encode(audio).decode()
    return f'{{"realtimeInput":{{"audio":{{"mimeType":"audio/pcm;rate={wire.sample_rate}","data":"{text}"}}}}}}'


def results_message(results: Sequence[tuple[ToolCall, str]]) -> str:
    responses: list[JsonValue] = [
        {"id": call.id, "name": call.name, "response": {"output": text[:_MAX_TEXT_CHARS]}} for call, text in results
    ]
    return json.dumps({"toolResponse": {"functionResponses": responses}}, ensure_ascii=False)


def result_note(call: ToolCall | None, text: str) -> str:
    """Tells a session that did not make the call of its result."""
    arguments = json.dumps(call.arguments, ensure_ascii=False) if call is not None else ""
    name = f"{call.name}({arguments})" if call is not None else "a function"
    return f"(Result of {name}: {text})"


def read_usage(usage: Mapping[str, Any]) -> SpeechUsage | None:
    """Returns the usage of a report; None when it is not split by modality.

    Tokens that no modality covers (users see some dozens in a prompt) count as audio, the dearer one; thoughts are
    output of text.
    """
    inputs, outputs = (_by_modality(usage.get(f"{side}TokensDetails")) for side in ("prompt", "response"))
    cached, from_tools = (_by_modality(usage.get(f"{name}TokensDetails")) for name in ("cache", "toolUsePrompt"))
    prompt, response = _count(usage, "prompt"), _count(usage, "response")
    is_split = (inputs or not prompt) and (outputs or not response)
    if not is_split or (_count(usage, "cachedContent") and not cached):
        return None
    missing_input = max(prompt - sum(inputs.values()), 0)
    missing_output = max(response - sum(outputs.values()), 0)
    tool_text = _count(usage, "toolUsePrompt") - from_tools.get("AUDIO", 0)
    return SpeechUsage(
        text_input_tokens=max(inputs.get("TEXT", 0) - cached.get("TEXT", 0), 0) + max(tool_text, 0),
        text_cached_tokens=cached.get("TEXT", 0),
        text_output_tokens=outputs.get("TEXT", 0) + _count(usage, "thoughts"),
        audio_input_tokens=max(inputs.get("AUDIO", 0) + missing_input - cached.get("AUDIO", 0), 0),
        audio_cached_tokens=cached.get("AUDIO", 0),
        audio_output_tokens=outputs.get("AUDIO", 0) + missing_output,
    )


def _count(usage: Mapping[str, Any], name: str) -> int:
    return int(usage.get(f"{name}TokenCount") or 0)


def _by_modality(details: Any) -> dict[str, int]:
    return {str(part["modality"]): int(part.get("tokenCount") or 0) for part in details or ()}


def reason_error(errors: VendorErrors, reason: str) -> ModelError:
    """Converts the reason of a turn that ended without an answer."""
    if reason == "MALFORMED_FUNCTION_CALL":
        return errors.malformed_error("a function call that its model got wrong")
    if not reason or reason in UNFINISHED_REASONS:
        return errors.make_error("cut_off", f"The turn ended without an answer ({reason or 'no reason given'}).")
    return ModelError("realtime_content_filtered", f"The vendor gave no answer ({reason}).", retryable=False)


def closed_error(errors: VendorErrors, code: int, reason: str) -> ModelError:
    """Converts a closed connection; wrong keys, models and empty accounts are told by the words of the reason."""
    lower = reason.lower()
    name = ""
    if "api key" in lower or "unauthenticated" in lower:
        name = "unauthorized"
    elif "permission" in lower:
        name = "forbidden"
    elif "not found" in lower or "not supported for bidi" in lower:
        name = "not_found"
    elif is_about_money(lower):
        name = "no_quota"
    if not name:
        return errors.closed_error(code, reason)
    return errors.make_error(name, f"The vendor closed the connection ({code}): {reason}")
