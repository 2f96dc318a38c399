"""Amazon Nova Sonic as a speech-to-speech port."""

from datetime import UTC, datetime
from typing import Final
from urllib.parse import quote, urlsplit

from offhook.models.ports import ModelRef, SessionReports, SpeechCapabilities
from offhook.models.providers.nova_sonic.aws_signing import AwsKey, EventSigner, sign_request
from offhook.models.providers.nova_sonic.http2_stream import open_http2
from offhook.models.providers.nova_sonic.session import NovaSpeechSession
from offhook.models.providers.nova_sonic.wire import EVENT_STREAM
from offhook.models.speech.errors import VendorErrors
from offhook.models.speech.formats import SessionFormats, WireFormat
from offhook.models.speech.network_route import DIRECT_ROUTE, NetworkRoute
from offhook.models.vendors import ModelChoice

DEFAULT_REGION: Final = "us-east-1"
# The caller hears the greeting while the first session opens; later ones are opened during speech.
OPEN_TIMEOUT_S: Final = 2.0
# Source: the vendor ends connections after 8 minutes.
CAPABILITIES: Final = SpeechCapabilities(can_edit=False, max_session_s=480.0, min_commit_s=0.1, takes_notes=False)
FORMATS: Final = SessionFormats(heard=WireFormat("pcm", 16000), spoken=WireFormat("pcm", 24000))


class NovaSonicModel:
    """Implements SpeechToSpeech for one choice of model, voice and access key."""

    def __init__(self, choice: ModelChoice, way: NetworkRoute = DIRECT_ROUTE) -> None:
        self._choice = choice
        self._way = way
        self._key = AwsKey(choice.access_key_id, choice.api_key, choice.region or DEFAULT_REGION)
        self._errors = VendorErrors("realtime", choice.api_key)
        self.capabilities = CAPABILITIES
        self.model_ref = ModelRef("realtime", choice.provider, choice.model)

    def session_formats(self, sample_rate: int) -> SessionFormats:
        return FORMATS

    async def open_session(self, formats: SessionFormats, reports: SessionReports) -> NovaSpeechSession:
        return await self._open_session(formats, reports, is_check=False)

    async def _open_session(
        self, formats: SessionFormats, reports: SessionReports, *, is_check: bool
    ) -> NovaSpeechSession:
        base = self._choice.base_url or f"https://bedrock-runtime.{self._key.region}.amazonaws.com"
        session = NovaSpeechSession(formats, self._choice.voice_id, self._errors, reports)
        stream = await open_http2(base, session, self._errors, limit_s=OPEN_TIMEOUT_S, way=self._way)
        parts = urlsplit(base)
        path = f"{parts.path.rstrip('/')}/model/{quote(self._choice.model, safe='')}/invoke-with-bidirectional-stream"
        accepted = {"accept": EVENT_STREAM, "content-type": EVENT_STREAM}
        signed, signature = sign_request(self._key, datetime.now(UTC), host=parts.netloc, path=path, headers=accepted)
        del signed["host"]
        pseudo = {":method": "POST", ":scheme": parts.scheme, ":authority": parts.netloc, ":path": path}
        try:
            stream.request({**pseudo, **signed})
            signer = EventSigner(self._key, signature)
            await session.wait_opened(stream, signer, is_check=is_check, limit_s=OPEN_TIMEOUT_S)
        except BaseException:
            await session.close()
            raise
        return session

    async def check_access(self) -> None:
        """Opens a session and closes it, without a turn: finds a wrong key or model. Raises ModelError."""
        session = await self._open_session(FORMATS, SessionReports(lambda usage: None), is_check=True)
        await session.close()
