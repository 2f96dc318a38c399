"""Statements on events whose words are encrypted, or have to be."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from sqlalchemy import ARRAY, BigInteger, Integer, LargeBinary, Text, bindparam, func, or_, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.runs.records.event_cipher import SealedData
from offhook.runs.records.retention_queries import FACTS
from offhook.runs.tables import Run, RunEvent, RunText


@dataclass(frozen=True, slots=True)
class WordEvent:
    """An event as it is stored."""

    run_id: int
    seq: int
    data: JsonObject
    created_at: datetime
    key_number: int | None
    sealed: bytes | None


# What rewrites the words of calls waits for others that do: one that read them before would undo what was done since.
_LOCK: Final = text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.run_words', :organization_id))")
_REPLACE: Final = text(
    "UPDATE run_events SET data = CAST(new.data AS jsonb), key_number = new.key_number, sealed = new.sealed"
    " FROM unnest(:run_ids, :seqs, :data, :key_numbers, :sealed) AS new(run_id, seq, data, key_number, sealed)"
    " WHERE run_events.run_id = new.run_id AND run_events.seq = new.seq"
    " AND run_events.organization_id = :organization_id"
).bindparams(
    bindparam("run_ids", type_=ARRAY(BigInteger)),
    bindparam("seqs", type_=ARRAY(Integer)),
    bindparam("data", type_=ARRAY(Text)),
    bindparam("key_numbers", type_=ARRAY(Integer)),
    bindparam("sealed", type_=ARRAY(LargeBinary)),
)
_COLUMNS: Final = tuple(getattr(RunEvent, name) for name in WordEvent.__dataclass_fields__)


async def lock_words(session: AsyncSession, organization_id: int) -> None:
    """Waits for other transactions that rewrite the words of this organization's calls."""
    await session.execute(_LOCK, {"organization_id": organization_id})


async def list_run_ids(session: AsyncSession, organization_id: int, *, after: int, limit: int) -> Sequence[int]:
    rows = select(Run.id).where(Run.organization_id == organization_id, Run.id > after).order_by(Run.id).limit(limit)
    return (await session.scalars(rows)).all()


async def count_runs(session: AsyncSession, organization_id: int) -> int:
    counted = await session.scalar(select(func.count()).select_from(Run).where(Run.organization_id == organization_id))
    return counted or 0


async def list_without_key(
    session: AsyncSession, organization_id: int, run_ids: Collection[int], key_number: int
) -> list[WordEvent]:
    """Returns the events with words of these runs that are plain, or encrypted with a key before this one."""
    return await _list(
        session,
        organization_id,
        run_ids,
        RunEvent.type.not_in(sorted(FACTS)),
        or_(RunEvent.key_number.is_(None), RunEvent.key_number < key_number),
    )


async def list_encrypted(session: AsyncSession, organization_id: int, run_ids: Collection[int]) -> list[WordEvent]:
    return await _list(session, organization_id, run_ids, RunEvent.key_number.is_not(None))


async def _list(
    session: AsyncSession, organization_id: int, run_ids: Collection[int], *conditions: Any
) -> list[WordEvent]:
    rows = await session.execute(
        select(*_COLUMNS)
        .where(RunEvent.organization_id == organization_id, RunEvent.run_id.in_(run_ids), *conditions)
        .order_by(RunEvent.run_id, RunEvent.seq)
    )
    return [WordEvent(*row) for row in rows]


async def replace_data(
    session: AsyncSession, organization_id: int, changes: Sequence[tuple[WordEvent, SealedData]]
) -> None:
    """Stores the data of these events in place of what they have."""
    if not changes:
        return
    values = {
        "organization_id": organization_id,
        "run_ids": [event.run_id for event, _ in changes],
        "seqs": [event.seq for event, _ in changes],
        "data": [part.data_json for _, part in changes],
        "key_numbers": [part.key_number for _, part in changes],
        "sealed": [part.sealed for _, part in changes],
    }
    await session.execute(_REPLACE, values)


async def list_indexed(
    session: AsyncSession, organization_id: int, run_ids: Collection[int], *, before: int | None = None
) -> Sequence[int]:
    """Returns those of these runs that search finds; ``before``: whose index is plain or has a key before this one."""
    rows = select(RunText.run_id).where(RunText.organization_id == organization_id, RunText.run_id.in_(run_ids))
    if before is not None:
        rows = rows.where(or_(RunText.key_number.is_(None), RunText.key_number < before))
    return (await session.scalars(rows.order_by(RunText.run_id))).all()
