"""Renders campaigns for the API: their rules with defaults, their progress, and the limits that apply now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.reports.progress import CampaignProgress, load_progress_by_campaign
from offhook.campaigns.rules.hours import calling_window, parse_calling_hours
from offhook.campaigns.rules.slots import effective_cap
from offhook.campaigns.schemas import CampaignResponse, ProgressRecord, SourceSync
from offhook.campaigns.tables import Campaign
from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.runs.call_limits import call_capacity
from offhook.telephony import OutboundCalls
from offhook.workflows import service as workflows


@dataclass(frozen=True, slots=True)
class CarrierCapacity:
    """The limits of a carrier account; None: no limit."""

    numbers: int | None = None
    calls_per_second: float | None = None


class CampaignPresenter:
    """Renders campaigns for answers. One per process."""

    def __init__(self, outbound: OutboundCalls, clock: Clock) -> None:
        self._outbound = outbound
        self._clock = clock

    async def present(self, session: AsyncSession, campaign: Campaign) -> CampaignResponse:
        """Returns one campaign as the answers show it."""
        return (await self.present_many(session, campaign.organization_id, [campaign]))[0]

    async def present_many(
        self, session: AsyncSession, organization_id: int, campaigns: Sequence[Campaign]
    ) -> list[CampaignResponse]:
        """Returns campaigns as the answers show them, in a handful of queries regardless of their number."""
        names = await workflows.names_of(session, organization_id, {campaign.workflow_id for campaign in campaigns})
        counted = await load_progress_by_campaign(session, organization_id, [campaign.id for campaign in campaigns])
        limit = (await call_capacity(session, organization_id)).limit
        capacities = {
            configuration: await self.load_capacity(session, organization_id, configuration)
            for configuration in {campaign.telephony_configuration_id for campaign in campaigns}
        }
        now = self._clock.now()
        return [
            CampaignResponse(
                id=campaign.id,
                name=campaign.name,
                workflow_id=campaign.workflow_id,
                workflow_name=names.get(campaign.workflow_id, ""),
                status=campaign.status,
                state=_compat_state(campaign.status),
                contacts_file_key=campaign.contacts_file_key,
                source_type="csv",
                source_id=campaign.contacts_file_key,
                columns=campaign.columns,
                max_concurrency=campaign.max_concurrency,
                effective_max_concurrency=effective_cap(campaign.max_concurrency, limit, capacity.numbers),
                telephony_configuration_id=campaign.telephony_configuration_id,
                calling_hours=campaign.calling_hours,
                retry_config=campaign.retry_config,
                circuit_breaker=campaign.circuit_breaker or {},
                destinations=campaign.destinations or {},
                voicemail=campaign.voicemail,
                spend_cap_cents=campaign.spend_cap_cents,
                progress=_progress_record(campaign, counted[campaign.id], capacity),
                parent_campaign_id=campaign.parent_campaign_id,
                failure_reason=campaign.failure_reason,
                next_open_at=_next_opening(campaign, now),
                created_at=campaign.created_at,
                starts_at=campaign.starts_at,
                start_problem=campaign.start_problem,
                started_at=campaign.started_at,
                completed_at=campaign.completed_at,
            )
            for campaign in campaigns
            for capacity in [capacities[campaign.telephony_configuration_id]]
        ]

    async def present_progress(self, session: AsyncSession, campaign: Campaign) -> ProgressRecord:
        """Returns the progress of one campaign."""
        counted = await load_progress_by_campaign(session, campaign.organization_id, [campaign.id])
        configuration = campaign.telephony_configuration_id
        capacity = await self.load_capacity(session, campaign.organization_id, configuration)
        return _progress_record(campaign, counted[campaign.id], capacity)

    async def load_capacity(
        self, session: AsyncSession, organization_id: int, configuration_id: int | None
    ) -> CarrierCapacity:
        """Returns the limits of a carrier account; none for a missing account, which places no calls."""
        try:
            return CarrierCapacity(*await self._outbound.load_capacity(session, organization_id, configuration_id))
        except DomainError:
            return CarrierCapacity()


def _compat_state(status: str) -> str:
    """Returns a status by the name that Dograh's clients know."""
    return "created" if status == "draft" else status


def _progress_record(campaign: Campaign, progress: CampaignProgress, capacity: CarrierCapacity) -> ProgressRecord:
    total = progress.total_contacts
    return ProgressRecord(
        total_contacts=total,
        dialled=progress.dialed,
        answered=progress.answered,
        completed=progress.completed,
        failed=progress.failed,
        pending=progress.pending,
        in_progress=progress.in_progress,
        status=campaign.status,
        outcomes=dict(progress.outcomes),
        campaign_id=campaign.id,
        state=_compat_state(campaign.status),
        total_rows=total,
        processed_rows=progress.completed,
        failed_calls=progress.failed,
        progress_percentage=round(100 * progress.completed / total, 2) if total else 0.0,
        # A campaign is created together with all of its contacts.
        source_sync=SourceSync(status="completed", last_synced_at=campaign.created_at),
        rate_limit=capacity.calls_per_second,
        started_at=campaign.started_at,
        completed_at=campaign.completed_at,
    )


def _next_opening(campaign: Campaign, now: datetime) -> datetime | None:
    """Returns when the campaign's own calling hours open; None while they are open, or if they never open."""
    hours = parse_calling_hours(campaign.calling_hours)
    if hours is None or campaign.status in {"completed", "failed"}:
        return None
    window = calling_window(replace(hours, in_callee_zone=False), now)
    return None if window.is_open else window.until
