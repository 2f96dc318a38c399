"""OpenAI's Realtime models as a speech-to-speech port."""

from typing import Final
from urllib.parse import quote

from offhook.models.ports import ModelRef, SessionReports, SpeechCapabilities
from offhook.models.providers.openai_realtime.session import RealtimeSpeechSession
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import MULAW_8000, SessionFormats, WireFormat
from offhook.models.speech.network_route import DIRECT_ROUTE, NetworkRoute
from offhook.models.speech.vendor_socket import VendorAddress, open_socket
from offhook.models.vendors import ModelChoice

BASE_URL: Final = "https://api.openai.com/v1"
# The caller hears the greeting while the first session opens; later ones are opened during speech.
OPEN_TIMEOUT_S: Final = 2.0
# Source: the vendor ends sessions after 60 minutes without a warning. A commit needs 100 ms of audio.
CAPABILITIES: Final = SpeechCapabilities(can_edit=True, max_session_s=3600.0, min_commit_s=0.1)


class OpenAiRealtimeModel:
    """Implements SpeechToSpeech for one choice of model, voice and key."""

    def __init__(self, choice: ModelChoice, way: NetworkRoute = DIRECT_ROUTE) -> None:
        self._choice = choice
        self._way = way
        self._errors = VendorErrors("realtime", choice.api_key, close_codes={3000: "unauthorized"})
        self.capabilities = CAPABILITIES
        self.model_ref = ModelRef("realtime", choice.provider, choice.model)

    def session_formats(self, sample_rate: int) -> SessionFormats:
        both = MULAW_8000 if sample_rate == MULAW_8000.sample_rate else WireFormat("pcm", 24000)
        return SessionFormats(both, both)

    async def open_session(self, formats: SessionFormats, reports: SessionReports) -> RealtimeSpeechSession:
        base = (self._choice.base_url or BASE_URL).rstrip("/")
        address = VendorAddress(
            f"{base}/realtime?model={quote(self._choice.model, safe='')}",
            {"Authorization": f"Bearer {self._choice.api_key}"},
        )
        session = RealtimeSpeechSession(formats.heard, self._choice.voice_id, self._errors, reports)
        socket = await open_socket(address, session, self._errors, limit_s=OPEN_TIMEOUT_S, way=self._way)
        try:
            await session.wait_opened(socket, OPEN_TIMEOUT_S)
        except BaseException:
            await session.close()
            raise
        return session

    async def check_access(self) -> None:
        """Opens a session and closes it, at no cost: finds a wrong key, model or voice. Raises ModelError."""
        session = await self.open_session(self.session_formats(8000), SessionReports(lambda usage: None))
        await session.close()
