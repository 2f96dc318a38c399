"""Starts drafts at their scheduled time, each at most once, on any worker."""

from datetime import datetime
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import start_queries
from offhook.campaigns.service import start_in_transaction
from offhook.campaigns.start_queries import DueStart
from offhook.campaigns.start_time import MAX_LATE
from offhook.campaigns.tables import Campaign
from offhook.campaigns.webhook_events import publish_not_started
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.event_bus import EventBus
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller, may_still_call, write_audit_entry

START_JOB: Final = "campaign.start_due"
BATCH: Final = 100
OVERDUE: Final = "overdue: No worker was running at the start time or for a day after it. Set another time, or start the campaign manually."
ACCESS_LOST: Final = (
    "access_lost: The person or API key that set this time no longer has permission to start campaigns."
    " Set the time again, or start the campaign manually."
)
log = structlog.get_logger(__name__)


class ScheduledStarts:
    """The job ``campaign.start_due``. A start, its dialing job, webhook event and audit entry are one transaction: a
    worker that dies before it ends has started nothing.
    """

    def __init__(self, db: Database, events: EventBus, clock: Clock) -> None:
        self._db = db
        self._events = events
        self._clock = clock

    async def run_start_job(self, _: JsonObject) -> None:
        """Starts every draft that is due; one that cannot be started does not hold up the others."""
        errors: list[Exception] = []
        after, now = 0, self._clock.now()
        while True:
            async with self._db.transaction() as session:
                found = await start_queries.list_due_starts(session, now, after=after, limit=BATCH)
            for due in found:
                try:
                    await self._start(due)
                except Exception as error:  # the job loop: raised after every other draft was looked at
                    log.exception("campaign_start_failed", campaign_id=due.campaign_id)
                    errors.append(error)
            if len(found) < BATCH:
                break
            after = found[-1].campaign_id
        if errors:
            raise errors[0]

    async def _start(self, due: DueStart) -> None:
        now, event = self._clock.now(), None
        async with self._db.transaction() as session:
            # First, for it locks the organization: changes of roles do so before anything else, too.
            has_access = await may_still_call(
                session, due.organization_id, user_id=due.set_by, key_id=due.set_by_key, now=now
            )
            campaign = await start_queries.lock_due_start(session, due)
            if campaign is None:  # another worker has it, or it was started, changed or called off
                return
            problem = OVERDUE if now - due.starts_at > MAX_LATE else None if has_access else ACCESS_LOST
            if problem is not None:
                await _refuse(session, campaign, due.starts_at, problem)
                return
            _, event = await start_in_transaction(session, due.organization_id, due.campaign_id, now)
            data = {
                "by": "schedule",
                "starts_at": due.starts_at.isoformat(),
                "set_by_user_id": due.set_by,
                "set_by_key_id": due.set_by_key,
            }
            caller = Caller.system(due.organization_id)
            await write_audit_entry(session, caller, "campaign.started", f"campaign:{due.campaign_id}", data)
        await self._events.publish(event)


async def _refuse(session: AsyncSession, campaign: Campaign, starts_at: datetime, problem: str) -> None:
    campaign.start_problem = problem
    await publish_not_started(session, campaign, starts_at, problem)
