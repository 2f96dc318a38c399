"""Queries for the median and the 95th percentile of response times, by day and by agent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ColumnElement,
    DateTime,
    Float,
    Integer,
    Select,
    bindparam,
    func,
    select,
    true,
)
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.tables import Run

# Only the newest runs of each day and of each agent count.
SAMPLE_SIZE: Final = 100
_MOMENTS: Final = ARRAY(DateTime(timezone=True))

_DAYS: Final = (
    func.unnest(bindparam("starts", type_=_MOMENTS), bindparam("ends", type_=_MOMENTS))
    .table_valued("since", "until", with_ordinality="number")
    .render_derived("days")
)
_AGENTS: Final = (
    func.unnest(bindparam("workflow_ids", type_=ARRAY(BigInteger))).table_valued("id").render_derived("agents")
)


def _answer_times_query(groups: Any, key: ColumnElement[Any], *conditions: ColumnElement[bool]) -> Select[Any]:
    """Selects ``key``, and the median and 95th percentile of its newest runs' median response times.

    Each statement is built once, because building it takes longer than sending it.
    """
    newest = (
        select(Run.answer_ms.cast(Float))
        .where(Run.organization_id == bindparam("organization_id", type_=Integer), *conditions)
        .where(Run.outcome.is_not(None), Run.duration > 0)
        .order_by(Run.created_at.desc(), Run.id.desc())
        .limit(SAMPLE_SIZE)
        .correlate(groups)
        .lateral("sampled")
    )
    answer_ms = newest.c.answer_ms
    return (
        select(
            key.label("key"),
            func.percentile_cont(0.5).within_group(answer_ms).label("p50"),
            func.percentile_cont(0.95).within_group(answer_ms).label("p95"),
        )
        .select_from(groups)
        .join(newest, true())
        .where(answer_ms.is_not(None))
        .group_by(key)
    )


_DAY_TIMES: Final = _answer_times_query(
    _DAYS, _DAYS.c.number, Run.created_at >= _DAYS.c.since, Run.created_at < _DAYS.c.until
)
_AGENT_TIMES: Final = _answer_times_query(
    _AGENTS,
    _AGENTS.c.id,
    Run.workflow_id == _AGENTS.c.id,
    Run.created_at >= bindparam("since", type_=DateTime(timezone=True)),
)


async def answer_times_by_day(
    session: AsyncSession, organization_id: int, between: Sequence[datetime]
) -> dict[int, Any]:
    """Returns ``(p50, p95)`` by day number between these times."""
    days = {"organization_id": organization_id, "starts": between[:-1], "ends": between[1:]}
    return {row.key - 1: row for row in await session.execute(_DAY_TIMES, days)}


async def answer_times_by_agent(
    session: AsyncSession, organization_id: int, workflow_ids: Sequence[int], since: datetime
) -> dict[int, Any]:
    """Returns ``(p50, p95)`` by agent for runs since then."""
    agents = {"organization_id": organization_id, "workflow_ids": workflow_ids, "since": since}
    return {row.key: row for row in await session.execute(_AGENT_TIMES, agents)}
