"""The job that checks canaries: adds ended calls to the comparison, judges them, and ends canaries that are decided.

A look can be killed at any point and made twice at once. Places are given under the canary's lock and kept; the verdict is
computed from the calls in their order, from the first one on, so that every look at the same calls says the same; and a canary ends
by one conditional update.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.canary.comparison.judge import CallMeasures, CountedCall, Verdict
from offhook.canary.evidence import MAX_CALLS, CanaryEvidence, explain, judge_calls, read_settings
from offhook.jobs import enqueue
from offhook.jobs.registry import read_number
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.orgs import Caller
from offhook.runs.lists import measure_queries
from offhook.webhooks.service import publish_event
from offhook.workflows import WorkflowCanary
from offhook.workflows import service as workflows
from offhook.workflows.canaries import queries, service
from offhook.workflows.canaries.service import CanaryEnd

LOOK_JOB: Final = "canary.look"
SCHEDULE_JOB: Final = "canary.look_at_all"
LOOK_INTERVAL_S: Final = 20.0
MAX_EARLIER_CALLS: Final = 10_000
# Calls of one look; what is left waits for the next one.
MAX_SETTLED: Final = 2_000
# An analysis that takes longer is not waited for.
MAX_ANALYSIS_WAIT: Final = timedelta(hours=1)
EARLIER_DAYS: Final = "earlier_days"
SUCCESS_BY: Final = "success_by"
BY_RESULTS: Final = "results"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CanaryCase:
    """The data of one look, detached from any session."""

    organization_id: int
    canary_id: int
    workflow_id: int
    old_number: int
    new_number: int
    counted_calls: int
    settings: Mapping[str, Any]
    earlier: Sequence[CallMeasures]
    calls: Sequence[CountedCall]


class CanaryJob:
    """Handles the jobs ``canary.look_at_all`` and ``canary.look``."""

    def __init__(self, db: Database, clock: Clock) -> None:
        self._db = db
        self._clock = clock

    async def schedule_looks(self, _: JsonObject | None = None) -> None:
        async with self._db.transaction() as session:
            for organization_id, canary_id in await queries.list_running(session):
                payload = {"organization_id": organization_id, "canary_id": canary_id}
                await enqueue(session, LOOK_JOB, payload, dedupe_key=f"{LOOK_JOB}:{canary_id}")

    async def look(self, payload: JsonObject) -> None:
        organization_id, canary_id = read_number(payload, "organization_id"), read_number(payload, "canary_id")
        case = await self.settle_calls(organization_id, canary_id)
        if case is not None:
            await self.judge_case(case)

    async def judge_case(self, case: CanaryCase) -> None:
        """Judges calls that were read, and stores the verdict unless a later look or an end came first."""
        # in a thread: this loop renews leases of jobs
        verdict, evidence = await asyncio.to_thread(judge_calls, read_settings(case.settings), case.earlier, case.calls)
        await self._store(case, verdict, evidence)

    async def settle_calls(self, organization_id: int, canary_id: int) -> CanaryCase | None:
        """Gives calls that are over their place; returns what there is to judge, None when nothing is new."""
        now = self._clock.now()
        async with self._db.transaction() as session:
            canary = await queries.lock_running(session, organization_id, canary_id)
            if canary is None:
                return None
            if canary.looked_at is None:
                await _add_earlier(session, canary)
            await _settle_calls(session, canary, now)
            is_first, canary.looked_at = canary.looked_at is None, now
            await session.flush()
            if canary.counted_calls == canary.judged_calls and not is_first:
                return None
            return await _load_case(session, canary)

    async def _store(self, case: CanaryCase, verdict: Verdict, evidence: CanaryEvidence) -> None:
        now = self._clock.now()
        async with self._db.transaction() as session:
            if verdict.decision == "go_on":
                await queries.store_evidence(
                    session, case.organization_id, case.canary_id, case.counted_calls, {"evidence": evidence}
                )
                return
            explanation = explain(verdict, evidence, case.old_number, case.new_number)
            end = CanaryEnd(verdict.decision, verdict.reason, explanation)
            caller = Caller.system(case.organization_id)
            ended = await service.end_canary(
                session, caller, case.workflow_id, case.canary_id, end, now, evidence=evidence
            )
            if ended is None:
                return
            await publish_end(session, ended)
        log.info("canary_ended", canary_id=case.canary_id, decision=verdict.decision, reason=verdict.reason)


async def publish_end(session: AsyncSession, canary: WorkflowCanary) -> None:
    """Publishes the end of a canary to the organization's webhooks, in the transaction that ends it."""
    data = {
        "canary_id": canary.id,
        "workflow_id": canary.workflow_id,
        "state": canary.state,
        "version_number": canary.new_number,
        "old_version_number": canary.old_number,
        "reason": canary.reason,
        "explanation": canary.explanation,
    }
    await publish_event(session, canary.organization_id, "canary.ended", data, key=f"canary.ended:{canary.id}")


async def _add_earlier(session: AsyncSession, canary: WorkflowCanary) -> None:
    """Adds calls of the old version from before, one of each caller."""
    days = int(canary.settings.get(EARLIER_DAYS) or 0)
    if not days:
        return
    old = await workflows.version_to_run(session, canary.organization_id, canary.old_version_id)
    found = await measure_queries.measure_earlier_runs(
        session,
        canary.organization_id,
        canary.workflow_id,
        old.version_id,
        since=canary.started_at - timedelta(days=days),
        before=canary.started_at,
        limit=MAX_EARLIER_CALLS,
    )
    kept = {one.number or f"run {one.id}": one for one in reversed(found)}
    rows = [
        {
            "canary_id": canary.id,
            "run_id": one.id,
            "is_new": False,
            "is_earlier": True,
            "caller_key": None,
            "position": position,
            **asdict(_measures_of(one, canary)),
        }
        for position, one in enumerate(sorted(kept.values(), key=lambda one: one.id), start=1)
    ]
    await queries.add_calls(session, canary.organization_id, rows)


async def _settle_calls(session: AsyncSession, canary: WorkflowCanary, now: datetime) -> None:
    open_ids = await queries.list_open_calls(session, canary.organization_id, canary.id, limit=MAX_SETTLED)
    if not open_ids:
        return
    measured = await measure_queries.measure_runs(
        session, canary.organization_id, open_ids, judged_since=now - MAX_ANALYSIS_WAIT
    )
    over = sorted((one for one in measured if one.is_over), key=lambda one: (one.ended_at or now, one.id))
    callers = await queries.counted_callers(session, canary.organization_id, canary.id, [one.id for one in over])
    seen: set[int] = set()
    settled: dict[int, Mapping[str, object]] = {}
    for one in over:
        key, has_counted = callers[one.id]
        # calls of one person are not independent of each other: the first one counts
        if not one.has_conversation or has_counted or key in seen:
            settled[one.id] = {"position": 0}
            continue
        if key is not None:
            seen.add(key)
        canary.counted_calls += 1
        settled[one.id] = {"position": canary.counted_calls, **asdict(_measures_of(one, canary))}
    await queries.settle_calls(session, canary.organization_id, canary.id, settled)


def _measures_of(one: Any, canary: WorkflowCanary) -> CallMeasures:
    return CallMeasures(
        is_success=one.is_success if canary.settings.get(SUCCESS_BY) == BY_RESULTS else one.is_completed,
        has_failed=one.has_failed,
        has_complained=one.has_complained,
        seconds=one.seconds,
        answer_ms=one.answer_ms,
        cost_cents=one.cost_cents,
    )


async def _load_case(session: AsyncSession, canary: WorkflowCanary) -> CanaryCase:
    organization_id = canary.organization_id
    earlier = await queries.list_counted(session, organization_id, canary.id, is_earlier=True, limit=MAX_EARLIER_CALLS)
    calls = await queries.list_counted(session, organization_id, canary.id, is_earlier=False, limit=MAX_CALLS)
    return CanaryCase(
        organization_id=organization_id,
        canary_id=canary.id,
        workflow_id=canary.workflow_id,
        old_number=canary.old_number,
        new_number=canary.new_number,
        counted_calls=canary.counted_calls,
        settings=canary.settings,
        earlier=[_to_measures(row) for row in earlier],
        calls=[CountedCall(row.is_new, _to_measures(row)) for row in calls],
    )


def _to_measures(row: Any) -> CallMeasures:
    return CallMeasures(
        is_success=bool(row.is_success),
        has_failed=bool(row.has_failed),
        has_complained=bool(row.has_complained),
        seconds=None if row.seconds is None else float(row.seconds),
        answer_ms=row.answer_ms,
        cost_cents=row.cost_cents,
    )
