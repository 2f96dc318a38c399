"""The door of the media path: a single-use token opens it for one run, and nothing happens before that."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from offhook.kit.database.database import Database
from offhook.runs.errors import RunNotConnectable
from offhook.runs.live import lease_queries, media_tokens
from offhook.runs.live.calls import LiveCall, LiveCallRegistry
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.errors import CarrierUnknown
from offhook.telephony.media.carrier_signals import CarrierCallControl
from offhook.telephony.media.session import START_TIMEOUT_S, EventListener, MediaLeg, OpenMedia, carry_media
from offhook.telephony.ports import CarrierRegistry, CarrierSpec, StatusUpdate
from offhook.voice.ports import CallResult

# How long a phone may ring at a carrier that connects the media before it is answered.
RING_TIMEOUT_S: Final = 650.0


@dataclass(frozen=True, slots=True)
class AdmittedCall:
    """A media connection whose token was right and is now spent."""

    organization_id: int
    run_id: int
    spec: CarrierSpec


class MediaAdmission:
    """``claim`` first, then ``carry_media``: between the two a websocket is accepted."""

    def __init__(
        self,
        db: Database,
        carriers: CarrierRegistry,
        live: LiveCallRegistry,
        reports: CallReports,
        line: CarrierCallControl,
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._live = live
        self._reports = reports
        self._line = line

    async def claim_token(self, run_id: int, token: str, provider: str) -> AdmittedCall:
        """Spend the token. CarrierUnknown (404) or MediaTokenRefused (401), and then nothing was changed."""
        spec = self._carriers.find(provider)
        if spec is None or spec.media.wire is None:
            raise CarrierUnknown
        async with self._db.transaction() as session:
            run = await media_tokens.claim_token(session, token, run_id=run_id, mode=provider)
        return AdmittedCall(run.organization_id, run.id, spec)

    async def carry_call(
        self, admission: AdmittedCall, open_media: OpenMedia, listener: EventListener | None = None
    ) -> CallResult | None:
        """Carry the admitted call to its end; a run whose media never came to be is over and has failed.

        Not so where the media comes before the answer: that it never began is then the carrier's to explain. A second
        socket of a run that another one carries is closed, and changes nothing.
        """
        spec = admission.spec
        assert spec.media.wire is not None
        is_told_otherwise = spec.media.has_early_media
        has_begun = False
        heard = ExitStack()

        async def connect_leg(leg: MediaLeg) -> LiveCall:
            nonlocal is_told_otherwise, has_begun
            has_begun = True
            try:
                call = await self._live.connect_leg(admission.run_id, leg)
            except RunNotConnectable:
                is_told_otherwise = True
                raise
            is_told_otherwise = False
            heard.enter_context(self._line.listen_while_live(spec, admission.organization_id, admission.run_id, leg))
            return call

        result = None
        try:
            within_s = RING_TIMEOUT_S if spec.media.has_early_media else START_TIMEOUT_S
            with heard:
                result = await carry_media(
                    open_media, spec.media.wire(), connect_leg, listener=listener, start_within_s=within_s
                )
        finally:
            if not has_begun and not is_told_otherwise:
                is_told_otherwise = await self._is_carried(admission)
            if result is not None or not is_told_otherwise:
                await self._line.end_call(spec, admission.organization_id, admission.run_id, result)
            if result is None and not is_told_otherwise:
                update = StatusUpdate("failed", end_reason="media_lost")
                await self._reports.report_status(admission.organization_id, admission.run_id, update)
        return result

    async def _is_carried(self, admission: AdmittedCall) -> bool:
        """By another socket than the one that never began."""
        async with self._db.transaction() as session:
            return await lease_queries.is_carried(session, admission.organization_id, admission.run_id)
