"""Gemini Live as a speech-to-speech port."""

from typing import Final

from offhook.models.ports import ModelRef, SessionReports, SpeechCapabilities
from offhook.models.providers.gemini_live.session import GeminiSpeechSession
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import SessionFormats, WireFormat
from offhook.models.speech.network_route import DIRECT_ROUTE, NetworkRoute
from offhook.models.speech.vendor_socket import VendorAddress, open_socket
from offhook.models.vendors import ModelChoice

BASE_URL: Final = "https://generativelanguage.googleapis.com"
PATH: Final = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"
# The caller hears the greeting while the first session opens; later ones are opened during speech.
OPEN_TIMEOUT_S: Final = 2.0
# Source: users measure pongs of 8 to 30 s on healthy calls.
PONG_TIMEOUT_S: Final = 45.0
# Source: the vendor closes connections after about 10 minutes; audio sessions end after 15 without compression.
CAPABILITIES: Final = SpeechCapabilities(can_edit=False, max_session_s=600.0, min_commit_s=0.1)
FORMATS: Final = SessionFormats(heard=WireFormat("pcm", 16000), spoken=WireFormat("pcm", 24000))


class GeminiLiveModel:
    """Implements SpeechToSpeech for one choice of model, voice and key."""

    def __init__(self, choice: ModelChoice, way: NetworkRoute = DIRECT_ROUTE) -> None:
        self._choice = choice
        self._way = way
        self._errors = VendorErrors("realtime", choice.api_key)
        self.capabilities = CAPABILITIES
        self.model_ref = ModelRef("realtime", choice.provider, choice.model)

    def session_formats(self, sample_rate: int) -> SessionFormats:
        return FORMATS

    async def open_session(self, formats: SessionFormats, reports: SessionReports) -> GeminiSpeechSession:
        base = (self._choice.base_url or BASE_URL).rstrip("/")
        address = VendorAddress(base + PATH, {"x-goog-api-key": self._choice.api_key})
        session = GeminiSpeechSession(formats, self._errors, reports)
        socket = await open_socket(
            address,
            session,
            self._errors,
            limit_s=OPEN_TIMEOUT_S,
            way=self._way,
            pong_timeout_s=PONG_TIMEOUT_S,
        )
        try:
            await session.wait_opened(socket, self._choice.model, self._choice.voice_id, OPEN_TIMEOUT_S)
        except BaseException:
            await session.close()
            raise
        return session

    async def check_access(self) -> None:
        """Opens a session and closes it, at no cost: finds a wrong key, model or voice. Raises ModelError."""
        session = await self.open_session(FORMATS, SessionReports(lambda usage: None))
        await session.close()
