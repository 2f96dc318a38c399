"""Statements about the journals of calls."""

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.tables import Run, RunJournal


class JournaledRun(NamedTuple):
    """A run with or without a journal; ``omitted`` is why one is empty."""

    run_id: int
    mode: str
    has_journal: bool
    omitted: str | None


async def add_journal(session: AsyncSession, journal: RunJournal) -> None:
    """Stores a journal, unless the run has one."""
    values = {
        column.key: getattr(journal, column.key)
        for column in RunJournal.__table__.columns
        if column.key != "created_at"
    }
    await session.execute(insert(RunJournal).values(values).on_conflict_do_nothing())


async def find_journal(session: AsyncSession, organization_id: int, run_id: int) -> RunJournal | None:
    owner = RunJournal.organization_id == organization_id
    return await session.scalar(select(RunJournal).where(owner, RunJournal.run_id == run_id))


async def has_journal(session: AsyncSession, organization_id: int, run_id: int) -> bool:
    """Returns whether the run has a journal that is not empty."""
    owner = RunJournal.organization_id == organization_id
    found = select(RunJournal.run_id).where(owner, RunJournal.run_id == run_id, RunJournal.omitted.is_(None))
    return await session.scalar(found) is not None


async def list_runs(
    session: AsyncSession, organization_id: int, workflow_id: int, since: datetime, until: datetime, *, limit: int
) -> Sequence[JournaledRun]:
    """Returns the runs of an agent that were created in this time, newest first."""
    rows = await session.execute(
        select(Run.id, Run.mode, RunJournal.run_id.is_not(None), RunJournal.omitted)
        .outerjoin(RunJournal, RunJournal.run_id == Run.id)
        .where(
            Run.organization_id == organization_id,
            Run.workflow_id == workflow_id,
            Run.created_at >= since,
            Run.created_at < until,
        )
        .order_by(Run.created_at.desc(), Run.id.desc())
        .limit(limit)
    )
    return [JournaledRun(*row) for row in rows]


async def list_with_older_keys(
    session: AsyncSession, organization_id: int, key_number: int, *, limit: int
) -> Sequence[RunJournal]:
    """Returns journals that are encrypted with a key before this one."""
    owner = RunJournal.organization_id == organization_id
    rows = select(RunJournal).where(owner, RunJournal.key_number < key_number).order_by(RunJournal.run_id).limit(limit)
    return (await session.scalars(rows)).all()


async def replace_sealed(
    session: AsyncSession, organization_id: int, run_id: int, key_number: int, sealed: bytes
) -> None:
    owner = RunJournal.organization_id == organization_id
    await session.execute(
        update(RunJournal).where(owner, RunJournal.run_id == run_id).values(key_number=key_number, sealed=sealed)
    )


async def delete_journal(session: AsyncSession, organization_id: int, run_id: int) -> None:
    owner = RunJournal.organization_id == organization_id
    await session.execute(delete(RunJournal).where(owner, RunJournal.run_id == run_id))
