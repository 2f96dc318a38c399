"""OpenAI's realtime transcription over a WebSocket: streams audio, returns one item per stretch of speech.

Written from the vendor's documentation (``/v1/realtime?intent=transcription``, session type ``transcription``). The
vendor's own voice detection cuts the items; transcripts may arrive out of order and are reordered here.
"""

import base64
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from offhook.models.configuration.turn_settings import SEMANTIC_VAD, SERVER_VAD, TurnSettings
from offhook.models.ports import ModelError, SttEvent
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import MULAW_8000, WireFormat, short_language
from offhook.models.speech.stt_wire import SttFailed, SttMessage, SttReady, SttSession, SttTranscript, SttWire
from offhook.models.speech.vendor_socket import VendorAddress
from offhook.models.vendors import ModelChoice

BASE_URL: Final = "https://api.openai.com/v1"
PAUSE_MS: Final = 400
# How soon the vendor's model takes a turn for over: after 2, 4 or 8 s at the latest ("auto" is 4 s).
EAGERNESS: Final = {"eager": "high", "balanced": "auto", "patient": "low"}
_CODES: Final = {
    "invalid_api_key": "unauthorized",
    "insufficient_quota": "no_quota",
    "rate_limit_exceeded": "rate_limited",
    "model_not_found": "not_found",
    "session_expired": "cut_off",
}


class OpenAiRealtimeWire(SttWire):
    """The vendor takes only mu-law at 8 kHz or PCM at 24 kHz."""

    vendor = "openai"
    chunk_s = 0.04
    quiet_chunk_s = 0.12

    def __init__(self, choice: ModelChoice) -> None:
        super().__init__(choice)
        self.may_wait = self.judges_turns = choice.turns.detection == SEMANTIC_VAD

    def format_for(self, sample_rate: int) -> WireFormat:
        return MULAW_8000 if sample_rate == MULAW_8000.sample_rate else WireFormat("pcm", 24000)

    def connection_address(self, audio: WireFormat, language: str, terms: Sequence[str]) -> VendorAddress:
        base = (self.choice.base_url or BASE_URL).rstrip("/").replace("http", "ws", 1)
        return VendorAddress(
            f"{base}/realtime?intent=transcription", {"Authorization": f"Bearer {self.choice.api_key}"}
        )

    def create_session(self, audio: WireFormat, language: str, terms: Sequence[str]) -> "OpenAiRealtimeSession":
        is_mulaw = audio.encoding == "mulaw"
        transcription = {"model": self.choice.model}
        if len(self.choice.languages) < 2:  # without a language, the model finds it out
            transcription["language"] = short_language(language)
        return OpenAiRealtimeSession(
            self.errors,
            {
                "format": {"type": "audio/pcmu"} if is_mulaw else {"type": "audio/pcm", "rate": audio.sample_rate},
                "transcription": {**transcription, **prompt_of(terms)},
                "turn_detection": turn_detection(self.choice.turns),
            },
        )


def turn_detection(turns: TurnSettings) -> dict[str, Any]:
    """Returns the vendor's detector: there is one at a time."""
    if turns.detection == SEMANTIC_VAD:
        return {"type": SEMANTIC_VAD, "eagerness": EAGERNESS[turns.taking]}
    return {"type": SERVER_VAD, "silence_duration_ms": PAUSE_MS, "prefix_padding_ms": 300}


def prompt_of(terms: Sequence[str]) -> dict[str, str]:
    return {"prompt": "Words that may occur: " + ", ".join(terms)} if terms else {}


class OpenAiRealtimeSession(SttSession):
    """One recognition; returns items in the order of their audio."""

    waits_for_ready = True

    def __init__(self, errors: VendorErrors, audio_input: dict[str, Any]) -> None:
        super().__init__(errors)
        self._input = audio_input
        # by item, in audio order: text so far, its end, completeness
        self._partials: dict[str, str] = {}
        self._ends: dict[str, float] = {}
        self._completed: dict[str, str] = {}

    def opening_messages(self) -> Sequence[str]:
        return (self._session_update(self._input),)

    def encode_audio(self, payload: bytes) -> str:
        return '{"type":"input_audio_buffer.append","audio":"' + base64.b64encode(payload).decode() + '"}'

    def key_term_messages(self, terms: Sequence[str]) -> Sequence[str]:
        self._input["transcription"].update({"prompt": "", **prompt_of(terms)})
        return (self._session_update({"transcription": self._input["transcription"]}),)

    def parse_message(self, message: Mapping[str, Any]) -> Sequence[SttMessage]:
        kind = message["type"].rpartition("input_audio_")[2]
        if kind in ("session.updated", "transcription_session.updated"):
            return (SttReady(),)
        if kind == "buffer.speech_started":
            self._partials.setdefault(message["item_id"], "")
        elif kind == "buffer.speech_stopped":
            self._ends[message["item_id"]] = float(message["audio_end_ms"]) / 1000
        elif kind == "transcription.delta":
            return self._add_delta(message["item_id"], str(message["delta"]))
        elif kind == "transcription.completed":
            self._completed[message["item_id"]] = str(message["transcript"])
            return tuple(self._pop_finished())
        elif kind in ("transcription.failed", "error"):
            return (SttFailed(self._error(message["error"])),)
        return ()

    def _add_delta(self, item: str, delta: str) -> Sequence[SttMessage]:
        self._partials[item] = self._partials.get(item, "") + delta
        if item != next(iter(self._partials)) or not self._partials[item].strip():
            return ()
        return (SttTranscript(SttEvent("partial", self._partials[item].strip())),)

    def _pop_finished(self) -> Iterator[SttMessage]:
        """Yields completed items with nothing missing before them."""
        for item in (*self._partials, *(item for item in list(self._completed) if item not in self._partials)):
            if item not in self._completed:
                return
            self._partials.pop(item, None)
            end_s = self._ends.pop(item, None)
            yield SttTranscript(SttEvent("final", self._completed.pop(item).strip(), is_endpoint=True), end_s)

    def _session_update(self, audio_input: Mapping[str, Any]) -> str:
        return json.dumps(
            {"type": "session.update", "session": {"type": "transcription", "audio": {"input": audio_input}}}
        )

    def _error(self, error: Mapping[str, Any]) -> ModelError:
        is_theirs = error.get("type") == "server_error"
        name = _CODES.get(str(error.get("code")), "server_error" if is_theirs else "bad_request")
        return self.errors.make_error(name, error.get("message") or "no reason given")
