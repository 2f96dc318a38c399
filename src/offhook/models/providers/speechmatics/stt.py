"""Speechmatics' real-time API v2: StartRecognition, binary audio, partial and final transcripts, EndOfUtterance.

Written from the vendor's documentation. The vendor's models are its operating points.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from offhook.models.ports import SttEvent
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import WireFormat, short_language
from offhook.models.speech.stt_wire import SttFailed, SttMessage, SttReady, SttSession, SttTranscript, SttWire
from offhook.models.speech.vendor_socket import VendorAddress

BASE_URL: Final = "wss://eu2.rt.speechmatics.com"
MAX_DELAY_S: Final = 0.7
PAUSE_ENDS_TURN_S: Final = 0.5
_ERROR_NAMES: Final = {
    "not_authorised": "unauthorized",
    "not_allowed": "forbidden",
    "insufficient_funds": "no_quota",
    "quota_exceeded": "rate_limited",
    "timelimit_exceeded": "no_quota",
    "invalid_model": "not_found",
    "invalid_config": "bad_request",
    "invalid_message": "bad_request",
    "invalid_audio_type": "bad_request",
    "invalid_language": "bad_request",
    "protocol_error": "bad_request",
    "idle_timeout": "cut_off",
    "session_timeout": "cut_off",
    "session_transfer": "cut_off",
}
CLOSE_CODES: Final = {
    1003: "bad_request",
    1008: "forbidden",
    1011: "server_error",
    4001: "unauthorized",
    4003: "forbidden",
    4004: "not_found",
    # a limit on concurrent sessions, not on money
    4005: "rate_limited",
    4006: "no_quota",
    4013: "server_error",
}


class SpeechmaticsWire(SttWire):
    """Speechmatics' address, and the first message of a recognition."""

    vendor = "speechmatics"
    chunk_s = 0.04
    quiet_chunk_s = 0.12
    close_codes = CLOSE_CODES

    def connection_address(self, audio: WireFormat, language: str, terms: Sequence[str]) -> VendorAddress:
        url = (self.choice.base_url or BASE_URL).rstrip("/") + "/v2"
        return VendorAddress(url, {"Authorization": f"Bearer {self.choice.api_key}"})

    def create_session(self, audio: WireFormat, language: str, terms: Sequence[str]) -> "SpeechmaticsSession":
        config: dict[str, Any] = {
            "language": short_language(language),
            "operating_point": self.choice.model,
            "enable_partials": True,
            "max_delay": MAX_DELAY_S,
            "conversation_config": {"end_of_utterance_silence_trigger": PAUSE_ENDS_TURN_S},
        }
        if terms:
            config["additional_vocab"] = [{"content": term} for term in terms]
        encoding = "mulaw" if audio.encoding == "mulaw" else "pcm_s16le"
        start = {
            "message": "StartRecognition",
            "audio_format": {"type": "raw", "encoding": encoding, "sample_rate": audio.sample_rate},
            "transcription_config": config,
        }
        return SpeechmaticsSession(self.errors, json.dumps(start))


class SpeechmaticsSession(SttSession):
    """StartRecognition fixes the vocabulary: it changes with the next connection."""

    waits_for_ready = True

    def __init__(self, errors: VendorErrors, start: str) -> None:
        super().__init__(errors)
        self._start = start
        self._sent = 0

    def opening_messages(self) -> Sequence[str]:
        return (self._start,)

    def encode_audio(self, payload: bytes) -> bytes:
        self._sent += 1
        return payload

    def closing_messages(self) -> Sequence[str]:
        return (json.dumps({"message": "EndOfStream", "last_seq_no": self._sent}),)

    def parse_message(self, message: Mapping[str, Any]) -> Sequence[SttMessage]:
        kind = message["message"]
        if kind == "RecognitionStarted":
            return (SttReady(),)
        if kind == "AddPartialTranscript":
            text = str(message["metadata"]["transcript"]).strip()
            return (SttTranscript(SttEvent("partial", text)),) if text else ()
        if kind == "AddTranscript":
            return (self._parse_final(message),)
        if kind == "EndOfUtterance":
            return (SttTranscript(SttEvent("final", "", is_endpoint=True), end_s=0.0),)
        if kind == "Error":
            name = _ERROR_NAMES.get(str(message["type"]), "server_error")
            return (SttFailed(self.errors.make_error(name, f"{message['type']}: {message.get('reason', '')}")),)
        return ()

    def _parse_final(self, message: Mapping[str, Any]) -> SttMessage:
        sure = [
            float(result["alternatives"][0]["confidence"]) for result in message["results"] if result["alternatives"]
        ]
        event = SttEvent(
            "final", str(message["metadata"]["transcript"]).strip(), sum(sure) / len(sure) if sure else None
        )
        return SttTranscript(event, end_s=float(message["metadata"]["end_time"]))
