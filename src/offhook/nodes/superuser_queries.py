"""Statements on what belongs to the installation and concerns all organizations: the numbers that the database assigns,
and recordings that wait on machines for upload."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from sqlalchemy import delete, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.nodes.queries import SILENT_AFTER
from offhook.nodes.tables import NodeRow, RecordingSpoolRow

_SEQUENCES: Final = text(
    "SELECT format('%I.%I', schemaname, sequencename) AS name, sequencename AS short_name,"
    " coalesce(last_value, start_value - 1) AS last, max_value AS highest"
    " FROM pg_sequences WHERE schemaname = current_schema() ORDER BY sequencename"
)


@dataclass(frozen=True, slots=True)
class NumberSequence:
    """Gives the rows of a table their numbers; ``last`` was given out, ``highest`` is the last one there is."""

    name: str
    short_name: str
    last: int
    highest: int


async def list_sequences(session: AsyncSession) -> list[NumberSequence]:
    rows = await session.execute(_SEQUENCES)
    return [NumberSequence(row.name, row.short_name, row.last, row.highest) for row in rows]


async def advance_sequence(session: AsyncSession, sequence: NumberSequence, last: int) -> None:
    """Continues after ``last``, or later where a process has taken numbers beyond it by now. No rollback undoes it."""
    await session.execute(
        text(
            f"SELECT setval(CAST(:name AS regclass), greatest(:last, last_value)) FROM {sequence.name}"  # noqa: S608
        ),
        {"name": sequence.name, "last": last},
    )


@dataclass(frozen=True, slots=True)
class WaitingRecordings:
    """Recordings of one folder that are not in the bucket. ``error``: why the last attempt failed, at ``failed_at``."""

    files: int
    bytes: int
    oldest_at: datetime
    error: str | None
    failed_at: datetime | None


@dataclass(frozen=True, slots=True)
class RecordingSpoolRecord:
    """A folder with waiting recordings. ``is_tried``: a running process uploads them; otherwise one last reported at ``seen_at``."""

    id: str
    node_id: str
    place: str
    files: int
    bytes: int
    oldest_at: datetime
    error: str | None
    failed_at: datetime | None
    seen_at: datetime
    is_tried: bool


async def write_spool(
    session: AsyncSession, spool_id: str, *, node_id: str, place: str, waiting: WaitingRecordings
) -> None:
    values = {
        "node_id": node_id,
        "place": place,
        "files": waiting.files,
        "bytes": waiting.bytes,
        "oldest_at": waiting.oldest_at,
        "error": waiting.error,
        "failed_at": waiting.failed_at,
    }
    row = insert(RecordingSpoolRow).values(id=spool_id, **values)
    await session.execute(
        row.on_conflict_do_update(
            index_elements=[RecordingSpoolRow.id], set_={**values, "seen_at": func.clock_timestamp()}
        )
    )


async def remove_spool(session: AsyncSession, spool_id: str) -> bool:
    """Deletes the row; returns False when there is none."""
    removed = await session.scalars(
        delete(RecordingSpoolRow).where(RecordingSpoolRow.id == spool_id).returning(RecordingSpoolRow.id)
    )
    return removed.one_or_none() is not None


async def list_spools(session: AsyncSession) -> list[RecordingSpoolRecord]:
    """Returns the folders in which recordings wait; those that have waited longest come first."""
    is_heard = NodeRow.beat_at > func.clock_timestamp() - SILENT_AFTER
    is_tried = select(NodeRow.id).where(NodeRow.id == RecordingSpoolRow.node_id, is_heard).exists()
    rows = await session.execute(
        select(RecordingSpoolRow, is_tried).order_by(RecordingSpoolRow.oldest_at, RecordingSpoolRow.id)
    )
    names = [name for name in RecordingSpoolRecord.__dataclass_fields__ if name != "is_tried"]
    return [RecordingSpoolRecord(**{name: getattr(row, name) for name in names}, is_tried=tried) for row, tried in rows]
