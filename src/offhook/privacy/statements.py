"""Statements on every table that can hold a phone number, built from the schema: domains cannot forget one of theirs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from sqlalchemy import RowMapping, Table, and_, cast, delete, exists, func, or_, select, text, update
from sqlalchemy import Text as TextType
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Base
from offhook.privacy.places import RUN_ENDS, RUNS, SearchedTable

_LIVE_STATES: Final = ("initiated", "ringing", "in_progress")


def _table(name: str) -> Table:
    return Base.metadata.tables[name]


async def has_own_number(session: AsyncSession, organization_id: int, forms: Collection[str]) -> bool:
    """Returns whether the number is one of the organization's own."""
    numbers = _table("phone_numbers")
    found = select(numbers.c.id).where(
        numbers.c.organization_id == organization_id, numbers.c.address_normalized.in_(forms)
    )
    return (await session.execute(found.limit(1))).first() is not None


async def find_runs(session: AsyncSession, organization_id: int, forms: Collection[str], *, limit: int) -> list[int]:
    """Returns the first runs about the number: calls with it at one end, and conversations without a phone whose
    contexts have it as a value."""
    runs, values = _table(RUNS), _table("run_values")
    is_end = or_(*(runs.c[name].in_(forms) for name in RUN_ENDS))
    has_value = exists().where(
        values.c.run_id == runs.c.id, values.c.organization_id == organization_id, values.c.value.in_(forms)
    )
    has_no_phone = and_(*(runs.c[name].is_(None) for name in RUN_ENDS))
    rows = await session.scalars(
        select(runs.c.id)
        .where(runs.c.organization_id == organization_id, or_(is_end, and_(has_no_phone, has_value)))
        .order_by(runs.c.id)
        .limit(limit)
    )
    return list(rows)


async def has_live_call(session: AsyncSession, organization_id: int, forms: Collection[str]) -> bool:
    """Returns whether the number is on a call, or a campaign is about to dial it."""
    runs, contacts = _table(RUNS), _table("campaign_contacts")
    live = select(runs.c.id).where(
        runs.c.organization_id == organization_id,
        or_(runs.c.status.in_(_LIVE_STATES), runs.c.lease_until.is_not(None)),
        or_(*(runs.c[name].in_(forms) for name in RUN_ENDS)),
    )
    dialed = select(contacts.c.id).where(
        contacts.c.organization_id == organization_id,
        contacts.c.phone_number.in_(forms),
        contacts.c.state == "calling",
    )
    return bool(await session.scalar(select(or_(exists(live), exists(dialed)))))


async def read_rows(
    session: AsyncSession, organization_id: int, name: str, columns: Sequence[str], forms: Collection[Any]
) -> Sequence[RowMapping]:
    """Returns the rows of a table that have one of the forms in one of the columns."""
    table = _table(name)
    rows = await session.execute(
        select(table)
        .where(table.c.organization_id == organization_id, or_(*(table.c[column].in_(forms) for column in columns)))
        .order_by(*table.primary_key.columns)
    )
    return rows.mappings().all()


async def delete_rows(
    session: AsyncSession, organization_id: int, name: str, columns: Sequence[str], forms: Collection[str]
) -> int:
    """Deletes the rows of a table that have one of the forms in one of the columns, and returns how many."""
    table = _table(name)
    done = await session.execute(
        delete(table)
        .where(table.c.organization_id == organization_id, or_(*(table.c[column].in_(forms) for column in columns)))
        .returning(*table.primary_key.columns)
    )
    return len(done.all())


async def list_run_ids(session: AsyncSession, organization_id: int, *, after: int, limit: int) -> list[int]:
    """Returns the next runs of the organization."""
    runs = _table(RUNS)
    rows = select(runs.c.id).where(runs.c.organization_id == organization_id, runs.c.id > after)
    return list(await session.scalars(rows.order_by(runs.c.id).limit(limit)))


async def find_mentions(
    session: AsyncSession,
    organization_id: int,
    searched: SearchedTable,
    pattern: str,
    run_ids: Sequence[int] | None = None,
) -> Sequence[RowMapping]:
    """Returns the rows whose text may have the number, with their key and their columns."""
    if not searched.columns:
        return []
    conditions = [
        searched.organization == organization_id,
        or_(*(cast(column, TextType).op("~*")(pattern) for column in searched.columns)),
    ]
    if run_ids is not None:
        conditions.append(searched.table.c.run_id.in_(run_ids))
    keys = searched.table.primary_key.columns
    owner = [searched.table.c.run_id] if "run_id" in searched.table.columns else []
    columns = {column.name: column for column in (*keys, *owner, *searched.columns)}
    rows = await session.execute(select(*columns.values()).where(*conditions))
    return rows.mappings().all()


async def update_row(
    session: AsyncSession, organization_id: int, searched: SearchedTable, row: RowMapping, values: Mapping[str, Any]
) -> None:
    """Writes new values of one row."""
    key = [column == row[column.name] for column in searched.table.primary_key.columns]
    await session.execute(
        update(searched.table).where(searched.organization == organization_id, *key).values(dict(values))
    )


async def erase_words(
    session: AsyncSession, organization_id: int, searched: SearchedTable, core: str, pattern: str
) -> int:
    """Removes the number from the search indexes of a table and returns how many rows changed."""
    changed = 0
    for column in searched.words:
        lexemes = select(func.unnest(func.tsvector_to_array(column)).label("word")).subquery("lexemes")
        found = select(func.array_agg(lexemes.c.word)).where(lexemes.c.word.op("~")(pattern)).scalar_subquery()
        done = await session.execute(
            update(searched.table)
            .where(searched.organization == organization_id, cast(column, TextType).op("~")(core))
            .values({column.name: func.ts_delete(column, func.coalesce(found, text("'{}'::text[]")))})
            .returning(searched.organization)
        )
        changed += len(done.all())
    return changed


async def empty_webhook_events(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> int:
    """Takes everything but the number of the run from the events about these runs. The events stay, as customers
    count them."""
    events = _table("webhook_events")
    run_id = events.c.data["run_id"].astext
    done = await session.execute(
        update(events)
        .where(events.c.organization_id == organization_id, run_id.in_([str(number) for number in run_ids]))
        .values(
            data=func.jsonb_build_object("run_id", events.c.data["run_id"], "is_erased", True),
            key_number=None,
            sealed=None,
        )
        .returning(events.c.id)
    )
    return len(done.all())


async def delete_jobs(session: AsyncSession, organization_id: int, pattern: str) -> int:
    """Deletes the organization's jobs that name the number, and returns how many."""
    done = await session.execute(
        text(
            "DELETE FROM pgqueuer WHERE convert_from(payload, 'UTF8') ~* :pattern"
            " AND convert_from(payload, 'UTF8')::jsonb ->> 'organization_id' = :organization_id RETURNING id"
        ),
        {"pattern": pattern, "organization_id": str(organization_id)},
    )
    return len(done.all())


async def read_run_rows(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> dict[str, list[Any]]:
    """Returns what the database has about these runs, by table."""
    tables: dict[str, list[Any]] = {}
    for name in (
        RUNS, "run_events", "run_analyses", "run_reviews", "run_cost_lines", "node_webhook_deliveries",
        "campaign_attempts",
    ):  # fmt: skip
        table = _table(name)
        key = table.c.id if name == RUNS else table.c.run_id
        rows = await session.execute(
            select(table)
            .where(table.c.organization_id == organization_id, key.in_(run_ids))
            .order_by(*table.primary_key.columns)
        )
        tables[name] = [dict(row) for row in rows.mappings()]
    return tables
