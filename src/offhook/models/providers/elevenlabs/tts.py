"""ElevenLabs' multi-context WebSocket: one context per sentence, many sentences per connection.

Written from the vendor's documentation of ``/v1/text-to-speech/{voice_id}/multi-stream-input``. A flushed and closed
context still says everything and ends with ``isFinal``. It cannot be stopped, so after a barge-in the connection is
unused until the rest has come. A connection allows at most five live contexts; we never have more than one.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from offhook.models.speech.errors import is_about_money
from offhook.models.speech.formats import WireFormat, short_language
from offhook.models.speech.tts import TtsAudio, TtsDone, TtsFailed, TtsMessage, TtsWire
from offhook.models.speech.vendor_socket import VendorAddress

BASE_URL: Final = "wss://api.elevenlabs.io"
# only these models take a language; the others refuse it
_SPEAKS_BY_CODE: Final = frozenset({"eleven_flash_v2_5", "eleven_turbo_v2_5"})
_ERROR_NAMES: Final = {
    "invalid_api_key": "unauthorized",
    "missing_permissions": "forbidden",
    "quota_exceeded": "no_quota",
    "voice_not_found": "not_found",
    "voice_id_does_not_exist": "not_found",
    "model_not_found": "not_found",
    "too_many_concurrent_requests": "rate_limited",
    "max_active_conversations": "rate_limited",
    "rate_limit_exceeded": "rate_limited",
    "input_timeout_exceeded": "cut_off",
    "internal_server_error": "server_error",
}


class ElevenLabsWire(TtsWire):
    """ElevenLabs' messages: a context for each sentence."""

    vendor = "elevenlabs"
    idle_message = json.dumps({"text": ""})
    needs_drain = True

    def connection_address(self, audio: WireFormat) -> VendorAddress:
        choice = self.choice
        options = {
            "model_id": choice.model,
            "output_format": "ulaw_8000" if audio.encoding == "mulaw" else f"pcm_{audio.sample_rate}",
            # longer than we keep a connection idle
            "inactivity_timeout": "180",
            "auto_mode": "true",
        }
        if choice.model in _SPEAKS_BY_CODE:
            options["language_code"] = short_language(choice.language)
        path = f"/v1/text-to-speech/{quote(choice.voice_id, safe='')}/multi-stream-input?{urlencode(options)}"
        return VendorAddress((choice.base_url or BASE_URL).rstrip("/") + path, {"xi-api-key": choice.api_key})

    def speak_messages(self, text: str, context: str, audio: WireFormat) -> Sequence[str]:
        settings = {} if self.choice.speed == 1 else {"voice_settings": {"speed": self.choice.speed}}
        return (
            json.dumps({"text": " ", "context_id": context, **settings}),
            json.dumps({"text": f"{text} ", "context_id": context, "flush": True}),
            json.dumps({"context_id": context, "close_context": True}),
        )

    def cancel_messages(self, context: str) -> Sequence[str]:
        return ()

    def parse_message(self, message: Mapping[str, Any]) -> TtsMessage:
        context = message.get("contextId") or message.get("context_id")
        if message.get("error"):
            word, text = str(message["error"]), str(message.get("message") or message["error"])
            name = _ERROR_NAMES.get(word) or ("no_quota" if is_about_money(text) else "bad_request")
            return TtsFailed(self.errors.make_error(name, text), context)
        if message.get("isFinal") or message.get("is_final"):
            return TtsDone(context)
        audio = message.get("audio")
        return TtsAudio(base64.b64decode(audio, validate=True), context) if audio else None
