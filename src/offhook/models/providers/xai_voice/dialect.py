"""Settings and errors of xAI's Voice Agent API, which speaks the events of OpenAI's with differences.

Written from the vendor's documentation (docs.x.ai, speech to speech and ``voice-realtime.ws.json``) as users' clients
quote it, and from what they report of it. Sources of single facts are beside them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from offhook.kit.json_values import JsonObject
from offhook.models.ports import ModelError, SpeechCapabilities, ToolSpec
from offhook.models.speech.errors import VendorErrors, is_about_limits, is_about_money
from offhook.models.speech.formats import MULAW_8000, WireFormat
from offhook.models.speech.realtime_events.dialect import EventDialect, audio_form, describe_tool, section_of

LATEST: Final = "grok-voice-latest"
_RATES: Final = (8000, 16000, 22050, 24000, 32000, 44100, 48000)
# The types of errors; the rest refuse one event and leave the session open.
_FATAL_TYPES: Final[Mapping[str, str]] = {"max_duration": "cut_off", "timeout": "cut_off"}


class XaiErrors(VendorErrors):
    """The vendor answers a wrong key with 400 (measured by users; without any key it is 401)."""

    def status_error(self, status: int, body: bytes | str, retry_after: str | None = None) -> ModelError:
        text = body.decode(errors="replace") if isinstance(body, bytes) else body
        is_key = status == 400 and "api key" in text.lower()
        return super().status_error(401 if is_key else status, body, retry_after)


class XaiVoiceDialect(EventDialect):
    base_url = "https://api.x.ai/v1"
    # Source: docs.x.ai/developers/models/speech-to-speech: 120 minutes (30 until the summer of 2026).
    capabilities = SpeechCapabilities(can_edit=True, max_session_s=7200.0, min_commit_s=0.1)
    assistant_content = "text"
    # Source: the documentation says that clients should handle both.
    aliases: ClassVar[Mapping[str, str]] = {
        "response.audio.delta": "response.output_audio.delta",
        "response.audio_transcript.delta": "response.output_audio_transcript.delta",
    }
    # Both are in the vendor's schema; no user reports that they always come.
    may_omit_metadata = True
    may_omit_event_ids = True
    # Source: livekit/agents#6729, responses that are talked over end with no output and no response.done.
    may_drop_responses = True
    # Source: clients of several users read calls there.
    may_omit_items = True
    is_metered = True
    idle_timeout_s = 0.6

    def make_errors(self, api_key: str) -> VendorErrors:
        return XaiErrors("realtime", api_key)

    def line_format(self, sample_rate: int) -> WireFormat:
        if sample_rate == MULAW_8000.sample_rate:
            return MULAW_8000
        return WireFormat("pcm", sample_rate if sample_rate in _RATES else 24000)

    def opening_session(self, wire: WireFormat, voice: str) -> JsonObject:
        form = audio_form(wire)
        return {
            "voice": voice,
            # without detection only audio is charged, and not the time of the connection
            "turn_detection": {"type": None},
            "audio": {"input": {"format": form}, "output": {"format": form}},
        }

    def step_session(self, instructions: str, tools: Sequence[ToolSpec]) -> JsonObject:
        return {"instructions": instructions, "tools": [describe_tool(tool) for tool in tools]}

    def other_model(self, asked: str, session: Mapping[str, Any]) -> str:
        # Measured by users: any name is accepted, and the newest model answers.
        model = str(session.get("model") or "")
        return "" if asked == LATEST or model.startswith(asked) else model

    def name_error(self, error: Mapping[str, Any]) -> str:
        kind, message = str(error.get("type")), str(error.get("message") or "")
        if kind in _FATAL_TYPES:
            return _FATAL_TYPES[kind]
        if is_about_money(message):
            return "no_quota"
        if is_about_limits(message):
            return "rate_limited"
        return "server_error" if kind == "internal_error" else "bad_request"

    def is_fatal(self, error: Mapping[str, Any]) -> bool:
        return self.name_error(error) in ("cut_off", "no_quota")

    def is_harmless(self, error: Mapping[str, Any]) -> bool:
        # The vendor does not name such errors.
        return False

    def is_busy(self, error: Mapping[str, Any]) -> bool:
        return "active response" in str(error.get("message"))

    def explain_response(self, errors: VendorErrors, response: Mapping[str, Any]) -> ModelError | None:
        """Measured by users: ``status_details`` may be the word "unimplemented", so that no reason is known."""
        error = section_of(section_of(response, "status_details"), "error")
        if response.get("status") == "failed":
            return self.convert_error(errors, error or {"type": "internal_error"})
        if response.get("status") == "incomplete":
            # There is no limit of tokens: what is incomplete was stopped by the vendor.
            return ModelError("realtime_content_filtered", "The vendor stopped the answer.", retryable=False)
        return None
