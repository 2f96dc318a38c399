"""Deepgram's ``/v1/listen`` WebSocket: interim results, finals with their place in the audio, its own endpointing.

Written from the vendor's reference. ``is_final`` closes a stretch of audio, ``speech_final`` the caller's turn; UtteranceEnd
says so when noise hid the pause. KeepAlive goes out while the far end sends no audio (the vendor closes after 10 s).
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from offhook.models.ports import ModelRef, SttEvent
from offhook.models.speech.errors import VendorErrors, told
from offhook.models.speech.formats import WireFormat, line_format
from offhook.models.speech.stt import Failed, Heard, SttNews
from offhook.models.speech.vendor_socket import Address
from offhook.models.vendors import Choice

BASE_URL: Final = "wss://api.deepgram.com"
ENDPOINTING_MS: Final = 300
UTTERANCE_END_MS: Final = 1000


class DeepgramEarWire:
    """Implements SttWire."""

    chunk_s = 0.02
    replay_speed = None
    idle_message = json.dumps({"type": "KeepAlive"})

    def __init__(self, choice: Choice) -> None:
        self._choice = choice
        self.ref = ModelRef("stt", "deepgram", choice.model)
        # 1008 DATA-0000: undecodable audio; 1011 NET-0000, NET-0001: the vendor's side or no audio in time
        self.errors = VendorErrors("stt", choice.api_key, close_codes={1011: "cut_off"})

    def format_for(self, sample_rate: int) -> WireFormat:
        return line_format(sample_rate)

    def address(self, audio: WireFormat, language: str, terms: Sequence[str]) -> Address:
        options: list[tuple[str, str]] = [
            ("model", self._choice.model),
            ("language", language),
            ("encoding", "mulaw" if audio.encoding == "mulaw" else "linear16"),
            ("sample_rate", str(audio.sample_rate)),
            ("channels", "1"),
            ("interim_results", "true"),
            ("smart_format", "true"),
            ("endpointing", str(ENDPOINTING_MS)),
            ("utterance_end_ms", str(UTTERANCE_END_MS)),
        ]
        name = "keyterm" if self._choice.model.startswith("nova-3") else "keywords"
        options += [(name, term) for term in terms]
        url = (self._choice.base_url or BASE_URL).rstrip("/") + f"/v1/listen?{urlencode(options)}"
        return Address(url, {"Authorization": f"Token {self._choice.api_key}"})

    def session(self, audio: WireFormat, language: str, terms: Sequence[str]) -> "DeepgramSession":
        return DeepgramSession(self.errors)


class DeepgramSession:
    """Implements SttSession. Key terms belong to the address: they change with the next connection."""

    waits_for_ready = False

    def __init__(self, errors: VendorErrors) -> None:
        self._errors = errors
        self._owes_endpoint = False

    def hello(self) -> Sequence[str]:
        return ()

    def audio(self, payload: bytes) -> bytes:
        return payload

    def expect(self, terms: Sequence[str]) -> None:
        return None

    def goodbye(self) -> Sequence[str]:
        return (json.dumps({"type": "CloseStream"}),)

    def read(self, message: Mapping[str, Any]) -> Sequence[SttNews]:
        kind = message["type"]
        if kind == "Results":
            return self._results(message)
        if kind == "UtteranceEnd" and self._owes_endpoint:
            self._owes_endpoint = False
            return (Heard(SttEvent("final", "", is_endpoint=True), end_s=0.0),)
        if kind == "Error":
            word, text = told(json.dumps(dict(message)))
            return (Failed(self._errors.make("server_error", text or word)),)
        return ()

    def _results(self, message: Mapping[str, Any]) -> Sequence[SttNews]:
        best = message["channel"]["alternatives"][0]
        text, is_final = str(best["transcript"]), bool(message["is_final"])
        if not is_final:
            return (Heard(SttEvent("partial", text)),) if text else ()
        is_endpoint = bool(message.get("speech_final"))
        self._owes_endpoint = (self._owes_endpoint or bool(text)) and not is_endpoint
        event = SttEvent("final", text, float(best.get("confidence") or 0.0), is_endpoint=is_endpoint)
        return (Heard(event, end_s=float(message["start"]) + float(message["duration"])),)
