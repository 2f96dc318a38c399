"""Rows in every table that belongs to organizations, made from the schema: a new table has one without anyone thinking of it."""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from uuid import uuid4

from sqlalchemy import ARRAY, Column, Table, func, insert, select
from sqlalchemy.dialects.postgresql import JSONB, TSVECTOR
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.types import BigInteger, Boolean, Date, DateTime, Float, Integer, LargeBinary, Numeric, String, Uuid

from offhook.kit.database.database import Base
from offhook.privacy.tables import OrganizationDeletion

RECEIPTS = OrganizationDeletion.__tablename__


def owned_tables() -> list[Table]:
    """The tables of organizations, a table after those that it refers to."""
    return [
        table for table in Base.metadata.sorted_tables if "organization_id" in table.columns and table.name != RECEIPTS
    ]


async def count_rows(session: AsyncSession, organization_id: int) -> dict[str, int]:
    counts = {}
    for table in owned_tables():
        owner = table.c.organization_id == organization_id
        counts[table.name] = await session.scalar(select(func.count()).select_from(table).where(owner)) or 0
    return {name: count for name, count in counts.items() if count}


async def plant_rows(session: AsyncSession, organization_id: int, user_id: int, mark: str) -> None:
    """A row in each of these tables that has none; ``mark`` stands in each of its texts, the organization's number in each of its
    numbers."""
    for table in owned_tables():
        owner = table.c.organization_id == organization_id
        if await session.scalar(select(func.count()).select_from(table).where(owner)):
            continue
        values: dict[str, Any] = {"organization_id": organization_id}
        for constraint in sorted(table.foreign_key_constraints, key=lambda one: -len(one.columns)):
            parent = constraint.referred_table
            if parent.name == "organizations" or parent is table:
                continue
            of_parent = select(*(element.column for element in constraint.elements)).limit(1)
            if parent.name == "users":
                of_parent = of_parent.where(parent.c.id == user_id)
            elif "organization_id" in parent.columns:
                of_parent = of_parent.where(parent.c.organization_id == organization_id)
            row = (await session.execute(of_parent)).first()
            assert row is not None, f"{table.name} needs a row in {parent.name}"
            values.update({element.parent.name: value for element, value in zip(constraint.elements, row, strict=True)})
        for column in table.columns:
            if column.name not in values and _needs_value(column):
                values[column.name] = _value_for(column, mark, organization_id)
        try:
            await session.execute(insert(table).values(values))
        except IntegrityError as error:
            raise AssertionError(f"{table.name}: {error}") from error


def _needs_value(column: Column[Any]) -> bool:
    if (
        column.computed is not None
        or column.identity is not None
        or column.name in {"position", "previous_seal", "seal"}
    ):
        return column.name == "position" and not column.nullable
    if column.primary_key and column.autoincrement is not False and isinstance(column.type, Integer | BigInteger):
        return len(column.table.primary_key.columns) > 1
    return column.server_default is None and (isinstance(column.type, String) or not column.nullable)


def _value_for(column: Column[Any], mark: str, number: int) -> Any:
    kind = column.type
    if isinstance(kind, TSVECTOR):
        return func.to_tsvector("simple", mark)
    if isinstance(kind, JSONB):
        return {"planted": mark}
    if isinstance(kind, ARRAY):
        return []
    if isinstance(kind, String):
        return f"{mark}-{column.table.name}"[: kind.length or 100]
    for types, value in (
        (Boolean, False),
        (DateTime, datetime.now(UTC)),
        (Date, date(2026, 11, 25)),
        (LargeBinary, f"{mark}{column.table.name}{column.name}".encode()),
        (Numeric | Float, Decimal(1)),
        (Uuid, uuid4()),
        (Integer | BigInteger, number),
    ):
        if isinstance(kind, types):
            return value
    raise AssertionError(f"no value for {column}")
