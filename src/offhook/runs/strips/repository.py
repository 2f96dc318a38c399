"""Queries for call strips. Every one takes the organization."""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import or_, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs.records.event_cipher import open_events
from offhook.runs.records.event_queries import DATA_COLUMNS
from offhook.runs.states import FINAL_STATES
from offhook.runs.strips.timeline import EVENT_TYPES
from offhook.runs.tables import Run, RunEvent, RunStrip
from offhook.voice.events import AGENT_SAID

# Of one run; a strip has fewer marks than that.
_MAX_EVENTS = 2000

TimedEvent = tuple[str, int, JsonObject]


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """A run that a strip can be measured of; ``duration`` in seconds."""

    id: int
    recording_key: str | None
    duration: float


@dataclass(frozen=True, slots=True)
class MeasuredRun:
    """What the answer times of a run are counted under."""

    workflow_id: int
    mode: str
    usage: JsonObject
    created_at: datetime


async def read_strips(session: AsyncSession, organization_id: int, run_ids: Collection[int]) -> list[RunStrip]:
    """Returns the strips that were measured."""
    found = await session.scalars(
        select(RunStrip).where(RunStrip.organization_id == organization_id, RunStrip.run_id.in_(run_ids))
    )
    return list(found)


async def has_recording(session: AsyncSession, organization_id: int, run_id: int) -> bool:
    """Returns whether the run exists and has a recording, as far as the database knows."""
    found = select(Run.id).where(
        Run.id == run_id, Run.organization_id == organization_id, Run.recording_key.is_not(None)
    )
    return await session.scalar(found) is not None


async def find_finished_runs(
    session: AsyncSession, organization_id: int, run_ids: Collection[int]
) -> dict[int, FinishedRun]:
    """Returns those of the organization's runs that are over, with nothing left to be written."""
    rows = await session.execute(
        select(Run.id, Run.recording_key, Run.duration).where(
            Run.organization_id == organization_id,
            Run.id.in_(run_ids),
            Run.status.in_(sorted(FINAL_STATES)),
            ~Run.is_leased,
        )
    )
    return {row.id: FinishedRun(row.id, row.recording_key, float(row.duration or 0)) for row in rows}


async def read_strip_events(
    session: AsyncSession, organization_id: int, run_ids: Sequence[int]
) -> dict[int, list[TimedEvent]]:
    """Returns the events that strips show, by run, in order."""
    rows = (
        await session.execute(
            select(RunEvent.type, RunEvent.at_ms, *DATA_COLUMNS)
            .where(
                RunEvent.run_id.in_(run_ids),
                RunEvent.organization_id == organization_id,
                RunEvent.type.in_(EVENT_TYPES),
                or_(RunEvent.type != AGENT_SAID, RunEvent.data.has_key("timing")),
            )
            .order_by(RunEvent.run_id, RunEvent.seq)
            .limit(_MAX_EVENTS * len(run_ids))
        )
    ).all()
    events: dict[int, list[TimedEvent]] = defaultdict(list)
    opened = await open_events(session, organization_id, rows, is_lenient=True)
    for row, data in zip(rows, opened, strict=True):
        events[row.run_id].append((row.type, row.at_ms, data))
    return events


async def keep_strip(
    session: AsyncSession, organization_id: int, strip: RunStrip, recording_key: str | None
) -> MeasuredRun | None:
    """Stores a strip and returns its run. Returns None and stores nothing when another request was faster, when the run
    is gone, and when the recording that was measured has been deleted since."""
    found = await session.execute(
        select(Run.workflow_id, Run.mode, Run.usage, Run.created_at)
        .where(
            Run.id == strip.run_id,
            Run.organization_id == organization_id,
            Run.recording_key.is_not_distinct_from(recording_key),
        )
        .with_for_update(read=True)
    )
    run = found.one_or_none()
    if run is None:
        return None
    values = {
        column.key: getattr(strip, column.key) for column in RunStrip.__table__.columns if column.key != "created_at"
    }
    statement = insert(RunStrip).values(values).on_conflict_do_nothing().returning(RunStrip.run_id)
    if await session.scalar(statement) is None:
        return None
    return MeasuredRun(run.workflow_id, run.mode, run.usage, run.created_at)
