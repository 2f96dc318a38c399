"""What customers' webhooks are told of campaigns, in the transaction that changes the campaign: told once, or not at all."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.events import CampaignStatusChanged
from offhook.webhooks import service as webhooks


async def publish_status_changed(session: AsyncSession, news: CampaignStatusChanged) -> None:
    """``campaign.status_changed`` for every change, and ``campaign.completed`` for the last one of a good end."""
    data = {
        "campaign_id": news.campaign_id,
        "name": news.name,
        "status": news.status,
        "previous_status": news.before,
        "reason": news.reason,
    }
    await webhooks.publish_event(session, news.organization_id, "campaign.status_changed", data)
    if news.status == "completed":
        key = f"campaign.completed:{news.campaign_id}"
        await webhooks.publish_event(session, news.organization_id, "campaign.completed", data, key=key)
