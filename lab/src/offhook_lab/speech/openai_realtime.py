"""OpenAI's Realtime API (GA) over a WebSocket: a model that hears tones, and speaks them.

Written from the types of the vendor's SDK (``openai/types/realtime``), with the faults that its users report.
"""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from websockets.asyncio.server import ServerConnection

from offhook_lab.speech.realtime_session import RealtimeEventsServer, VoiceModelSession
from offhook_lab.speech.server import HandshakeRefusal
from offhook_lab.speech.voice_model_server import add_tokens

MODELS: Final = ("gpt-realtime-2", "gpt-realtime-1.5", "gpt-realtime-2.1-mini", "gpt-realtime")


class OpenAiVoiceModelServer(RealtimeEventsServer):
    """OpenAI's server; see :class:`RealtimeEventsServer` for its faults."""

    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = {
        "unauthorized": HandshakeRefusal(
            401,
            {"error": {"code": "invalid_api_key", "type": "invalid_request_error", "message": "Incorrect API key."}},
        ),
        "no_quota": HandshakeRefusal(
            429, {"error": {"code": "insufficient_quota", "message": "You exceeded your current quota."}}
        ),
        "server_error": HandshakeRefusal(503, {"error": {"code": None, "message": "The server had an error."}}),
    }

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        session = VoiceModelSession(self, socket)
        model = query.get("model", "")
        if self.trouble == "not_found" or model not in MODELS:
            await session.send_error(f"The model `{model}` does not exist.", code="model_not_found")
            await socket.close(1000, "")
            return
        self.sessions.append(session)
        await session.serve_events()

    def empty_account(self) -> None:
        self.next_status = "failed:insufficient_quota"

    def counted_usage(self) -> dict[str, float]:
        total: dict[str, float] = {}
        for usage in self.usage:
            used, made = usage["input_token_details"], usage["output_token_details"]
            cached = used["cached_tokens_details"]
            for kind in ("text", "audio"):
                name = f"{kind}_tokens"
                add_tokens(total, f"{kind}_input_tokens", used[name] - cached[name])
                add_tokens(total, f"{kind}_cached_tokens", cached[name])
                add_tokens(total, f"{kind}_output_tokens", made[name])
        return total


def speech_commits(messages: Sequence[Mapping[str, Any]]) -> int:
    """Counts the turns of the caller that came as audio."""
    return sum(message["type"] == "input_audio_buffer.commit" for message in messages)
