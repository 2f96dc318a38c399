"""A speech-to-speech port for vendors that speak these events."""

from typing import Final
from urllib.parse import quote

from offhook.models.ports import ModelRef, SessionReports
from offhook.models.speech.formats import SessionFormats
from offhook.models.speech.network_route import DIRECT_ROUTE, NetworkRoute
from offhook.models.speech.realtime_events.dialect import EventDialect
from offhook.models.speech.realtime_events.session import RealtimeSpeechSession
from offhook.models.speech.vendor_factories import route_for
from offhook.models.speech.vendor_socket import VendorAddress, open_socket
from offhook.models.vendors import ModelChoice, VendorContext

# The caller hears the greeting while the first session opens; later ones are opened during speech.
OPEN_TIMEOUT_S: Final = 2.0


class RealtimeEventsModel:
    """Implements SpeechToSpeech for one choice of model, voice and key."""

    def __init__(self, dialect: EventDialect, choice: ModelChoice, way: NetworkRoute = DIRECT_ROUTE) -> None:
        self._dialect = dialect
        self._choice = choice
        self._way = way
        self._errors = dialect.make_errors(choice.api_key)
        self.capabilities = dialect.capabilities
        self.model_ref = ModelRef("realtime", choice.provider, choice.model)

    def session_formats(self, sample_rate: int) -> SessionFormats:
        both = self._dialect.line_format(sample_rate)
        return SessionFormats(both, both)

    async def open_session(self, formats: SessionFormats, reports: SessionReports) -> RealtimeSpeechSession:
        choice = self._choice
        base = (choice.base_url or self._dialect.base_url).rstrip("/")
        address = VendorAddress(
            f"{base}/realtime?model={quote(choice.model, safe='')}", {"Authorization": f"Bearer {choice.api_key}"}
        )
        session = RealtimeSpeechSession(self._dialect, formats.heard, choice.model, self._errors, reports)
        socket = await open_socket(address, session, self._errors, limit_s=OPEN_TIMEOUT_S, way=self._way)
        try:
            await session.wait_opened(socket, choice.voice_id, OPEN_TIMEOUT_S)
        except BaseException:
            await session.close()
            raise
        return session

    async def check_access(self) -> None:
        """Opens a session and closes it, at no cost: finds a wrong key, model or voice. Raises ModelError."""
        session = await self.open_session(self.session_formats(8000), SessionReports(lambda usage: None))
        await session.close()


class RealtimeEventsVendor:
    """A vendor that speaks these events: its ``build`` and ``check``. Sessions end with their calls."""

    def __init__(self, dialect: EventDialect, parts: VendorContext) -> None:
        self._dialect = dialect
        self._parts = parts

    def build(self, choice: ModelChoice) -> RealtimeEventsModel:
        return RealtimeEventsModel(self._dialect, choice, route_for(choice, self._parts))

    async def check_access(self, choice: ModelChoice) -> None:
        await self.build(choice).check_access()
