"""Rime's ``/ws3`` WebSocket in JSON: text, then ``flush``; audio carries the sentence's context until ``done``.

Written from the vendor's documentation. With ``segment=never`` nothing is said before the flush. A connection says one
thing at a time and ``clear`` is not confirmed, but every chunk names its context: late chunks of a canceled sentence
are dropped.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from offhook.models.speech.errors import is_about_limits, is_about_money
from offhook.models.speech.formats import WireFormat, short_language
from offhook.models.speech.tts import TtsAudio, TtsDone, TtsFailed, TtsMessage, TtsWire
from offhook.models.speech.vendor_socket import VendorAddress

BASE_URL: Final = "wss://users-ws.rime.ai"
_LANGUAGES: Final = {"en": "eng", "es": "spa", "fr": "fra", "de": "ger", "hi": "hin", "pt": "por", "ja": "jpn"}


class RimeWire(TtsWire):
    """Rime's messages: a context for each sentence."""

    vendor = "rime"

    def connection_address(self, audio: WireFormat) -> VendorAddress:
        choice = self.choice
        short = short_language(choice.language)
        options = {
            "speaker": choice.voice_id,
            "modelId": choice.model,
            "audioFormat": audio.encoding,
            "samplingRate": str(audio.sample_rate),
            "lang": _LANGUAGES.get(short, short),
            "segment": "never",
        }
        if choice.speed != 1:
            # both are lengths, not speeds: 2 is half as fast
            name = "speedAlpha" if choice.model.startswith("mist") else "timeScaleFactor"
            options[name] = f"{1 / choice.speed:.3f}"
        url = (choice.base_url or BASE_URL).rstrip("/") + f"/ws3?{urlencode(options)}"
        return VendorAddress(url, {"Authorization": f"Bearer {choice.api_key}"})

    def speak_messages(self, text: str, context: str, audio: WireFormat) -> Sequence[str]:
        return json.dumps({"text": f"{text} ", "contextId": context}), json.dumps({"operation": "flush"})

    def cancel_messages(self, context: str) -> Sequence[str]:
        return (json.dumps({"operation": "clear"}),)

    def parse_message(self, message: Mapping[str, Any]) -> TtsMessage:
        kind, context = message["type"], message.get("contextId")
        if kind == "chunk":
            return TtsAudio(base64.b64decode(message["data"], validate=True), context)
        if kind == "done":
            return TtsDone(context)
        if kind == "error":
            text = str(message.get("message") or "no reason given")
            return TtsFailed(self.errors.make_error(_error_name(text), text), context)
        return None


def _error_name(text: str) -> str:
    """Maps the vendor's socket errors, which are only sentences."""
    lower = text.lower()
    if is_about_money(lower):
        return "no_quota"
    if is_about_limits(lower):
        return "rate_limited"
    if "internal" in lower or "unavailable" in lower:
        return "server_error"
    return "bad_request"
