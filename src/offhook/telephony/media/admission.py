"""Admission to the media path: a single-use token opens it for one run, and nothing happens without one."""

from offhook.kit.database.database import Database
from offhook.runs.live import media_tokens
from offhook.runs.live.calls import LiveCallRegistry
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.errors import CarrierUnknown
from offhook.telephony.media.carrier_signals import CarrierCallControl
from offhook.telephony.media.leg import EventListener
from offhook.telephony.media.session import RunMediaSession
from offhook.telephony.ports import CarrierRegistry


class MediaAdmission:
    """Admits media connections. The websocket is accepted between the admission and the session's run."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        live: LiveCallRegistry,
        reports: CallReports,
        control: CarrierCallControl,
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._live = live
        self._reports = reports
        self._control = control

    async def admit_call(
        self, run_id: int, token: str, provider: str, listener: EventListener | None = None
    ) -> RunMediaSession:
        """Consumes the token. Raises CarrierUnknown (404) or MediaTokenRefused (401), and then changes nothing."""
        spec = self._carriers.find(provider)
        if spec is None or spec.media.wire is None:
            raise CarrierUnknown
        async with self._db.transaction() as session:
            run = await media_tokens.claim_token(session, token, run_id=run_id, mode=provider)
        return RunMediaSession(
            spec,
            run.organization_id,
            run.id,
            db=self._db,
            live=self._live,
            reports=self._reports,
            control=self._control,
            listener=listener,
        )
