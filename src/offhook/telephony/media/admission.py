"""Admission to the media path: a single-use token opens it for one run, and nothing happens without one."""

from offhook.kit.database.database import Database
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
        """Spends the token and takes a slot of this process. Raises CarrierUnknown (404), MediaTokenRefused (401) or
        ProcessIsFull (503), and then changes nothing: the token opens another process."""
        spec = self._carriers.find(provider)
        if spec is None or spec.media.wire is None:
            raise CarrierUnknown
        run = await self._live.admission.admit_run(run_id, token, mode=provider)
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
