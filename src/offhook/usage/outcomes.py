"""How runs ended, by day and by agent: what finished runs add, and the sums."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import DateTime, Integer, any_, cast, func, literal, select
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.usage.tables import AgentDay, OutcomeBucket, RunUsage

_AGENT_SUMS: Final = ("calls", "duration_ms", "cost_cents")


class OutcomeSums:
    """What runs add to the sums of outcomes; a run that is told again is taken out as it was and given as it is."""

    def __init__(self) -> None:
        self._outcomes: Counter[tuple[datetime, str]] = Counter()
        self._agents: dict[tuple[date, int, str], Counter[str]] = defaultdict(Counter)

    def take(self, counted: RunUsage) -> None:
        self._add(counted, -1)

    def give(self, counted: RunUsage) -> None:
        self._add(counted, 1)

    def _add(self, counted: RunUsage, sign: int) -> None:
        self._outcomes[counted.bucket_at, counted.outcome] += sign
        agent = self._agents[counted.bucket_at.astimezone(UTC).date(), counted.workflow_id, counted.outcome]
        agent.update(
            {
                "calls": sign,
                "duration_ms": sign * counted.duration_ms,
                "cost_cents": sign * counted.cost_cents,
            }
        )

    async def write(self, session: AsyncSession, organization_id: int) -> None:
        """The caller holds the lock on the organisation's account, so that nobody else adds at the same time."""
        outcomes = [
            {"organization_id": organization_id, "bucket_at": bucket_at, "outcome": outcome, "calls": calls}
            for (bucket_at, outcome), calls in self._outcomes.items()
            if calls
        ]
        agents = [
            {"organization_id": organization_id, "day": day, "workflow_id": workflow_id, "outcome": outcome}
            | {name: sums[name] for name in _AGENT_SUMS}
            for (day, workflow_id, outcome), sums in self._agents.items()
            if any(sums.values())
        ]
        await _upsert(session, OutcomeBucket, outcomes, ("calls",))
        await _upsert(session, AgentDay, agents, _AGENT_SUMS)


async def _upsert(session: AsyncSession, table: Any, rows: Sequence[Mapping[str, Any]], sums: Sequence[str]) -> None:
    if not rows:
        return
    statement = insert(table).values(rows)
    added = {name: getattr(table, name) + statement.excluded[name] for name in sums}
    keys = table.__table__.primary_key.columns.keys()
    await session.execute(statement.on_conflict_do_update(index_elements=keys, set_=added))


async def by_day(
    session: AsyncSession, organization_id: int, boundaries: Sequence[datetime]
) -> dict[int, dict[str, int]]:
    """Runs by outcome, by the number of the day (from 0) between these boundaries; the most frequent first."""
    day = func.width_bucket(OutcomeBucket.bucket_at, literal(list(boundaries), ARRAY(DateTime(timezone=True))))
    calls = func.sum(OutcomeBucket.calls)
    rows = await session.execute(
        select((day - 1).label("day"), OutcomeBucket.outcome, calls.label("calls"))
        .where(
            OutcomeBucket.organization_id == organization_id,
            OutcomeBucket.bucket_at >= boundaries[0],
            OutcomeBucket.bucket_at < boundaries[-1],
        )
        .group_by(day, OutcomeBucket.outcome)
        .having(calls != 0)
        .order_by(calls.desc(), OutcomeBucket.outcome)
    )
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for row in rows:
        found[int(row.day)][row.outcome] = int(row.calls)
    return found


async def by_agent(session: AsyncSession, organization_id: int, since: date, limit: int) -> Sequence[Any]:
    """``(workflow_id, calls, duration_ms, cost_cents, outcomes)`` of the busiest agents since the UTC day ``since``."""
    its = (AgentDay.organization_id == organization_id, AgentDay.day >= since)
    most = func.sum(AgentDay.calls)
    # First who they are, by one sum: thousands of agents have tens of thousands of rows, the busiest a few hundred.
    busiest = await session.scalars(
        select(AgentDay.workflow_id)
        .where(*its)
        .group_by(AgentDay.workflow_id)
        .having(most > 0)
        .order_by(most.desc(), AgentDay.workflow_id)
        .limit(limit)
    )
    by_outcome = (
        select(
            AgentDay.workflow_id,
            AgentDay.outcome,
            *(func.sum(getattr(AgentDay, name)).label(name) for name in _AGENT_SUMS),
        )
        .where(*its, AgentDay.workflow_id == any_(cast(busiest.all(), ARRAY(Integer))))
        .group_by(AgentDay.workflow_id, AgentDay.outcome)
        .subquery()
    )
    columns = by_outcome.c
    rows = await session.execute(
        select(
            columns.workflow_id,
            *(func.sum(columns[name]).label(name) for name in _AGENT_SUMS),
            func.jsonb_object_agg(columns.outcome, columns.calls).label("outcomes"),
        )
        .group_by(columns.workflow_id)
        .order_by(func.sum(columns.calls).desc(), columns.workflow_id)
    )
    return rows.all()


def ordered(outcomes: Mapping[str, int | Decimal]) -> dict[str, int]:
    """The most frequent first; those that no run has any more are left out."""
    return dict(Counter({outcome: int(calls) for outcome, calls in outcomes.items() if calls}).most_common())
