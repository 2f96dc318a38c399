"""Deepgram's ``/v1/listen`` WebSocket: interim results, finals with their place in the audio, its own endpointing.

Written from the vendor's documentation. ``is_final`` closes a stretch of audio, ``speech_final`` the caller's turn;
UtteranceEnd closes it when noise hid the pause. KeepAlive goes out while the far end sends no audio (the vendor closes
after 10 s).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from offhook.models.ports import SttEvent
from offhook.models.speech.errors import VendorErrors, parse_error_body
from offhook.models.speech.formats import WireFormat
from offhook.models.speech.stt import SttFailed, SttMessage, SttSession, SttTranscript, SttWire
from offhook.models.speech.vendor_socket import VendorAddress

BASE_URL: Final = "wss://api.deepgram.com"
ENDPOINTING_MS: Final = 300
UTTERANCE_END_MS: Final = 1000
# 1008 DATA-0000: undecodable audio; 1011 NET-0000, NET-0001: the vendor's fault or no audio in time
CLOSE_CODES: Final = {1011: "cut_off"}


class DeepgramSttWire(SttWire):
    """Deepgram's address of a recognition, which holds all its options."""

    vendor = "deepgram"
    chunk_s = 0.02
    idle_message = json.dumps({"type": "KeepAlive"})
    close_codes = CLOSE_CODES

    def connection_address(self, audio: WireFormat, language: str, terms: Sequence[str]) -> VendorAddress:
        options: list[tuple[str, str]] = [
            ("model", self.choice.model),
            ("language", language),
            ("encoding", "mulaw" if audio.encoding == "mulaw" else "linear16"),
            ("sample_rate", str(audio.sample_rate)),
            ("channels", "1"),
            ("interim_results", "true"),
            ("smart_format", "true"),
            ("endpointing", str(ENDPOINTING_MS)),
            ("utterance_end_ms", str(UTTERANCE_END_MS)),
        ]
        name = "keyterm" if self.choice.model.startswith("nova-3") else "keywords"
        options += [(name, term) for term in terms]
        url = (self.choice.base_url or BASE_URL).rstrip("/") + f"/v1/listen?{urlencode(options)}"
        return VendorAddress(url, {"Authorization": f"Token {self.choice.api_key}"})

    def create_session(self, audio: WireFormat, language: str, terms: Sequence[str]) -> "DeepgramSession":
        return DeepgramSession(self.errors)


class DeepgramSession(SttSession):
    """Key terms are part of the address: they change with the next connection."""

    def __init__(self, errors: VendorErrors) -> None:
        super().__init__(errors)
        self._owes_endpoint = False

    def closing_messages(self) -> Sequence[str]:
        return (json.dumps({"type": "CloseStream"}),)

    def parse_message(self, message: Mapping[str, Any]) -> Sequence[SttMessage]:
        kind = message["type"]
        if kind == "Results":
            return self._parse_results(message)
        if kind == "UtteranceEnd" and self._owes_endpoint:
            self._owes_endpoint = False
            return (SttTranscript(SttEvent("final", "", is_endpoint=True), end_s=0.0),)
        if kind == "Error":
            word, text = parse_error_body(json.dumps(dict(message)))
            return (SttFailed(self.errors.make_error("server_error", text or word)),)
        return ()

    def _parse_results(self, message: Mapping[str, Any]) -> Sequence[SttMessage]:
        best = message["channel"]["alternatives"][0]
        text, is_final = str(best["transcript"]), bool(message["is_final"])
        if not is_final:
            return (SttTranscript(SttEvent("partial", text)),) if text else ()
        is_endpoint = bool(message.get("speech_final"))
        self._owes_endpoint = (self._owes_endpoint or bool(text)) and not is_endpoint
        event = SttEvent("final", text, float(best.get("confidence") or 0.0), is_endpoint=is_endpoint)
        return (SttTranscript(event, end_s=float(message["start"]) + float(message["duration"])),)
