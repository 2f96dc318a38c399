"""Deepgram's ``/v1/listen`` WebSocket: interim results, finals with their place in the audio, its own endpointing.

Written from the vendor's documentation. ``is_final`` closes a stretch of audio, ``speech_final`` the caller's turn;
UtteranceEnd closes it when noise hid the pause. KeepAlive goes out while the far end sends no audio (the vendor closes
after 10 s).
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from offhook.models.ports import SttEvent
from offhook.models.speech.errors import VendorErrors, parse_error_body
from offhook.models.speech.formats import WireFormat, short_language
from offhook.models.speech.stt_wire import SttFailed, SttMessage, SttSession, SttTranscript, SttWire
from offhook.models.speech.vendor_socket import VendorAddress

BASE_URL: Final = "wss://api.deepgram.com"
ENDPOINTING_MS: Final = 300
UTTERANCE_END_MS: Final = 1000
# 1008 DATA-0000: undecodable audio; 1011 NET-0000, NET-0001: the vendor's fault or no audio in time
CLOSE_CODES: Final = {1011: "cut_off"}
# One stream for several languages, which names that of every word. nova-2 knows English and Spanish only.
MULTILINGUAL: Final = "multi"
MULTILINGUAL_MODELS: Final = ("nova-3",)
MULTILINGUAL_LANGUAGES: Final = frozenset({"en", "es", "fr", "de", "hi", "ru", "pt", "ja", "it", "nl"})


class DeepgramSttWire(SttWire):
    """Deepgram's address of a recognition, which holds all its options."""

    vendor = "deepgram"
    chunk_s = 0.02
    quiet_chunk_s = 0.1
    idle_message = json.dumps({"type": "KeepAlive"})
    close_codes = CLOSE_CODES

    def connection_address(self, audio: WireFormat, language: str, terms: Sequence[str]) -> VendorAddress:
        options: list[tuple[str, str]] = [
            ("model", self.choice.model),
            ("language", MULTILINGUAL if self._hears_several else language),
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

    @property
    def _hears_several(self) -> bool:
        """Returns whether the model recognizes all the languages of the agent at once."""
        spoken = {short_language(language) for language in self.choice.languages}
        return (
            len(spoken) > 1 and spoken <= MULTILINGUAL_LANGUAGES and self.choice.model.startswith(MULTILINGUAL_MODELS)
        )

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
        event = SttEvent(
            "final", text, float(best.get("confidence") or 0.0), is_endpoint=is_endpoint, language=_language_of(best)
        )
        return (SttTranscript(event, end_s=float(message["start"]) + float(message["duration"])),)


def _language_of(alternative: Mapping[str, Any]) -> str | None:
    """Returns the language of most of the words; None where the vendor names none."""
    named = Counter(str(word["language"]) for word in alternative.get("words") or () if word.get("language"))
    return named.most_common(1)[0][0] if named else None
