"""Statements on rows whose columns are encrypted, or have to be, of any table of an organization."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, inspect, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs.data_keys.sealed_rows import SealedModel


async def list_rows(
    session: AsyncSession,
    organization_id: int,
    model: SealedModel,
    *,
    after: int,
    limit: int,
    without_key: int | None = None,
    is_locked: bool = True,
) -> Sequence[Mapping[str, Any]]:
    """Returns the next encrypted rows, locked unless they are only read; ``without_key``: those that are plain or have a key before this one. Each
    has its number as ``row_number``, and as ``run_id`` the run that it is about, if it has one."""
    table = _table(model)
    number = number_column(model)
    condition: ColumnElement[bool] = table.c.key_number.is_not(None)
    if without_key is not None:
        condition = or_(table.c.key_number.is_(None), table.c.key_number < without_key)
    names = {*model.sealed_columns, model.sealed_name, "organization_id", "key_number", "sealed"}
    names |= {"run_id"} & set(table.columns.keys())
    statement = (
        select(number.label("row_number"), *(table.c[name] for name in sorted(names)))
        .where(table.c.organization_id == organization_id, number > after, condition)
        .order_by(number)
        .limit(limit)
    )
    rows = await session.execute(statement.with_for_update() if is_locked else statement)
    return [dict(row) for row in rows.mappings()]


async def update_row(
    session: AsyncSession, organization_id: int, model: SealedModel, row_number: int, values: Mapping[str, Any]
) -> None:
    table = _table(model)
    await session.execute(
        update(table)
        .where(table.c.organization_id == organization_id, number_column(model) == row_number)
        .values(dict(values))
    )


def number_column(model: SealedModel) -> ColumnElement[int]:
    """Returns the column with the number of a row."""
    (column,) = _table(model).primary_key.columns
    return column


def _table(model: SealedModel) -> Table:
    table: Table = inspect(model).local_table
    return table
