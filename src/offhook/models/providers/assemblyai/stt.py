"""AssemblyAI's streaming API v3: Turn messages, the last of a turn with ``end_of_turn``.

Written from the vendor's documentation. Audio goes in pieces of 50 to 1000 ms and not much faster than real time; with
formatted turns the last message comes twice, and we use the first.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from offhook.models.ports import SttEvent
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import WireFormat, short_language
from offhook.models.speech.stt_wire import SttFailed, SttMessage, SttReady, SttSession, SttTranscript, SttWire
from offhook.models.speech.vendor_socket import VendorAddress

ENGLISH: Final = "universal-streaming-english"
MULTILINGUAL: Final = "universal-streaming-multilingual"
BASE_URL: Final = "wss://streaming.assemblyai.com"
# The vendor's words end with the sound; the next turn begins after a pause.
AFTER_WORD_S: Final = 0.08
MIN_LANGUAGE_CONFIDENCE: Final = 0.7
# How sure the vendor must be that a turn is over for the model to be asked early; it ends turns by 0.4 and a silence.
LIKELY_END: Final = 0.4
CLOSE_CODES: Final = {
    1008: "unauthorized",
    3005: "server_error",
    3006: "bad_request",
    3007: "rate_limited",
    3008: "cut_off",
    3009: "rate_limited",
    4001: "unauthorized",
    4002: "no_quota",
    4003: "forbidden",
}


class AssemblyAiWire(SttWire):
    """AssemblyAI's address of a recognition, which holds all its options."""

    vendor = "assemblyai"
    judges_turns = True
    chunk_s = 0.06
    quiet_chunk_s = 0.12
    # above an unpublished multiple: "Audio Transmission Rate Exceeded"; twice is safe
    replay_speed = 2.0
    idle_message = json.dumps({"type": "KeepAlive"})
    close_codes = CLOSE_CODES

    def connection_address(self, audio: WireFormat, language: str, terms: Sequence[str]) -> VendorAddress:
        model = self.choice.model
        hears_several = len(self.choice.languages) > 1
        if model == ENGLISH and (hears_several or short_language(language) != "en"):
            model = MULTILINGUAL
        options = {
            "speech_model": model,
            "sample_rate": str(audio.sample_rate),
            "encoding": "pcm_mulaw" if audio.encoding == "mulaw" else "pcm_s16le",
            "format_turns": "false",
        }
        if hears_several and model == MULTILINGUAL:
            options["language_detection"] = "true"
        if terms:
            options["keyterms_prompt"] = json.dumps(list(terms))
        url = (self.choice.base_url or BASE_URL).rstrip("/") + f"/v3/ws?{urlencode(options)}"
        return VendorAddress(url, {"Authorization": self.choice.api_key})

    def create_session(self, audio: WireFormat, language: str, terms: Sequence[str]) -> "AssemblyAiSession":
        return AssemblyAiSession(self.errors)


class AssemblyAiSession(SttSession):
    """One recognition; ends each turn once."""

    waits_for_ready = True

    def __init__(self, errors: VendorErrors) -> None:
        super().__init__(errors)
        self._ended_turn = -1

    def key_term_messages(self, terms: Sequence[str]) -> Sequence[str]:
        return (json.dumps({"type": "UpdateConfiguration", "keyterms_prompt": list(terms)}),)

    def closing_messages(self) -> Sequence[str]:
        return (json.dumps({"type": "Terminate"}),)

    def parse_message(self, message: Mapping[str, Any]) -> Sequence[SttMessage]:
        if "error" in message:
            code = int(message.get("error_code") or 0)
            error = self.errors.closed_error(code if code in CLOSE_CODES else 3005, str(message["error"]))
            return (SttFailed(error),)
        kind = message["type"]
        if kind == "Begin":
            return (SttReady(),)
        return self._parse_turn(message) if kind == "Turn" else ()

    def _parse_turn(self, message: Mapping[str, Any]) -> Sequence[SttMessage]:
        order, words = int(message["turn_order"]), message.get("words") or ()
        if order <= self._ended_turn:
            return ()
        if not message["end_of_turn"]:
            text = " ".join(str(word["text"]) for word in words)
            is_likely_end = float(message.get("end_of_turn_confidence") or 0.0) >= LIKELY_END
            return (SttTranscript(SttEvent("partial", text, is_likely_end=is_likely_end)),) if text else ()
        self._ended_turn = order
        end_s = float(words[-1]["end"]) / 1000 + AFTER_WORD_S if words else None
        confidence = sum(float(word["confidence"]) for word in words) / len(words) if words else None
        event = SttEvent(
            "final", str(message["transcript"]), confidence, is_endpoint=True, language=_language_of(message)
        )
        return (SttTranscript(event, end_s=end_s),)


def _language_of(message: Mapping[str, Any]) -> str | None:
    """Returns the language of a turn that the vendor is sure of."""
    is_sure = float(message.get("language_confidence") or 0.0) >= MIN_LANGUAGE_CONFIDENCE
    return str(message["language_code"]) if is_sure and message.get("language_code") else None
