"""Queries for sums, accounts and the ledger."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, delete, func, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.usage.periods import TimeRange
from offhook.usage.tables import (
    AgentDay,
    BillingAccount,
    CreditHold,
    LedgerEntry,
    ModelUsageBucket,
    OutcomeBucket,
    RunUsage,
    UsageBucket,
)

COUNTED = (
    "prompt_tokens",
    "completion_tokens",
    "characters",
    "seconds",
    "calls",
    "runs",
    "unpriced_runs",
    "cost_cents",
)
_CHARGE = "charge"
_MODEL_KEY = ("kind", "provider", "model")


async def find_account(session: AsyncSession, organization_id: int) -> BillingAccount | None:
    return await session.get(BillingAccount, organization_id, populate_existing=True)


async def lock_account(session: AsyncSession, organization_id: int) -> BillingAccount:
    """Returns the account, created if there is none; locked until the transaction ends."""
    query = (
        select(BillingAccount)
        .where(BillingAccount.organization_id == organization_id)
        .with_for_update()
        .execution_options(populate_existing=True)
    )
    found = await session.scalar(query)
    if found is None:
        await session.execute(insert(BillingAccount).values(organization_id=organization_id).on_conflict_do_nothing())
        found = await session.scalar(query)
    assert found is not None
    return found


async def append_entries(
    session: AsyncSession, organization_id: int, entries: Sequence[Mapping[str, Any]]
) -> list[LedgerEntry]:
    """Appends entries (``kind``, ``amount_cents``, and optional ``run_id``, ``note``, ``created_by``) in order and
    updates the balance. The caller holds the lock on the account."""
    balance = await session.scalar(
        update(BillingAccount)
        .where(BillingAccount.organization_id == organization_id)
        .values(balance_cents=BillingAccount.balance_cents + sum(entry["amount_cents"] for entry in entries))
        .returning(BillingAccount.balance_cents)
        .execution_options(synchronize_session=False)
    )
    assert balance is not None
    balance -= sum(entry["amount_cents"] for entry in entries)
    made = []
    for entry in entries:
        balance += entry["amount_cents"]
        made.append(LedgerEntry(organization_id=organization_id, balance_cents=balance, **entry))
    session.add_all(made)
    await session.flush()
    return made


async def list_entries(
    session: AsyncSession, organization_id: int, *, limit: int, offset: int
) -> tuple[Sequence[LedgerEntry], int]:
    """Returns entries, newest first, and the total number."""
    in_organization = LedgerEntry.organization_id == organization_id
    total = await session.scalar(select(func.count()).select_from(LedgerEntry).where(in_organization))
    # Select ids by index first: a late page would otherwise read every row before it.
    ids = select(LedgerEntry.id).where(in_organization).order_by(LedgerEntry.id.desc()).limit(limit).offset(offset)
    found = await session.scalars(select(LedgerEntry).where(LedgerEntry.id.in_(ids)).order_by(LedgerEntry.id.desc()))
    return found.all(), total or 0


async def ledger_sum(session: AsyncSession, organization_id: int) -> int:
    """Returns the sum of the ledger itself, to verify the account's balance."""
    found = await session.scalar(
        select(func.coalesce(func.sum(LedgerEntry.amount_cents), 0)).where(
            LedgerEntry.organization_id == organization_id
        )
    )
    return int(found or 0)


async def run_usages(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> dict[int, RunUsage]:
    """Returns what was recorded for these runs, by run; unrecorded runs are left out."""
    found = await session.scalars(
        select(RunUsage)
        .where(RunUsage.run_id.in_(run_ids), RunUsage.organization_id == organization_id)
        .execution_options(populate_existing=True)
    )
    return {usage.run_id: usage for usage in found}


async def add_to_bucket(
    session: AsyncSession, organization_id: int, bucket_at: datetime, amounts: Mapping[str, int]
) -> None:
    """Adds calls, duration_ms, billable_ms and cost_cents to a quarter of an hour."""
    values = {"organization_id": organization_id, "bucket_at": bucket_at, **amounts}
    statement = insert(UsageBucket).values(**values)
    added = {name: getattr(UsageBucket, name) + statement.excluded[name] for name in amounts}
    await session.execute(statement.on_conflict_do_update(index_elements=["organization_id", "bucket_at"], set_=added))


async def add_to_model_buckets(
    session: AsyncSession, organization_id: int, bucket_at: datetime, rows: Sequence[Mapping[str, Any]]
) -> None:
    """Adds the columns of :data:`COUNTED` by kind, provider and model; no two rows have the same three."""
    if not rows:
        return
    values = [{"organization_id": organization_id, "bucket_at": bucket_at, **row} for row in rows]
    statement = insert(ModelUsageBucket).values(values)
    added = {name: getattr(ModelUsageBucket, name) + statement.excluded[name] for name in COUNTED}
    await session.execute(
        statement.on_conflict_do_update(index_elements=["organization_id", "bucket_at", *_MODEL_KEY], set_=added)
    )


async def add_to_sums(
    session: AsyncSession,
    organization_id: int,
    table: type[OutcomeBucket] | type[AgentDay],
    rows: Sequence[Mapping[str, Any]],
    sums: Sequence[str],
) -> None:
    """Adds the columns ``sums`` of rows to those with the same primary key."""
    if not rows:
        return
    statement = insert(table).values([{"organization_id": organization_id, **row} for row in rows])
    added = {name: getattr(table, name) + statement.excluded[name] for name in sums}
    keys = [column.name for column in table.__table__.primary_key]
    await session.execute(statement.on_conflict_do_update(index_elements=keys, set_=added))


async def period_totals(session: AsyncSession, organization_id: int, period: TimeRange) -> Any:
    """Returns calls, duration_ms, billable_ms and cost_cents of a period."""
    columns = (UsageBucket.calls, UsageBucket.duration_ms, UsageBucket.billable_ms, UsageBucket.cost_cents)
    found = await session.execute(
        select(*(func.coalesce(func.sum(column), 0).label(column.key) for column in columns)).where(
            UsageBucket.organization_id == organization_id,
            UsageBucket.bucket_at >= period.start,
            UsageBucket.bucket_at < period.end,
        )
    )
    return found.one()


async def by_model(session: AsyncSession, organization_id: int, period: TimeRange) -> Sequence[Row[Any]]:
    """Returns the columns of :data:`COUNTED` by kind, provider and model, most expensive first."""
    keys = (ModelUsageBucket.kind, ModelUsageBucket.provider, ModelUsageBucket.model)
    cost = func.sum(ModelUsageBucket.cost_cents)
    rows = await session.execute(
        select(*keys, *(func.sum(getattr(ModelUsageBucket, name)).label(name) for name in COUNTED))
        .where(
            ModelUsageBucket.organization_id == organization_id,
            ModelUsageBucket.bucket_at >= period.start,
            ModelUsageBucket.bucket_at < period.end,
        )
        .group_by(*keys)
        .order_by(cost.desc(), *keys)
    )
    return rows.all()


async def campaign_spend(session: AsyncSession, organization_id: int, campaign_id: int) -> int:
    found: Decimal | None = await session.scalar(
        select(func.sum(RunUsage.cost_cents)).where(
            RunUsage.campaign_id == campaign_id, RunUsage.organization_id == organization_id
        )
    )
    return int(found or 0)


async def lock_credit(session: AsyncSession, organization_id: int) -> None:
    """Keeps other transactions from setting money of this organization aside until this one ends."""
    await session.execute(
        text("SELECT pg_advisory_xact_lock(hashtextextended('offhook.credit', :id))"), {"id": organization_id}
    )


async def committed_cents(session: AsyncSession, organization_id: int, day_start: datetime) -> tuple[int, int]:
    """Returns ``(held, spent)``: what live conversations hold, and what runs and charges have cost since
    ``day_start``."""
    held = select(func.coalesce(func.sum(CreditHold.cents), 0)).where(CreditHold.organization_id == organization_id)
    runs = select(func.coalesce(func.sum(UsageBucket.cost_cents), 0)).where(
        UsageBucket.organization_id == organization_id, UsageBucket.bucket_at >= day_start
    )
    charges = select(func.coalesce(-func.sum(LedgerEntry.amount_cents), 0)).where(
        LedgerEntry.organization_id == organization_id,
        LedgerEntry.kind == _CHARGE,
        LedgerEntry.created_at >= day_start,
    )
    found = await session.execute(select(held.scalar_subquery(), (runs.scalar_subquery() + charges.scalar_subquery())))
    row = found.one()
    return int(row[0]), int(row[1])


async def insert_holds(session: AsyncSession, organization_id: int, run_ids: Sequence[int], cents: int) -> None:
    await session.execute(
        insert(CreditHold).on_conflict_do_nothing(),
        [{"run_id": run_id, "organization_id": organization_id, "cents": cents} for run_id in run_ids],
    )


async def holds_of_runs(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> dict[int, int]:
    """Returns the cents that these runs hold; runs without a hold are left out."""
    found = await session.execute(
        select(CreditHold.run_id, CreditHold.cents).where(
            CreditHold.run_id.in_(run_ids), CreditHold.organization_id == organization_id
        )
    )
    return {row.run_id: row.cents for row in found}


async def set_hold(session: AsyncSession, organization_id: int, run_id: int, cents: int) -> None:
    statement = insert(CreditHold).values(run_id=run_id, organization_id=organization_id, cents=cents)
    await session.execute(
        statement.on_conflict_do_update(
            index_elements=["run_id"],
            set_={"cents": cents},
            where=CreditHold.organization_id == organization_id,
        )
    )


async def delete_holds(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> None:
    await session.execute(
        delete(CreditHold).where(CreditHold.run_id.in_(run_ids), CreditHold.organization_id == organization_id)
    )
