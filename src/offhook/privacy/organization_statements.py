"""Statements on everything that an organization has, built from the schema: domains cannot forget one of their tables."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    ColumnElement,
    DateTime,
    Select,
    Table,
    and_,
    case,
    delete,
    exists,
    func,
    literal_column,
    not_,
    or_,
    select,
    text,
    tuple_,
    update,
)
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Base
from offhook.privacy.tables import OrganizationDeletion

_LIVE_STATES: Final = ("initiated", "ringing", "in_progress")
_TEXT_CHAT: Final = "textchat"
_STOPPED_CAMPAIGNS: Final = ("draft", "paused", "completed", "failed")
_BEING_DELETED: Final = "The organization is being deleted."
# What people know what they delete by.
_COUNTED: Final = {
    "agents": "workflows",
    "runs": "runs",
    "documents": "knowledge_documents",
    "campaigns": "campaigns",
    "contacts": "campaign_contacts",
    "phone_numbers": "phone_numbers",
    "members": "members",
    "api_keys": "api_keys",
}


def list_tables() -> list[str]:
    """Returns the tables whose rows belong to organizations, a table before those that it refers to."""
    owned = [table.name for table in Base.metadata.sorted_tables if "organization_id" in table.columns]
    return [name for name in reversed(owned) if name != OrganizationDeletion.__tablename__]


def _table(name: str) -> Table:
    return Base.metadata.tables[name]


async def has_live_run(session: AsyncSession, organization_id: int) -> bool:
    """Returns whether a call or chat of the organization is not over."""
    runs = _table("runs")
    is_open = or_(runs.c.status.in_(_LIVE_STATES), runs.c.lease_until.is_not(None))
    return bool(await session.scalar(select(exists().where(runs.c.organization_id == organization_id, is_open))))


def _waits_for_message(now: datetime) -> ColumnElement[bool]:
    """Selects text chats in which nothing is being answered: they wait for somebody who may be gone."""
    runs = _table("runs")
    answered_until = runs.c.chat_state["claim"]["until"].astext.cast(DateTime(timezone=True))
    is_answering = func.coalesce(answered_until > now, False)
    return and_(runs.c.mode == _TEXT_CHAT, runs.c.lease_until.is_not(None), not_(is_answering))


async def has_conversation(session: AsyncSession, organization_id: int, now: datetime) -> bool:
    """Returns whether a call of the organization is not over, or a chat is being answered."""
    runs = _table("runs")
    is_open = or_(runs.c.status.in_(_LIVE_STATES), runs.c.lease_until.is_not(None))
    is_held = and_(runs.c.organization_id == organization_id, is_open, not_(_waits_for_message(now)))
    return bool(await session.scalar(select(exists().where(is_held))))


async def end_waiting_chats(session: AsyncSession, organization_id: int, now: datetime) -> None:
    """Lets the time of chats that wait for a message run out: the sweeper ends them with what they cost."""
    runs = _table("runs")
    of_organization = and_(runs.c.organization_id == organization_id, _waits_for_message(now))
    await session.execute(update(runs).where(of_organization).values(lease_until=now))


async def has_running_campaign(session: AsyncSession, organization_id: int) -> bool:
    campaigns = _table("campaigns")
    is_running = campaigns.c.status.not_in(_STOPPED_CAMPAIGNS)
    found = select(exists().where(campaigns.c.organization_id == organization_id, is_running))
    return bool(await session.scalar(found))


async def count_owned(session: AsyncSession, organization_id: int) -> dict[str, int]:
    """Returns how much of each kind a deletion would delete."""
    counts = [
        select(func.count())
        .select_from(_table(name))
        .where(_table(name).c.organization_id == organization_id)
        .scalar_subquery()
        for name in _COUNTED.values()
    ]
    row = (await session.execute(select(*counts))).one()
    return dict(zip(_COUNTED, row, strict=True))


async def stop_everything(session: AsyncSession, organization_id: int) -> None:
    """Keeps campaigns from being started, numbers from answering, and webhooks from being sent."""
    stops: dict[str, dict[str, Any]] = {
        "campaigns": {"status": "failed", "failure_reason": _BEING_DELETED},
        "phone_numbers": {"is_active": False, "inbound_workflow_id": None},
        "webhook_endpoints": {"status": "disabled"},
    }
    for name, values in stops.items():
        table = _table(name)
        await session.execute(update(table).where(table.c.organization_id == organization_id).values(values))


async def count_rows(session: AsyncSession, organization_id: int) -> dict[str, int]:
    """Returns how many rows the organization has, by table."""
    counts = {}
    for name in list_tables():
        table = _table(name)
        rows = select(func.count()).select_from(table).where(table.c.organization_id == organization_id)
        counts[name] = await session.scalar(rows) or 0
    return {name: count for name, count in sorted(counts.items()) if count}


async def delete_some_rows(session: AsyncSession, organization_id: int, name: str, *, limit: int) -> int:
    """Deletes rows of a table, and returns how many."""
    table = _table(name)
    is_owned = table.c.organization_id == organization_id
    # Each partition of a table has rows with the same ctid.
    address = tuple_(literal_column("tableoid"), literal_column("ctid"))
    some: Select[*tuple[Any, ...]] = (
        select(literal_column("tableoid"), literal_column("ctid")).select_from(table).where(is_owned).limit(limit)
    )
    deleted = await session.scalars(delete(table).where(is_owned, address.in_(some)).returning(table.c.organization_id))
    return len(deleted.all())


async def delete_jobs(session: AsyncSession, organization_id: int) -> None:
    """Deletes the organization's jobs with what they logged."""
    await session.execute(
        text(
            "WITH gone AS (DELETE FROM pgqueuer"
            "  WHERE convert_from(nullif(payload, ''), 'UTF8')::jsonb ->> 'organization_id' = :organization_id RETURNING id)"
            " DELETE FROM pgqueuer_log WHERE job_id IN (SELECT id FROM gone)"
        ),
        {"organization_id": str(organization_id)},
    )


async def list_managed_numbers(session: AsyncSession, organization_id: int) -> Sequence[int]:
    """Returns the numbers that the platform bought for the organization."""
    numbers = _table("phone_numbers")
    rows = select(numbers.c.id).where(numbers.c.organization_id == organization_id, numbers.c.is_managed)
    return (await session.scalars(rows.order_by(numbers.c.id))).all()


async def has_open_purchase(session: AsyncSession, organization_id: int) -> bool:
    """Returns whether a number is being bought, or returned, for the organization."""
    purchases = _table("number_purchases")
    is_open = purchases.c.state.in_(("buying", "bought"))
    return bool(await session.scalar(select(exists().where(purchases.c.organization_id == organization_id, is_open))))


async def sum_ledger(session: AsyncSession, organization_id: int) -> list[dict[str, Any]]:
    """Returns the sums of the ledger by month (UTC) and kind, oldest first."""
    ledger = _table("ledger_entries")
    month = func.to_char(func.timezone("UTC", ledger.c.created_at), "YYYY-MM").label("month")
    rows = await session.execute(
        select(month, ledger.c.kind, func.count(), func.sum(ledger.c.amount_cents))
        .where(ledger.c.organization_id == organization_id)
        .group_by(literal_column("1"), ledger.c.kind)
        .order_by(literal_column("1"), ledger.c.kind)
    )
    return [
        {"month": at, "kind": kind, "entries": entries, "amount_cents": int(cents)} for at, kind, entries, cents in rows
    ]


async def list_vector_spaces(session: AsyncSession, organization_id: int) -> Sequence[int]:
    """Returns the vector spaces, each of which may have an index of its own."""
    spaces = _table("knowledge_spaces")
    return (await session.scalars(select(spaces.c.id).where(spaces.c.organization_id == organization_id))).all()


async def list_left(session: AsyncSession, organization_id: int, kept: Collection[str] = ()) -> list[str]:
    """Returns the tables that still have rows of the organization."""
    names = [name for name in list_tables() if name not in kept]
    columns = [
        case((exists().where(_table(name).c.organization_id == organization_id), 1), else_=0).label(name)
        for name in names
    ]
    row = (await session.execute(select(*columns))).one()
    return [name for name, has_rows in zip(names, row, strict=True) if has_rows]


async def delete_organization(session: AsyncSession, organization_id: int) -> None:
    """Deletes the organization itself."""
    organizations = _table("organizations")
    await session.execute(delete(organizations).where(organizations.c.id == organization_id))


async def lock_deletion(session: AsyncSession, deletion: OrganizationDeletion) -> OrganizationDeletion:
    """Returns the deletion as it is now, locked: of two jobs at once, one writes after the other."""
    return await session.get_one(OrganizationDeletion, deletion.id, with_for_update=True, populate_existing=True)
