"""Settings and errors of OpenAI's Realtime API (GA).

Written from the types of the vendor's SDK (``openai/types/realtime``); the names of the beta are not understood.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import ModelError, SpeechCapabilities, ToolSpec
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import MULAW_8000, WireFormat
from offhook.models.speech.realtime_events.dialect import EventDialect, audio_form, describe_tool, section_of

_CODES: Final[Mapping[str, str]] = {
    "invalid_api_key": "unauthorized",
    "insufficient_quota": "no_quota",
    "rate_limit_exceeded": "rate_limited",
    "model_not_found": "not_found",
    "session_expired": "cut_off",
}
_HARMLESS_CODES: Final = frozenset({"response_cancel_not_active", "item_delete_invalid_item_id"})
_ACTIVE_RESPONSE: Final = "conversation_already_has_active_response"


class OpenAiRealtimeDialect(EventDialect):
    base_url = "https://api.openai.com/v1"
    # Source: the vendor ends sessions after 60 minutes without a warning. A commit needs 100 ms of audio.
    capabilities = SpeechCapabilities(can_edit=True, max_session_s=3600.0, min_commit_s=0.1)

    def make_errors(self, api_key: str) -> VendorErrors:
        return VendorErrors("realtime", api_key, close_codes={3000: "unauthorized"})

    def line_format(self, sample_rate: int) -> WireFormat:
        return MULAW_8000 if sample_rate == MULAW_8000.sample_rate else WireFormat("pcm", 24000)

    def opening_session(self, wire: WireFormat, voice: str) -> JsonObject:
        form = audio_form(wire)
        return {
            "type": "realtime",
            "output_modalities": ["audio"],
            "audio": {
                "input": {"format": form, "turn_detection": None},
                "output": {"format": form, "voice": voice},
            },
        }

    def step_session(self, instructions: str, tools: Sequence[ToolSpec]) -> JsonObject:
        described = [describe_tool(tool) for tool in tools]
        return {"type": "realtime", "instructions": instructions, "tools": [*described], "tool_choice": "auto"}

    def name_error(self, error: Mapping[str, Any]) -> str:
        is_theirs = error.get("type") == "server_error"
        return _CODES.get(str(error.get("code")), "server_error" if is_theirs else "bad_request")

    def is_fatal(self, error: Mapping[str, Any]) -> bool:
        return str(error.get("code")) in _CODES

    def is_harmless(self, error: Mapping[str, Any]) -> bool:
        return str(error.get("code")) in _HARMLESS_CODES

    def is_busy(self, error: Mapping[str, Any]) -> bool:
        return str(error.get("code")) == _ACTIVE_RESPONSE

    def explain_response(self, errors: VendorErrors, response: Mapping[str, Any]) -> ModelError | None:
        status = response.get("status")
        details = section_of(response, "status_details")
        if status == "failed":
            return self.convert_error(errors, section_of(details, "error"))
        if status == "incomplete" and details.get("reason") == "content_filter":
            return ModelError("realtime_content_filtered", "The vendor's filter cut the answer off.", retryable=False)
        return None
