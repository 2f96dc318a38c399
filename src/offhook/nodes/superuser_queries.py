"""Statements on the numbers that the database gives out, of all tables and organizations."""

from dataclasses import dataclass
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

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
