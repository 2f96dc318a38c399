"""xAI's Voice Agent API over a WebSocket: a model that hears tones, and speaks them.

There are no SDK types: written from the vendor's documentation (docs.x.ai, speech to speech, and its schema
``voice-realtime.ws.json``) as users' clients quote it, with the faults that they report. Where it is silent, a comment with
``??`` says which reading was chosen.
"""

import base64
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from websockets.asyncio.server import ServerConnection

from offhook_lab.speech.realtime_conversation import VendorConversation
from offhook_lab.speech.realtime_session import RealtimeEventsServer, VoiceModelSession
from offhook_lab.speech.server import HandshakeRefusal
from offhook_lab.speech.tones import LEXICON, ToneLexicon
from offhook_lab.speech.voice_model_server import Answer

NEWEST: Final = "grok-voice-think-fast-2.0"
MODELS: Final = (NEWEST, "grok-voice-think-fast-1.0")
RATES: Final = (8000, 16000, 22050, 24000, 32000, 44100, 48000)
VOICES: Final = ("eve", "ara", "leo", "rex", "sal")
SESSION_FIELDS: Final = frozenset(
    {"model", "instructions", "reasoning", "voice", "turn_detection", "resumption", "audio", "tools", "replace"}
)
NO_CREDITS: Final = "Your team has either used all available credits or reached its monthly spending limit."
OLD_NAMES: Final = {
    "response.output_audio.delta": "response.audio.delta",
    "response.output_audio_transcript.delta": "response.audio_transcript.delta",
}


class XaiVoiceServer(RealtimeEventsServer):
    """xAI's server.

    Faults besides :class:`RealtimeEventsServer`'s: ``echoes_metadata`` and ``names_events`` are in the schema, and may be
    missing; ``drops_canceled``: a canceled response ends without ``response.done``; ``uses_old_names``: of the beta;
    ``omits_items``: calls are only in ``response.done``.
    """

    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = {
        "unauthorized": HandshakeRefusal(
            400, {"code": "Client specified an invalid argument", "error": "Incorrect API key provided."}
        ),
        "no_quota": HandshakeRefusal(429, {"code": "Some resource has been exhausted", "error": NO_CREDITS}),
        "server_error": HandshakeRefusal(503, {"code": "Service unavailable", "error": "Please try again."}),
    }

    def __init__(self, model: Answer | None = None, lexicon: ToneLexicon = LEXICON) -> None:
        super().__init__(model, lexicon)
        self.session_s = 7200.0
        self.echoes_metadata = True
        self.names_events = True
        self.drops_canceled = False
        self.uses_old_names = False
        self.omits_items = False
        self.refuses_next = False
        self.is_empty = False
        self.audio_s = 0.0

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        # any model is accepted
        session = XaiVoiceSession(self, socket, query.get("model", ""))
        self.sessions.append(session)
        await session.serve_events()

    def empty_account(self) -> None:
        self.is_empty = True

    def refuse_next_response(self) -> None:
        """Refuses the next ``response.create``."""
        self.refuses_next = True

    def counted_usage(self) -> dict[str, float]:
        """Returns the seconds of audio in both directions, and the entries that came as text."""
        created = [message["item"] for message in self.messages if message["type"] == "conversation.item.create"]
        messages = sum(item["type"] != "function_call_output" for item in created)
        return {"seconds": round(self.audio_s, 1), **({"messages": messages} if messages else {})}


class XaiVoiceSession(VoiceModelSession):
    """One connection."""

    # the vendor has no conversation.item.done
    added_kinds = ("conversation.item.added",)
    spoken_content = "audio"
    # reported by users
    names_deleted = False

    def __init__(self, server: XaiVoiceServer, socket: ServerConnection, model: str) -> None:
        super().__init__(server, socket)
        self._xai = server
        self._model = model if model in MODELS else NEWEST
        self._calls: list[Mapping[str, Any]] = []
        self.conversation = VendorConversation(assistant_content="text")

    async def _begin_session(self) -> None:
        session = {"model": self._model, "voice": "ara", "turn_detection": {"type": None}}
        await self._send_event({"type": "session.created", "session": session})
        conversation = {"id": self._server.next_id("conv"), "object": "realtime.conversation"}
        await self._send_event({"type": "conversation.created", "conversation": conversation})
        await self._send_event({"type": "ping", "timestamp": 0})

    async def _send_event(self, message: Mapping[str, Any]) -> None:
        kind = message["type"]
        if kind == "response.output_audio.delta":
            self._xai.audio_s += len(base64.b64decode(message["delta"])) / self._bytes_per_s
        if kind in ("response.created", "response.done"):
            # measured by users, on every response
            message = {**message, "response": {**message["response"], "status_details": "unimplemented"}}
        if kind == "conversation.item.added":
            message = {**message, "previous_item_id": None}
        if self._xai.uses_old_names:
            message = {**message, "type": OLD_NAMES.get(kind, kind)}
        await super()._send_event(message)

    @property
    def _bytes_per_s(self) -> int:
        return self._rate * (1 if self._is_mulaw else 2)

    async def send_error(
        self, sentence: str, message: Mapping[str, Any] | None = None, *, code: str | None = None
    ) -> None:
        # ?? the documentation says that codes are the types, and has an example with both
        kind = code if code in ("max_duration", "internal_error") else "invalid_request_error"
        self._server.complaints.append(sentence)
        error = {"type": kind, "code": kind, "message": sentence, "param": None}
        if self._xai.names_events:
            error["event_id"] = (message or {}).get("event_id")
        await self._send_event({"type": "error", "error": error})

    async def _announce_expiry(self) -> None:
        await self.send_error("The maximum conversation duration was exceeded.", code="max_duration")

    # -- what the client sends ------------------------------------------------------------------------------------

    async def _update_session(self, message: Mapping[str, Any]) -> None:
        session = message["session"]
        problem = self._settings_problem(session)
        if problem:
            await self.send_error(problem, message)
            return
        self._format = session.get("audio", {}).get("output", {}).get("format") or self._format
        await self._accept_settings(session)

    def _settings_problem(self, session: Mapping[str, Any]) -> str:
        """Returns why settings are refused, or nothing. ?? The vendor ignores fields that it does not have."""
        unknown = set(session) - SESSION_FIELDS
        if unknown:
            return f"Unknown fields: {', '.join(sorted(unknown))}."
        if str(session.get("voice", "eve")).lower() not in VOICES:
            return f"Voice {session['voice']} not found."
        if session.get("turn_detection", {"type": None}) not in ({"type": None}, {"type": "server_vad"}):
            return "Invalid turn_detection."
        forms = [side.get("format", {}) for side in session.get("audio", {}).values()]
        if any(form != {"type": "audio/pcmu"} and form.get("rate") not in RATES for form in forms):
            return "Invalid audio format."
        return "Invalid tool." if any(not tool.get("name") for tool in session.get("tools", ())) else ""

    async def _append_audio(self, message: Mapping[str, Any]) -> None:
        before = self.appended_bytes
        await super()._append_audio(message)
        self._xai.audio_s += (self.appended_bytes - before) / self._bytes_per_s

    def _keep_heard(self, item_id: str) -> dict[str, Any]:
        entry = self.conversation.find_entry(item_id)
        assert entry is not None
        entry.text = entry.remembered
        return {"transcript": entry.text}

    async def _create_response(self, message: Mapping[str, Any]) -> None:
        if self._xai.is_empty:
            # ?? the documentation does not say how an account ends during a session
            await self.send_error(NO_CREDITS, message)
        elif self._xai.refuses_next:
            self._xai.refuses_next = False
            await self.send_error("Invalid event.", message)
        else:
            await super()._create_response(message)

    # -- what the model does --------------------------------------------------------------------------------------

    def _named_metadata(self, metadata: Mapping[str, str]) -> dict[str, str] | None:
        return super()._named_metadata(metadata) if self._xai.echoes_metadata else None

    async def _end_call(self, where: Mapping[str, Any], item: Mapping[str, Any]) -> None:
        self._calls.append(item)
        if not self._xai.omits_items:
            await super()._end_call(where, item)

    async def _end_response(self, response: Mapping[str, Any]) -> None:
        output, self._calls = self._calls, []
        if response["status"] == "cancelled" and self._xai.drops_canceled:
            return
        usage = response["usage"] or {}
        totals = {name: usage[name] for name in ("input_tokens", "output_tokens", "total_tokens") if name in usage}
        await super()._end_response({**response, "output": output, "usage": totals})
