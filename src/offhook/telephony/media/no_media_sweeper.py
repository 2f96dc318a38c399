"""Ends calls that a carrier connected and whose audio never arrived, so that the callee does not listen to silence."""

from typing import Final

import structlog

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.runs.records import carrier_call_queries
from offhook.telephony.calls.status_reports import MEDIA_NEVER_CAME, CallReports
from offhook.telephony.media.carrier_signals import CarrierCallControl
from offhook.telephony.ports import CarrierRegistry, StatusUpdate

# Time from the carrier's "answered", or from an inbound call, to its media socket: carriers take a second or two.
ANSWERED_TIMEOUT_S: Final = 30.0
INBOUND_TIMEOUT_S: Final = 60.0
log = structlog.get_logger(__name__)


class NoMediaSweeper:
    def __init__(
        self, db: Database, carriers: CarrierRegistry, reports: CallReports, line: CarrierCallControl, clock: Clock
    ) -> None:
        self._db = db
        self._carriers = carriers
        self._reports = reports
        self._line = line
        self._clock = clock

    async def run_job(self, _: JsonObject) -> None:
        """Runs the job ``telephony.end_unheard_calls``."""
        await self.end_calls()

    async def end_calls(self) -> list[int]:
        """Ends the calls and returns their runs."""
        modes = [spec.name for spec in self._carriers.specs if not spec.is_in_process]
        async with self._db.transaction() as session:
            lost = await carrier_call_queries.calls_without_media(
                session, modes, self._clock.now(), answered_s=ANSWERED_TIMEOUT_S, inbound_s=INBOUND_TIMEOUT_S
            )
        ended = []
        for mode, organization_id, run_id in lost:
            spec = self._carriers.find(mode)
            if spec is None:
                continue
            update = StatusUpdate("failed", end_reason=MEDIA_NEVER_CAME)
            if await self._reports.report_status(organization_id, run_id, update):
                await self._line.hang_up(spec, organization_id, run_id)
                ended.append(run_id)
        if ended:
            log.warning("no_media_calls_ended", run_ids=ended)
        return ended
