"""Reads what an agent's newest telephone calls took: nodes, edges, keys, tools."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple

from sqlalchemy import func, select, tuple_
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.artifacts.links import BROWSER
from offhook.runs.records.event_cipher import open_events
from offhook.runs.records.event_queries import DATA_COLUMNS
from offhook.runs.states import TEXT_CHAT
from offhook.runs.tables import Run, RunEvent
from offhook.voice.events import EDGE_TAKEN, NODE_ENTERED, TOOL_ANSWERED
from offhook.workflows.analysis import EdgeCondition

# Of a call that never ends only its beginning is read.
MAX_EVENTS_PER_CALL: Final = 2000
# Answers whose names are encrypted; 20 take about a millisecond.
MAX_DECRYPTED: Final = 2000
DECRYPTION_BATCH: Final = 20
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


class ToolAnswer(NamedTuple):
    """A function that answered in a run; ``has_failed``: with an error."""

    run_id: int
    name: str
    has_failed: bool


@dataclass(frozen=True, slots=True)
class VisitCounts:
    """In how many runs each node was entered and each edge taken, by id. ``conditions``: with words, and with a key."""

    nodes: Mapping[str, int]
    edges: Mapping[str, int]
    conditions: Mapping[tuple[str, EdgeCondition], int]


async def count_visits(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> VisitCounts:
    """Returns what these runs took, from one reading of their events."""
    part = func.coalesce(RunEvent.data["edge_id"].astext, RunEvent.data["node_id"].astext)
    by_key = RunEvent.data["by"].astext.is_not_distinct_from("dtmf")
    # one row for each part, and one for each part with how it was taken
    is_whole = func.grouping(by_key)
    rows = await session.execute(
        select(RunEvent.type, part, by_key, is_whole, func.count(RunEvent.run_id.distinct()))
        .where(
            RunEvent.organization_id == organization_id,
            RunEvent.run_id.in_(run_ids),
            RunEvent.seq <= MAX_EVENTS_PER_CALL,
            RunEvent.type.in_((NODE_ENTERED, EDGE_TAKEN)),
            part.is_not(None),
        )
        .group_by(func.grouping_sets(tuple_(RunEvent.type, part), tuple_(RunEvent.type, part, by_key)))
    )
    nodes: dict[str, int] = {}
    edges: dict[str, int] = {}
    conditions: dict[tuple[str, EdgeCondition], int] = {}
    for kind, part_id, is_keyed, whole, count in rows:
        if whole:
            (edges if kind == EDGE_TAKEN else nodes)[part_id] = count
        elif kind == EDGE_TAKEN:
            conditions[part_id, "key" if is_keyed else "words"] = count
    return VisitCounts(nodes, edges, conditions)


async def list_tool_answers(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> list[ToolAnswer]:
    """Returns which functions answered in these runs. Names are words of a call: of encrypted ones the newest are
    decrypted, and left out without the key; those of runs whose words were deleted are gone."""
    name, failed = RunEvent.data["name"].astext, func.bool_or(RunEvent.data["ok"].astext != "true")
    of_these = (
        RunEvent.organization_id == organization_id,
        RunEvent.run_id.in_(run_ids),
        RunEvent.seq <= MAX_EVENTS_PER_CALL,
        RunEvent.type == TOOL_ANSWERED,
    )
    plain = await session.execute(
        select(RunEvent.run_id, name, failed).where(*of_these, name.is_not(None)).group_by(RunEvent.run_id, name)
    )
    answers = [ToolAnswer(*row) for row in plain]
    sealed = await session.execute(
        select(*DATA_COLUMNS)
        .where(*of_these, RunEvent.sealed.is_not(None))
        .order_by(RunEvent.run_id.desc(), RunEvent.seq)
        .limit(MAX_DECRYPTED)
    )
    events = sealed.all()
    for at in range(0, len(events), DECRYPTION_BATCH):
        batch = events[at : at + DECRYPTION_BATCH]
        opened = await open_events(session, organization_id, batch, is_lenient=True)
        answers += [
            ToolAnswer(event.run_id, str(data["name"]), not data["ok"])
            for event, data in zip(batch, opened, strict=True)
            if data.get("name") is not None
        ]
        # calls in this process have their turn
        await asyncio.sleep(0)
    return answers
