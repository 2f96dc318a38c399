"""Cartesia's TTS WebSocket: every message names its context, so a connection is free as soon as we stop listening.

Written from the vendor's documentation of ``/tts/websocket`` (version 2026-03-01; also reads older error events).
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.models.ports import ModelError
from offhook.models.speech.formats import WireFormat, short_language
from offhook.models.speech.tts import TtsAudio, TtsDone, TtsFailed, TtsMessage, TtsWire
from offhook.models.speech.vendor_socket import VendorAddress

BASE_URL: Final = "wss://api.cartesia.ai"
VERSION: Final = "2026-03-01"


class CartesiaWire(TtsWire):
    """Cartesia's messages. No idle message: the vendor closes after five idle minutes, we close after two."""

    vendor = "cartesia"

    def connection_address(self, audio: WireFormat) -> VendorAddress:
        url = (self.choice.base_url or BASE_URL).rstrip("/") + f"/tts/websocket?cartesia_version={VERSION}"
        return VendorAddress(url, {"X-API-Key": self.choice.api_key, "Cartesia-Version": VERSION})

    def speak_messages(self, text: str, context: str, audio: WireFormat) -> Sequence[str]:
        choice = self.choice
        body: dict[str, Any] = {
            "model_id": choice.model,
            "transcript": text,
            "voice": {"mode": "id", "id": choice.voice_id},
            "language": short_language(choice.language),
            "context_id": context,
            "output_format": {
                "container": "raw",
                "encoding": "pcm_mulaw" if audio.encoding == "mulaw" else "pcm_s16le",
                "sample_rate": audio.sample_rate,
            },
            "continue": False,
            # our sentences are complete: no need to wait for more
            "max_buffer_delay_ms": 0,
        }
        if choice.speed != 1:
            body["generation_config"] = {"speed": choice.speed}
        return (json.dumps(body),)

    def cancel_messages(self, context: str) -> Sequence[str]:
        return (json.dumps({"context_id": context, "cancel": True}),)

    def parse_message(self, message: Mapping[str, Any]) -> TtsMessage:
        kind, context = message["type"], message.get("context_id")
        if kind == "chunk":
            return TtsAudio(base64.b64decode(message["data"], validate=True), context)
        if kind == "done":
            return TtsDone(context)
        if kind == "error":
            return TtsFailed(self._error(message), context)
        return None

    def _error(self, message: Mapping[str, Any]) -> ModelError:
        status = int(message.get("status_code") or 500)
        if message.get("error_code") in ("voice_not_found", "model_not_found"):
            status = 404
        return self.errors.status_error(status, json.dumps(dict(message)))
