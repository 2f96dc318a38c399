"""The report: one row per call session, read in pages of one transaction each, so that its length costs no memory."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from offhook.campaigns import repository, service
from offhook.campaigns.tables import Campaign
from offhook.kit.database.database import Database
from offhook.runs.artifacts.links import RunLinks
from offhook.runs.lists import call_summaries

LEADING_COLUMNS: Final = ("contact_id", "phone_number")
CALL_COLUMNS: Final = (
    "outcome", "attempts", "duration_seconds", "started_at", "ended_at", "transcript_summary", "result", "is_success",
)  # fmt: skip
TRAILING_COLUMNS: Final = ("run_id", "recording_url")
PHONE: Final = "phone_number"
_PAGE: Final = 500


@dataclass(frozen=True, slots=True)
class ReportPeriod:
    """Sessions that began from ``start`` on and before ``end``; None: no bound."""

    start: datetime | None = None
    end: datetime | None = None


class CampaignReport:
    """The report of one campaign; ``extracted`` are the variables that any of its calls extracted."""

    def __init__(
        self, db: Database, links: RunLinks, campaign: Campaign, period: ReportPeriod, extracted: Sequence[str]
    ) -> None:
        self._db = db
        self._links = links
        self._campaign = campaign
        self._period = period
        self._extracted = extracted
        self._columns = [name for name in campaign.columns if name != PHONE]

    @property
    def header(self) -> tuple[str, ...]:
        return (*LEADING_COLUMNS, *self._columns, *CALL_COLUMNS, *self._extracted, *TRAILING_COLUMNS)

    async def stream_rows(self) -> AsyncIterator[Sequence[Any]]:
        after, organization_id = (-1, 0), self._campaign.organization_id
        while True:
            async with self._db.transaction() as session:
                found = await repository.sessions_after(
                    session,
                    organization_id,
                    self._campaign.id,
                    after=after,
                    started=(self._period.start, self._period.end),
                    limit=_PAGE,
                )
                ids = [row.run_id for row in found if row.run_id is not None]
                calls = await call_summaries.load_session_facts(session, organization_id, ids)
            for row in found:
                if row.run_id in calls:
                    yield self._build_row(row, calls[row.run_id])
            if not found:
                return
            after = found[-1].row_number, found[-1].id

    def _build_row(self, row: Any, call: call_summaries.SessionFacts) -> list[Any]:
        return [
            row.id,
            row.phone_number,
            *(row.variables.get(name) for name in self._columns),
            row.outcome,
            row.dials,
            call.duration_s,
            call.started_at or row.reserved_at,
            call.ended_at or row.ended_at,
            call.summary,
            call.result,
            call.is_success,
            *(call.extracted.get(name) for name in self._extracted),
            row.run_id,
            self._links.sign_artifact_link("recording", call.workflow_id, row.run_id) if call.has_recording else None,
        ]


class CampaignReports:
    """Opens campaign reports. One per process."""

    def __init__(self, db: Database) -> None:
        self._db = db

    async def open_report(
        self, links: RunLinks, organization_id: int, campaign_id: int, period: ReportPeriod
    ) -> CampaignReport:
        """Returns the report of a campaign; its rows are read while they are sent. Raises CampaignNotFound (404)."""
        async with self._db.transaction() as session:
            campaign = await service.get_campaign(session, organization_id, campaign_id)
            names = await call_summaries.campaign_extracted_names(
                session, organization_id, campaign.workflow_id, campaign.id, since=campaign.created_at
            )
        taken = {*LEADING_COLUMNS, *campaign.columns, *CALL_COLUMNS, *TRAILING_COLUMNS}
        return CampaignReport(self._db, links, campaign, period, [name for name in names if name not in taken])
