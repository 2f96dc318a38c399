"""Deletes what is older than an organization or an agent keeps it, in short batches, in its own lane."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Final

import structlog
from prometheus_client import Counter
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns.deletion import CampaignEraser
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import StorageUnavailable
from offhook.kit.json_values import JsonObject
from offhook.orgs.audit_trail.trimming import trim_audit_log
from offhook.orgs.privacy_settings import retention
from offhook.orgs.privacy_settings.retention import RetainedKind, RetentionState
from offhook.privacy.retention import agent_periods
from offhook.privacy.retention.agent_periods import AgentRetentionState
from offhook.privacy.retention.past_partitions import PastPartitions
from offhook.runs.partitions.run_partitions import RunPartitions
from offhook.runs.records import retention_queries
from offhook.runs.records.deletion import RunEraser
from offhook.scenarios.answers.store import AnswerStore
from offhook.scenarios.plays.recordings import PlayRecordings

RETENTION_JOB: Final = "privacy.sweep_retention"
RETENTION_INTERVAL_S: Final = 1800.0
BATCH: Final = 200
# Of one organization and kind in one job: an old organization is swept over several jobs, and keeps no other waiting.
MAX_BATCHES: Final = 50
# Organizations in a row.
MAX_FAILURES: Final = 20
# Whole runs first: what they leave need not be swept twice.
_KINDS: Final[tuple[RetainedKind, ...]] = ("runs", "recordings", "transcripts")
SWEPT = Counter("offhook_retention_runs", "Runs that the retention sweep dealt with.", ("kind",))
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _RunPeriod:
    """What is swept of the runs of an organization, or of one agent; ``note`` stores how far."""

    organization_id: int
    workflow_id: int | None
    kind: RetainedKind
    days: int
    swept_until: datetime | None
    note: Callable[[AsyncSession, datetime], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class _Step:
    """A part of the sweep that fails alone."""

    organization_id: int
    kind: str
    run: Callable[[], Awaitable[None]]


class RetentionSweep:
    """One per process. A batch is swept at most twice: how far the sweep has come is stored after it."""

    def __init__(
        self,
        db: Database,
        clock: Clock,
        runs: RunEraser,
        campaigns: CampaignEraser,
        plays: PlayRecordings,
        partitions: RunPartitions,
        answers: AnswerStore,
        *,
        batch: int = BATCH,
    ) -> None:
        self._db = db
        self._past_partitions = PastPartitions(db, clock, partitions)
        self._plays = plays
        self._answers = answers
        self._clock = clock
        self._runs = runs
        self._campaigns = campaigns
        self._batch = batch

    async def sweep(self, _: JsonObject) -> None:
        """Runs the job ``privacy.sweep_retention``."""
        async with self._db.transaction() as session:
            states = await retention.list_retention(session)
            agents = await agent_periods.list_agent_periods(session)
        # First: the runs whose events went with their partition are quickly deleted.
        await self._past_partitions.drop()
        periods = [*_periods_of_organizations(states), *_periods_of_agents(agents, states)]
        # What needs no file storage goes before what fails without it.
        steps = [_Step(one.organization_id, "contacts", partial(self._sweep_contacts, one)) for one in states]
        steps += [_Step(one.organization_id, "audit", partial(self._sweep_audit_log, one)) for one in states]
        steps += [_Step(one.organization_id, one.kind, partial(self._sweep_period, one)) for one in periods]
        await _run_apart(steps)

    async def _sweep_period(self, period: _RunPeriod) -> None:
        if swept := await self._sweep_runs(period):
            self._log(period.organization_id, period.kind, swept, workflow_id=period.workflow_id)
        before = self._clock.now() - timedelta(days=period.days)
        if period.kind == "recordings":
            await self._plays.delete_older(period.organization_id, period.workflow_id, before)
        if period.kind == "transcripts":
            await self._answers.delete_older(period.organization_id, period.workflow_id, before)

    async def _sweep_runs(self, period: _RunPeriod) -> int:
        organization_id, workflow_id = period.organization_id, period.workflow_id
        before = self._clock.now() - timedelta(days=period.days)
        async with self._db.transaction() as session:
            live = await retention_queries.find_oldest_live(session, organization_id, workflow_id)
        # A run that is not over is swept after its end, and with it what is younger.
        before = before if live is None else min(before, live)
        until, swept = period.swept_until, 0
        # Runs that began at that very moment may have been left.
        after = None if until is None else (until, 0)
        for _ in range(MAX_BATCHES):
            async with self._db.transaction() as session:
                rows = await retention_queries.list_runs_between(
                    session, organization_id, workflow_id, after, before, limit=self._batch
                )
            if rows:
                await self._delete(organization_id, period.kind, [row.id for row in rows])
                SWEPT.labels(period.kind).inc(len(rows))
                swept += len(rows)
            is_done = len(rows) < self._batch
            after = (before, 0) if is_done else (rows[-1].created_at, rows[-1].id)
            if until is None or until < after[0]:
                async with self._db.transaction() as session:
                    await period.note(session, after[0])
            if is_done:
                break
        return swept

    async def _sweep_contacts(self, state: RetentionState) -> None:
        days = state.periods.contacts_days
        if days is not None:
            before = self._clock.now() - timedelta(days=days)
            if emptied := await self._campaigns.remove_old_contacts(state.organization_id, before):
                self._log(state.organization_id, "contacts", emptied)

    async def _sweep_audit_log(self, state: RetentionState) -> None:
        days = state.periods.audit_days
        if days is not None:
            # Once a day: each time leaves an entry in the log.
            today = self._clock.now().replace(hour=0, minute=0, second=0, microsecond=0)
            before = today - timedelta(days=days)
            if removed := await trim_audit_log(self._db, self._clock, state.organization_id, before):
                self._log(state.organization_id, "audit", removed)

    async def _delete(self, organization_id: int, kind: RetainedKind, run_ids: list[int]) -> None:
        if kind == "runs":
            await self._runs.erase_runs(organization_id, run_ids)
        elif kind == "recordings":
            await self._runs.erase_recordings(organization_id, run_ids)
        else:
            async with self._db.transaction() as session:
                await retention_queries.delete_words(session, organization_id, run_ids)

    def _log(self, organization_id: int, kind: str, count: int, workflow_id: int | None = None) -> None:
        log.info("retention_swept", organization_id=organization_id, workflow_id=workflow_id, kind=kind, count=count)


def _periods_of_organizations(states: Sequence[RetentionState]) -> Iterator[_RunPeriod]:
    for state in states:
        for kind in _KINDS:
            days = state.periods.days_of(kind)
            if days is not None:
                note = partial(_note_sweep, state.organization_id, kind)
                yield _RunPeriod(state.organization_id, None, kind, days, state.swept_until(kind), note)


def _periods_of_agents(
    agents: Sequence[AgentRetentionState], organizations: Sequence[RetentionState]
) -> Iterator[_RunPeriod]:
    """Yields the periods that are shorter than their organization's, which sweeps what is older."""
    periods = {state.organization_id: state.periods for state in organizations}
    for agent in agents:
        for kind in _KINDS:
            days = agent.periods.days_of(kind)
            common = periods[agent.organization_id].days_of(kind) if agent.organization_id in periods else None
            if days is not None and (common is None or days < common):
                note = partial(_note_agent_sweep, agent.organization_id, agent.workflow_id, kind)
                yield _RunPeriod(agent.organization_id, agent.workflow_id, kind, days, agent.swept_until(kind), note)


async def _note_sweep(organization_id: int, kind: RetainedKind, session: AsyncSession, until: datetime) -> None:
    await retention.note_sweep(session, organization_id, kind, until)


async def _note_agent_sweep(
    organization_id: int, workflow_id: int, kind: RetainedKind, session: AsyncSession, until: datetime
) -> None:
    await agent_periods.note_sweep(session, organization_id, workflow_id, kind, until)


async def _run_apart(steps: Sequence[_Step]) -> None:
    """Runs all steps; one that fails is left to the next sweep, and keeps those of others from nothing. Raises the last error
    when those of so many organizations fail in a row that the reason is none of theirs."""
    failing = set[int]()
    for step in steps:
        try:
            await step.run()
            failing.clear()
        except Exception as error:  # whatever one organization has
            failing.add(step.organization_id)
            if len(failing) >= MAX_FAILURES:
                raise
            if isinstance(error, StorageUnavailable):
                log.warning(
                    "retention_not_swept", organization_id=step.organization_id, kind=step.kind, error=str(error)
                )
            else:
                log.exception("retention_not_swept", organization_id=step.organization_id, kind=step.kind)
