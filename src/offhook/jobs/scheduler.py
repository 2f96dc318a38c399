"""Starts scheduled jobs: the first worker to advance a schedule's row inserts its job, in one transaction."""

import asyncio

import structlog
from sqlalchemy import text

from offhook.jobs.queue import enqueue
from offhook.jobs.registry import ScheduledJob
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS

log = structlog.get_logger(__name__)


async def run_schedules(db: Database, schedules: list[ScheduledJob]) -> None:
    """Ticks until canceled. A database outage costs ticks, not the scheduler."""
    if not schedules:
        return
    period_s = max(0.1, min(schedule.every_s for schedule in schedules) / 2)
    while True:
        try:
            await start_due(db, schedules)
        except DATABASE_ERRORS as error:
            log.warning("schedules_not_started", error=str(error))
        await asyncio.sleep(period_s)


async def start_due(db: Database, schedules: list[ScheduledJob]) -> list[str]:
    """Inserts a job for every due schedule and returns their names. A job that still waits or runs is skipped."""
    async with db.transaction() as session:
        due = await session.execute(
            text(
                "INSERT INTO job_schedules AS schedule (name, next_at)"
                " SELECT name, now() + make_interval(secs => every_s)"
                " FROM unnest(CAST(:names AS text[]), CAST(:every_s AS float8[])) AS wanted (name, every_s)"
                " WHERE NOT EXISTS (SELECT FROM job_schedules later WHERE later.name = wanted.name"
                "   AND later.next_at > now())"
                " ORDER BY name"
                " ON CONFLICT (name) DO UPDATE SET next_at = excluded.next_at WHERE schedule.next_at <= now()"
                " RETURNING name"
            ),
            {"names": [s.name for s in schedules], "every_s": [s.every_s for s in schedules]},
        )
        return [
            name
            for name in due.scalars().all()
            if await enqueue(session, name, {}, dedupe_key=f"schedule:{name}") is not None
        ]
