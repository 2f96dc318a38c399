"""Deletes what is older than an organization keeps it, in short batches, in a lane of its own."""

from datetime import timedelta
from typing import Final

import structlog
from prometheus_client import Counter

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.orgs.privacy_settings import retention
from offhook.orgs.privacy_settings.retention import RetainedKind, RetentionState
from offhook.runs.records import retention_queries
from offhook.runs.records.deletion import RunEraser

RETENTION_JOB: Final = "privacy.sweep_retention"
RETENTION_INTERVAL_S: Final = 1800.0
BATCH: Final = 200
# Of one organization and kind in one job: an old organization is swept over several jobs, and keeps no other waiting.
MAX_BATCHES: Final = 50
SWEPT = Counter("offhook_retention_runs", "Runs that the retention sweep dealt with.", ("kind",))
log = structlog.get_logger(__name__)


class RetentionSweep:
    """One per process. A batch is swept at most twice: how far the sweep has come is stored after it."""

    def __init__(self, db: Database, clock: Clock, runs: RunEraser, *, batch: int = BATCH) -> None:
        self._db = db
        self._clock = clock
        self._runs = runs
        self._batch = batch

    async def sweep(self, _: JsonObject) -> None:
        """Runs the job ``privacy.sweep_retention``."""
        async with self._db.transaction() as session:
            states = await retention.list_retention(session)
        for state in states:
            # Whole runs first: what they leave need not be swept twice.
            for kind in ("runs", "recordings", "transcripts"):
                swept = await self._sweep_kind(state, kind)
                if swept:
                    log.info("retention_swept", organization_id=state.organization_id, kind=kind, runs=swept)

    async def _sweep_kind(self, state: RetentionState, kind: RetainedKind) -> int:
        days = state.days_of(kind)
        if days is None:
            return 0
        before = self._clock.now() - timedelta(days=days)
        async with self._db.transaction() as session:
            live = await retention_queries.find_oldest_live(session, state.organization_id)
        # A run that is not over is swept after its end, and with it what is younger.
        before = before if live is None else min(before, live)
        until, swept = state.swept_until(kind), 0
        # Runs that began at that very moment may have been left.
        after = None if until is None else (until, 0)
        for _ in range(MAX_BATCHES):
            async with self._db.transaction() as session:
                rows = await retention_queries.list_runs_between(
                    session, state.organization_id, after, before, limit=self._batch
                )
            if rows:
                await self._delete(state.organization_id, kind, [row.id for row in rows])
                SWEPT.labels(kind).inc(len(rows))
                swept += len(rows)
            is_done = len(rows) < self._batch
            after = (before, 0) if is_done else (rows[-1].created_at, rows[-1].id)
            if until is None or until < after[0]:
                async with self._db.transaction() as session:
                    await retention.note_sweep(session, state.organization_id, kind, after[0])
            if is_done:
                break
        return swept

    async def _delete(self, organization_id: int, kind: RetainedKind, run_ids: list[int]) -> None:
        if kind == "runs":
            await self._runs.erase_runs(organization_id, run_ids)
        elif kind == "recordings":
            await self._runs.erase_recordings(organization_id, run_ids)
        else:
            async with self._db.transaction() as session:
                await retention_queries.delete_words(session, organization_id, run_ids)
