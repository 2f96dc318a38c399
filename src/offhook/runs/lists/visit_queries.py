"""Counts the nodes and edges that an agent's newest telephone calls took."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.artifacts.links import BROWSER
from offhook.runs.states import TEXT_CHAT
from offhook.runs.tables import Run, RunEvent
from offhook.voice.events import EDGE_TAKEN, NODE_ENTERED

# Of a call that never ends only its beginning is read.
MAX_EVENTS_PER_CALL: Final = 2000
# The page and its test panel; every other mode is a carrier.
_TESTS: Final = (BROWSER, TEXT_CHAT)


async def list_newest_calls(
    session: AsyncSession, organization_id: int, workflow_id: int, since: datetime, *, limit: int
) -> Sequence[int]:
    """Returns telephone calls of an agent that were talked on, newest first, from one index."""
    rows = await session.scalars(
        select(Run.id)
        .where(
            Run.organization_id == organization_id,
            Run.workflow_id == workflow_id,
            Run.created_at >= since,
            Run.mode.not_in(_TESTS),
            Run.duration > 0,
        )
        .order_by(Run.created_at.desc(), Run.id.desc())
        .limit(limit)
    )
    return rows.all()


async def count_visits(
    session: AsyncSession, organization_id: int, run_ids: Sequence[int]
) -> dict[tuple[str, str], int]:
    """Returns in how many of these runs each node was entered and each edge taken, by the event's type and the id."""
    part = func.coalesce(RunEvent.data["edge_id"].astext, RunEvent.data["node_id"].astext)
    rows = await session.execute(
        select(RunEvent.type, part, func.count(RunEvent.run_id.distinct()))
        .where(
            RunEvent.organization_id == organization_id,
            RunEvent.run_id.in_(run_ids),
            RunEvent.seq <= MAX_EVENTS_PER_CALL,
            RunEvent.type.in_((NODE_ENTERED, EDGE_TAKEN)),
            part.is_not(None),
        )
        .group_by(RunEvent.type, part)
    )
    return {(kind, part_id): count for kind, part_id, count in rows}
