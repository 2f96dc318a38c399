"""Enqueues jobs and inspects the queue; ``worker`` runs them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from pgqueuer.adapters.persistence.qb import QueryQueueBuilder
from prometheus_client import Gauge
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject

MAX_OVERDUE_S = 60
QUEUED_JOBS = Gauge("offhook_queued_jobs", "Jobs of the installation that are due and wait, as a worker read them.")
OLDEST_JOB = Gauge("offhook_oldest_job_seconds", "How long the oldest of them has waited.")
TWIN = "offhook.jobs.twin"
_ENQUEUE = QueryQueueBuilder().build_enqueue_query("skip")


class QueueTwin(Protocol):
    """Stands in for the queue table when attached to a session (see ``memory_queue``)."""

    def add(self, name: str, payload: Mapping[str, object], delay_s: float, dedupe_key: str | None) -> int | None: ...


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job whose last attempt failed; it is kept for a month or until it is requeued."""

    id: int
    name: str
    payload: Mapping[str, object]
    attempts: int
    error: str | None
    created_at: datetime


async def enqueue(
    session: AsyncSession,
    name: str,
    payload: Mapping[str, object],
    *,
    delay_s: float = 0,
    dedupe_key: str | None = None,
) -> int | None:
    """Inserts a job in the session's transaction: it exists once that commits, and not if it rolls back.

    Returns the job's id. ``payload`` is plain JSON. With a ``dedupe_key``, nothing is inserted and None is returned
    while a job with that key waits *or runs*; a running job may already have read what you just changed, so give
    such a change a key of its own.
    """
    twin: QueueTwin | None = session.info.get(TWIN)
    if twin is not None:
        return twin.add(name, payload, delay_s, dedupe_key)
    connection = await session.connection()
    rows = await connection.exec_driver_sql(
        _ENQUEUE, ([0], [name], [json.dumps(payload).encode()], [timedelta(seconds=delay_s)], [dedupe_key], ["null"])
    )
    row = rows.first()
    return None if row is None else int(row.id)


async def is_healthy(db: Database) -> bool:
    """Returns whether the queue responds and, when work has waited for over a minute, a worker is taking jobs."""
    async with db.transaction() as session:
        found = await session.execute(
            text(
                "SELECT NOT EXISTS (SELECT FROM pgqueuer WHERE status = 'queued'"
                "   AND execute_after < now() - make_interval(secs => :overdue))"
                " OR EXISTS (SELECT FROM pgqueuer_log WHERE status = 'picked'"
                "   AND created > now() - make_interval(secs => :overdue))"
            ),
            {"overdue": MAX_OVERDUE_S},
        )
        return bool(found.scalar_one())


@dataclass(frozen=True, slots=True)
class Backlog:
    """The jobs that are due and wait for a worker; ``oldest_s`` is None without any."""

    queued: int
    oldest_s: float | None


async def observe_backlog(session: AsyncSession) -> None:
    """Reads the backlog for monitors. The beat of a worker calls it."""
    backlog = await read_backlog(session)
    QUEUED_JOBS.set(backlog.queued)
    OLDEST_JOB.set(backlog.oldest_s or 0.0)


async def read_backlog(session: AsyncSession) -> Backlog:
    found = await session.execute(
        text(
            "SELECT count(*) AS queued, extract(epoch FROM now() - min(execute_after)) AS oldest_s"
            " FROM pgqueuer WHERE status = 'queued' AND execute_after <= now()"
        )
    )
    row = found.one()
    return Backlog(row.queued, None if row.oldest_s is None else round(float(row.oldest_s), 1))


async def failed_jobs(session: AsyncSession, *, limit: int = 100) -> list[FailedJob]:
    """Returns jobs that failed permanently, newest first, each with its last error."""
    rows = await session.execute(
        text(
            "SELECT job.id, job.entrypoint, job.payload, job.attempts, job.created,"
            "  (SELECT traceback ->> 'exception_message' FROM pgqueuer_log WHERE job_id = job.id"
            "   AND traceback IS NOT NULL ORDER BY created DESC LIMIT 1) AS error"
            " FROM pgqueuer job WHERE status = 'failed' ORDER BY job.id DESC LIMIT :limit"
        ),
        {"limit": limit},
    )
    return [
        FailedJob(row.id, row.entrypoint, json.loads(row.payload or b"{}"), row.attempts, row.error, row.created)
        for row in rows
    ]


async def requeue_failed_job(session: AsyncSession, job_id: int) -> bool:
    """Restarts a failed job from its first attempt; returns False if there is no such failed job."""
    return bool(await _requeue(session, job_id))


async def requeue_failed_jobs(session: AsyncSession) -> int:
    """Restarts every failed job from its first attempt and returns how many there were."""
    return await _requeue(session, None)


async def _requeue(session: AsyncSession, job_id: int | None) -> int:
    """Only one job with a key may wait or run, but any number may have failed: where one waits or runs, or a later one is
    restarted too, the job goes without its key."""
    done = await session.execute(
        text(
            "WITH ranked AS ("
            "  SELECT id, row_number() OVER (PARTITION BY dedupe_key ORDER BY status = 'failed', id DESC) AS place"
            "  FROM pgqueuer WHERE status IN ('queued', 'picked')"
            "   OR status = 'failed' AND (CAST(:id AS bigint) IS NULL OR id = :id))"
            " UPDATE pgqueuer job SET status = 'queued', execute_after = now(), updated = now(), attempts = 0,"
            "  queue_manager_id = NULL, dedupe_key = CASE WHEN place = 1 THEN dedupe_key END"
            " FROM ranked WHERE job.id = ranked.id AND status = 'failed' RETURNING job.id"
        ),
        {"id": job_id},
    )
    return len(done.all())


async def prune_queue(db: Database, _: JsonObject) -> None:
    """Prunes the queue, as a job: finished jobs after two weeks, failed jobs after a month, statistics after three."""
    async with db.transaction() as session:
        await session.execute(text("DELETE FROM pgqueuer_log WHERE created < now() - interval '14 days'"))
        await session.execute(text("DELETE FROM pgqueuer_statistics WHERE created < now() - interval '90 days'"))
        await session.execute(
            text("DELETE FROM pgqueuer WHERE status = 'failed' AND updated < now() - interval '30 days'")
        )
