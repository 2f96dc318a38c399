"""Statements about the journals of calls."""

from collections.abc import Sequence

from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.tables import RunJournal


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
