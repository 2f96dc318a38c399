"""Deepgram's ``/v2/listen`` WebSocket (Flux): one model recognizes words and decides when the caller's turn is over.

Written from the vendor's documentation and its SDK's types. Each TurnInfo has the whole turn so far. EagerEndOfTurn comes
when the end is likely, TurnResumed takes it back, EndOfTurn has the same words as the EagerEndOfTurn before it. The vendor
does not know KeepAlive here: silence is sent instead.
"""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from offhook.models.ports import SttEvent
from offhook.models.providers.deepgram.stt import BASE_URL, CLOSE_CODES, MULTILINGUAL_LANGUAGES
from offhook.models.speech.errors import VendorErrors, parse_error_body
from offhook.models.speech.formats import WireFormat, short_language
from offhook.models.speech.stt_wire import SttFailed, SttMessage, SttReady, SttSession, SttTranscript, SttWire
from offhook.models.speech.vendor_socket import VendorAddress

ENGLISH: Final = "flux-general-en"
# The only model that accepts language hints: the other one refuses the connection.
MULTILINGUAL_FLUX: Final = "flux-general-multi"
# By the agent's way of turn-taking: how sure the vendor is that a turn is over, and how long it waits at most, which is
# no longer than a call waits for a final that does not come. It accepts 0.5 to 0.9, and 500 to 10000 ms.
END_THRESHOLD: Final = {"eager": "0.6", "balanced": "0.7", "patient": "0.8"}
END_TIMEOUT_MS: Final = {"eager": "1400", "balanced": "1400", "patient": "2100"}
# How sure it is when the model is asked early; without it, EagerEndOfTurn is not sent. It accepts 0.3 to 0.9.
EAGER_THRESHOLD: Final = {"eager": "0.4", "balanced": "0.5", "patient": "0.6"}


class DeepgramFluxWire(SttWire):
    """Deepgram's address of a recognition by turns, which holds all its options."""

    vendor = "deepgram"
    # the vendor recommends it
    chunk_s = 0.08
    idles_with_silence = True
    judges_turns = True
    close_codes = CLOSE_CODES

    def connection_address(self, audio: WireFormat, language: str, terms: Sequence[str]) -> VendorAddress:
        turns = self.choice.turns
        options: list[tuple[str, str]] = [
            ("model", self.choice.model),
            ("encoding", "mulaw" if audio.encoding == "mulaw" else "linear16"),
            ("sample_rate", str(audio.sample_rate)),
            ("eot_threshold", END_THRESHOLD[turns.taking]),
            ("eot_timeout_ms", END_TIMEOUT_MS[turns.taking]),
        ]
        if turns.wants_likely_ends:
            options.append(("eager_eot_threshold", EAGER_THRESHOLD[turns.taking]))
        if self.choice.model == MULTILINGUAL_FLUX:
            options += [("language_hint", code) for code in self._hints(language)]
        options += [("keyterm", term) for term in terms]
        url = (self.choice.base_url or BASE_URL).rstrip("/") + f"/v2/listen?{urlencode(options)}"
        return VendorAddress(url, {"Authorization": f"Token {self.choice.api_key}"})

    def _hints(self, language: str) -> list[str]:
        """Returns the languages that the caller can speak: without hints, the model would consider all ten. A change of
        language needs no new connection."""
        spoken = dict.fromkeys(short_language(tag) for tag in self.choice.languages or (language,))
        return [code for code in spoken if code in MULTILINGUAL_LANGUAGES]

    def create_session(self, audio: WireFormat, language: str, terms: Sequence[str]) -> "FluxSession":
        return FluxSession(self.errors)


class FluxSession(SttSession):
    """One recognition. Its partials are likely ends from EagerEndOfTurn until TurnResumed."""

    waits_for_ready = True

    def __init__(self, errors: VendorErrors) -> None:
        super().__init__(errors)
        self._is_likely_end = False

    def key_term_messages(self, terms: Sequence[str]) -> Sequence[str]:
        return (json.dumps({"type": "Configure", "keyterms": list(terms)}),)

    def closing_messages(self) -> Sequence[str]:
        return (json.dumps({"type": "CloseStream"}),)

    def parse_message(self, message: Mapping[str, Any]) -> Sequence[SttMessage]:
        kind = message["type"]
        if kind == "Connected":
            return (SttReady(),)
        if kind == "TurnInfo":
            return self._parse_turn(message)
        if kind == "Error":
            word, text = parse_error_body(json.dumps(dict(message)))
            return (SttFailed(self.errors.make_error("server_error", text or word)),)
        return ()

    def _parse_turn(self, message: Mapping[str, Any]) -> Sequence[SttMessage]:
        event, text = message["event"], str(message["transcript"]).strip()
        if event == "EndOfTurn":
            self._is_likely_end = False
            words = message.get("words") or ()
            confidence = sum(float(word["confidence"]) for word in words) / len(words) if words else None
            # the language of most words first; only from the multilingual model
            languages = message.get("languages") or ()
            language = str(languages[0]) if languages else None
            final = SttEvent("final", text, confidence, is_endpoint=True, language=language)
            return (SttTranscript(final, end_s=float(message["audio_window_end"])),)
        if event in ("StartOfTurn", "EagerEndOfTurn", "TurnResumed"):
            self._is_likely_end = event == "EagerEndOfTurn"
        elif event != "Update":
            return ()
        partial = SttEvent("partial", text, is_likely_end=self._is_likely_end)
        return (SttTranscript(partial),) if text else ()
