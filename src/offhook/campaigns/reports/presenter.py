"""A campaign as it is shown: its rules with their defaults, its progress, and what the world allows it now."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.reports.progress import CampaignProgress, load_progress_by_campaign
from offhook.campaigns.rules.hours import calling_window, parse_calling_hours
from offhook.campaigns.rules.slots import effective_cap
from offhook.campaigns.tables import Campaign
from offhook.errors import DomainError
from offhook.kit.clock import Clock
from offhook.runs.call_limits import call_capacity
from offhook.telephony import OutboundCalls
from offhook.workflows import service as workflows

_UNCHANGED_FIELDS = (
    "id", "name", "workflow_id", "status", "contacts_file_key", "columns", "max_concurrency",
    "telephony_configuration_id", "calling_hours", "retry_config", "voicemail", "spend_cap_cents",
    "parent_campaign_id", "failure_reason", "created_at", "started_at", "completed_at",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CarrierCapacity:
    """What a carrier account lets through; None: it does not limit."""

    numbers: int | None = None
    calls_per_second: float | None = None


def compat_state(status: str) -> str:
    """Dograh's word for a status."""
    return "created" if status == "draft" else status


class CampaignPresenter:
    """One per process."""

    def __init__(self, outbound: OutboundCalls, clock: Clock) -> None:
        self._outbound = outbound
        self._clock = clock

    async def present(self, session: AsyncSession, campaign: Campaign) -> dict[str, Any]:
        return (await self.present_many(session, campaign.organization_id, [campaign]))[0]

    async def present_many(
        self, session: AsyncSession, organization_id: int, campaigns: Sequence[Campaign]
    ) -> list[dict[str, Any]]:
        """As the answers show them, in a handful of queries however many they are."""
        names = await workflows.names_of(session, organization_id, {campaign.workflow_id for campaign in campaigns})
        counted = await load_progress_by_campaign(session, organization_id, [campaign.id for campaign in campaigns])
        limit = (await call_capacity(session, organization_id)).limit
        capacities = {
            configuration: await self.load_capacity(session, organization_id, configuration)
            for configuration in {campaign.telephony_configuration_id for campaign in campaigns}
        }
        now = self._clock.now()
        return [
            {
                **{name: getattr(campaign, name) for name in _UNCHANGED_FIELDS},
                "workflow_name": names.get(campaign.workflow_id, ""),
                "state": compat_state(campaign.status),
                "source_type": "csv",
                "source_id": campaign.contacts_file_key,
                "circuit_breaker": campaign.circuit_breaker or {},
                "destinations": campaign.destinations or {},
                "effective_max_concurrency": effective_cap(campaign.max_concurrency, limit, capacity.numbers),
                "progress": build_progress_record(campaign, counted[campaign.id], capacity),
                "next_open_at": next_open_at(campaign, now),
            }
            for campaign in campaigns
            for capacity in [capacities[campaign.telephony_configuration_id]]
        ]

    async def present_progress(self, session: AsyncSession, campaign: Campaign) -> dict[str, Any]:
        """The progress record."""
        counted = await load_progress_by_campaign(session, campaign.organization_id, [campaign.id])
        configuration = campaign.telephony_configuration_id
        capacity = await self.load_capacity(session, campaign.organization_id, configuration)
        return build_progress_record(campaign, counted[campaign.id], capacity)

    async def load_capacity(
        self, session: AsyncSession, organization_id: int, configuration_id: int | None
    ) -> CarrierCapacity:
        """No limit of the carrier's while there is no such account: then nothing is dialled anyway."""
        try:
            return CarrierCapacity(*await self._outbound.load_capacity(session, organization_id, configuration_id))
        except DomainError:
            return CarrierCapacity()


def build_progress_record(campaign: Campaign, progress: CampaignProgress, capacity: CarrierCapacity) -> dict[str, Any]:
    """The progress record: the specification's fields and Dograh's."""
    total = progress.total_contacts
    return {
        "total_contacts": total,
        "dialled": progress.dialled,
        "answered": progress.answered,
        "completed": progress.completed,
        "failed": progress.failed,
        "pending": progress.pending,
        "in_progress": progress.in_progress,
        "status": campaign.status,
        "outcomes": dict(progress.outcomes),
        "campaign_id": campaign.id,
        "state": compat_state(campaign.status),
        "total_rows": total,
        "processed_rows": progress.completed,
        "failed_calls": progress.failed,
        "progress_percentage": round(100 * progress.completed / total, 2) if total else 0.0,
        # A campaign exists from the moment on when all of its contacts do.
        "source_sync": {"status": "completed", "last_synced_at": campaign.created_at},
        "rate_limit": capacity.calls_per_second,
        "started_at": campaign.started_at,
        "completed_at": campaign.completed_at,
    }


def next_open_at(campaign: Campaign, now: datetime) -> datetime | None:
    """When the campaign's own calling hours open; None while they are open, or when they never do."""
    hours = parse_calling_hours(campaign.calling_hours)
    if hours is None or campaign.status in {"completed", "failed"}:
        return None
    found = calling_window(replace(hours, in_callee_zone=False), now)
    return None if found.is_open else found.until
