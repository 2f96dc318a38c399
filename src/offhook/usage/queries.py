"""Queries for sums by day and by agent, and for balances.

Statements are built once, because building one takes longer than sending it.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import date, datetime
from typing import Any, Final

from sqlalchemy import ARRAY, BigInteger, ColumnElement, Date, DateTime, Integer, any_, bindparam, cast, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.usage.tables import AgentDay, BillingAccount, OutcomeBucket, UsageBucket

_BOUNDARIES: Final = bindparam("boundaries", type_=ARRAY(DateTime(timezone=True)))
_ORGANIZATION: Final = bindparam("organization_id", type_=Integer)


def _number_of_day(table: type[UsageBucket] | type[OutcomeBucket]) -> ColumnElement[int]:
    """Numbers days from 1: the day before the first boundary would be 0."""
    return func.width_bucket(table.bucket_at, _BOUNDARIES)


def _period_conditions(table: type[UsageBucket] | type[OutcomeBucket]) -> list[ColumnElement[bool]]:
    return [
        table.organization_id == _ORGANIZATION,
        table.bucket_at >= bindparam("start", type_=DateTime(timezone=True)),
        table.bucket_at < bindparam("end", type_=DateTime(timezone=True)),
    ]


def _period_parameters(organization_id: int, boundaries: Sequence[datetime]) -> dict[str, object]:
    return {
        "organization_id": organization_id,
        "boundaries": list(boundaries),
        "start": boundaries[0],
        "end": boundaries[-1],
    }


def _sum_calls(table: type[UsageBucket] | type[OutcomeBucket] | type[AgentDay]) -> ColumnElement[int]:
    """Sums calls as integers: one row's runs fit, and PostgreSQL sums integers faster than with NUMERIC."""
    return func.sum(cast(table.calls, Integer))


def _sum_bigint(column: Any) -> ColumnElement[int]:
    return cast(func.sum(column), BigInteger)


_SUMS: Final = (
    select(
        _number_of_day(UsageBucket).label("day"),
        _sum_calls(UsageBucket).label("calls"),
        _sum_bigint(UsageBucket.duration_ms).label("duration_ms"),
        _sum_bigint(UsageBucket.cost_cents).label("cost_cents"),
    )
    .where(*_period_conditions(UsageBucket))
    .group_by(_number_of_day(UsageBucket))
)
_OUTCOME_CALLS: Final = _sum_calls(OutcomeBucket)
_OUTCOMES: Final = (
    select(_number_of_day(OutcomeBucket).label("day"), OutcomeBucket.outcome, _OUTCOME_CALLS.label("calls"))
    .where(*_period_conditions(OutcomeBucket))
    .group_by(_number_of_day(OutcomeBucket), OutcomeBucket.outcome)
    .having(_OUTCOME_CALLS != 0)
    .order_by(_OUTCOME_CALLS.desc(), OutcomeBucket.outcome)
)


async def by_day(session: AsyncSession, organization_id: int, boundaries: Sequence[datetime]) -> Mapping[int, Any]:
    """Returns calls, duration_ms and cost_cents by the number of the day (from 0) between these boundaries."""
    rows = await session.execute(_SUMS, _period_parameters(organization_id, boundaries))
    return {row.day - 1: row for row in rows}


async def outcomes_by_day(
    session: AsyncSession, organization_id: int, boundaries: Sequence[datetime]
) -> dict[int, dict[str, int]]:
    """Returns runs by outcome and by the number of the day (from 0) between these boundaries; most frequent first."""
    found: dict[int, dict[str, int]] = defaultdict(dict)
    for row in await session.execute(_OUTCOMES, _period_parameters(organization_id, boundaries)):
        found[row.day - 1][row.outcome] = row.calls
    return found


_SINCE: Final = (AgentDay.organization_id == _ORGANIZATION, AgentDay.day >= bindparam("since", type_=Date))
_TOTAL_CALLS: Final = _sum_calls(AgentDay)
_BUSIEST: Final = (
    select(AgentDay.workflow_id)
    .where(*_SINCE)
    .group_by(AgentDay.workflow_id)
    .having(_TOTAL_CALLS > 0)
    .order_by(_TOTAL_CALLS.desc(), AgentDay.workflow_id)
    .limit(bindparam("most", type_=Integer))
)
_BY_OUTCOME: Final = (
    select(
        AgentDay.workflow_id,
        AgentDay.outcome,
        _sum_calls(AgentDay).label("calls"),
        _sum_bigint(AgentDay.duration_ms).label("duration_ms"),
        _sum_bigint(AgentDay.cost_cents).label("cost_cents"),
    )
    .where(*_SINCE, AgentDay.workflow_id == any_(bindparam("workflow_ids", type_=ARRAY(Integer))))
    .group_by(AgentDay.workflow_id, AgentDay.outcome)
    .subquery()
)
_AGENTS: Final = (
    select(
        _BY_OUTCOME.c.workflow_id,
        *(_sum_bigint(_BY_OUTCOME.c[name]).label(name) for name in ("calls", "duration_ms", "cost_cents")),
        func.jsonb_object_agg(_BY_OUTCOME.c.outcome, _BY_OUTCOME.c.calls).label("outcomes"),
    )
    .group_by(_BY_OUTCOME.c.workflow_id)
    .order_by(func.sum(_BY_OUTCOME.c.calls).desc(), _BY_OUTCOME.c.workflow_id)
)


async def by_agent(session: AsyncSession, organization_id: int, since: date, limit: int) -> Sequence[Any]:
    """Returns ``(workflow_id, calls, duration_ms, cost_cents, outcomes)`` of the busiest agents since a UTC day."""
    its = {"organization_id": organization_id, "since": since}
    # Find the busiest by one sum first: thousands of agents have tens of thousands of rows, the busiest a few hundred.
    busiest = await session.scalars(_BUSIEST, its | {"most": limit})
    return (await session.execute(_AGENTS, its | {"workflow_ids": busiest.all()})).all()


async def load_balances(session: AsyncSession, organization_ids: Collection[int]) -> dict[int, int]:
    """Returns the balance in cents of those organizations that have an account."""
    rows = await session.execute(
        select(BillingAccount.organization_id, BillingAccount.balance_cents).where(
            BillingAccount.organization_id.in_(organization_ids)
        )
    )
    return {row[0]: row[1] for row in rows}
