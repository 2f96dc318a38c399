"""Statements on rows whose columns are encrypted, or have to be, of any table of an organization."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from sqlalchemy import ColumnElement, Table, Text, case, cast, literal_column, or_, select, update
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql import func

from offhook.kit.database.database import Base
from offhook.orgs.data_keys.sealed_rows import SealedPart

_EMPTY_OBJECT: Final[ColumnElement[Any]] = literal_column("'{}'::jsonb")
_EMPTY_LIST: Final[ColumnElement[Any]] = literal_column("'[]'::jsonb")


async def list_encrypted(
    session: AsyncSession, organization_id: int, part: SealedPart, *, after: int, limit: int, is_locked: bool = True
) -> Sequence[Mapping[str, Any]]:
    """Returns the next encrypted rows. Each has its number as ``row_number``, and as ``run_id`` the run that it is about, if
    its table has such a column."""
    is_encrypted = _table(part).c[part.key_column].is_not(None)
    return await _list(session, organization_id, part, is_encrypted, after=after, limit=limit, is_locked=is_locked)


async def list_without_key(
    session: AsyncSession, organization_id: int, part: SealedPart, key_number: int, *, after: int, limit: int
) -> Sequence[Mapping[str, Any]]:
    """Returns the next rows with words that are plain, or encrypted with a key before this one."""
    columns = _table(part).c
    has_words = or_(*(_has_words(columns[name], part.plain_parts) for name in part.columns))
    is_older = columns[part.key_column] < key_number
    return await _list(session, organization_id, part, or_(is_older, has_words), after=after, limit=limit)


async def _list(
    session: AsyncSession,
    organization_id: int,
    part: SealedPart,
    condition: ColumnElement[bool],
    *,
    after: int,
    limit: int,
    is_locked: bool = True,
) -> Sequence[Mapping[str, Any]]:
    table, number = _table(part), number_column(part)
    names = {*part.columns, part.name_column, "organization_id", *part.own_columns}
    names |= {"run_id"} & set(table.columns.keys())
    statement = (
        select(number.label("row_number"), *(table.c[name] for name in sorted(names)))
        .where(table.c.organization_id == organization_id, number > after, condition)
        .order_by(number)
        .limit(limit)
    )
    # Rows that refer to a locked one, such as events of a run, can still be added.
    rows = await session.execute(statement.with_for_update(key_share=True) if is_locked else statement)
    return [dict(row) for row in rows.mappings()]


async def update_row(
    session: AsyncSession, organization_id: int, part: SealedPart, row_number: int, values: Mapping[str, Any]
) -> None:
    await session.execute(
        update(_table(part))
        .where(_table(part).c.organization_id == organization_id, number_column(part) == row_number)
        .values(dict(values))
    )


def number_column(part: SealedPart) -> ColumnElement[int]:
    """Returns the column with the number of a row."""
    (column,) = _table(part).primary_key.columns
    return column


def _has_words(column: ColumnElement[Any], plain_parts: frozenset[str]) -> ColumnElement[bool]:
    if not isinstance(column.type, JSONB):
        return column.is_not(None)
    kind = func.jsonb_typeof(column)
    words = column.op("-", return_type=JSONB)(cast(sorted(plain_parts), ARRAY(Text)))
    return case(
        (kind == "object", words != _EMPTY_OBJECT),
        (kind == "array", column != _EMPTY_LIST),
        else_=False,
    )


def _table(part: SealedPart) -> Table:
    return Base.metadata.tables[part.table]
