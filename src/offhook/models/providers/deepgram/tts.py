"""Deepgram's ``/v1/speak`` WebSocket: Speak and Flush, binary audio, Flushed; Clear and Cleared after a barge-in.

Written from the vendor's documentation. Audio names no sentence, so a cleared connection is unused until Cleared
arrives.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from offhook.models.speech.errors import parse_error_body
from offhook.models.speech.formats import WireFormat, short_language
from offhook.models.speech.tts import TtsDone, TtsFailed, TtsMessage, TtsStopped, TtsWire
from offhook.models.speech.vendor_socket import VendorAddress

BASE_URL: Final = "wss://api.deepgram.com"
# The vendor answers the 21st Flush within a minute with a warning and no audio.
MAX_FLUSHES_PER_MINUTE: Final = 18


class DeepgramTtsWire(TtsWire):
    """A vendor's model combines model, voice and language: ``aura-2-thalia-en``."""

    vendor = "deepgram"
    uses_per_minute = MAX_FLUSHES_PER_MINUTE
    needs_drain = True

    def connection_address(self, audio: WireFormat) -> VendorAddress:
        choice = self.choice
        is_whole = choice.voice_id.startswith("aura")
        options = {
            "model": choice.voice_id
            if is_whole
            else f"{choice.model}-{choice.voice_id}-{short_language(choice.language)}",
            "encoding": "mulaw" if audio.encoding == "mulaw" else "linear16",
            "sample_rate": str(audio.sample_rate),
        }
        url = (choice.base_url or BASE_URL).rstrip("/") + f"/v1/speak?{urlencode(options)}"
        return VendorAddress(url, {"Authorization": f"Token {choice.api_key}"})

    def speak_messages(self, text: str, context: str, audio: WireFormat) -> Sequence[str]:
        return json.dumps({"type": "Speak", "text": text}), json.dumps({"type": "Flush"})

    def cancel_messages(self, context: str) -> Sequence[str]:
        return (json.dumps({"type": "Clear"}),)

    def parse_message(self, message: Mapping[str, Any]) -> TtsMessage:
        kind = message["type"]
        if kind == "Flushed":
            return TtsDone()
        if kind == "Cleared":
            return TtsStopped()
        if kind in ("Error", "Warning"):
            word, text = parse_error_body(json.dumps(dict(message)))
            is_limit = "limit" in f"{word} {text}".lower() or "flush" in text.lower()
            name = "rate_limited" if is_limit else "bad_request" if kind == "Error" else None
            return None if name is None else TtsFailed(self.errors.make_error(name, text or word))
        return None
