"""Publishes campaign events to webhooks exactly once, in the transaction that changes the campaign."""

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.events import CampaignStatusChanged
from offhook.campaigns.tables import Campaign
from offhook.webhooks import service as webhooks


async def publish_status_changed(session: AsyncSession, event: CampaignStatusChanged) -> None:
    """Publishes ``campaign.status_changed`` for every change, and ``campaign.completed`` when a campaign completes."""
    data = {
        "campaign_id": event.campaign_id,
        "name": event.name,
        "status": event.status,
        "previous_status": event.before,
        "reason": event.reason,
    }
    await webhooks.publish_event(session, event.organization_id, "campaign.status_changed", data)
    if event.status == "completed":
        key = f"campaign.completed:{event.campaign_id}"
        await webhooks.publish_event(session, event.organization_id, "campaign.completed", data, key=key)


async def publish_not_started(session: AsyncSession, campaign: Campaign, starts_at: datetime, reason: str) -> None:
    """Publishes ``campaign.not_started`` for a draft that did not start at its time."""
    data = {
        "campaign_id": campaign.id,
        "name": campaign.name,
        "status": campaign.status,
        "starts_at": starts_at.isoformat(),
        "reason": reason,
    }
    await webhooks.publish_event(session, campaign.organization_id, "campaign.not_started", data)
