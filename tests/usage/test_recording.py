"""A finished run is counted and charged once, however often it is told."""

import asyncio
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest
from sqlalchemy import update

from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.usage import ledger, queries, repository
from offhook.usage.periods import TimeRange
from offhook.usage.run_facts import ModelUse
from offhook.usage.service import campaign_spend_cents, record_runs
from tests.fixtures_orgs import OrgFixture
from tests.usage.conftest import Record, facts

EVER = TimeRange(datetime(2000, 1, 1, tzinfo=UTC), datetime(2100, 1, 1, tzinfo=UTC))
GPT = ModelUse(
    "llm", "openai", "gpt-4.1", prompt_tokens=100, completion_tokens=10, calls=2, cost_cents=Decimal("0.028")
)


async def sums(root: Root, organization_id: int) -> tuple[int, int, int]:
    async with root.db.transaction() as session:
        row = await repository.period_totals(session, organization_id, EVER)
        return int(row.calls), int(row.duration_ms), int(row.cost_cents)


async def models(root: Root, organization_id: int) -> list[Any]:
    async with root.db.transaction() as session:
        return list(await repository.by_model(session, organization_id, EVER))


async def balance(root: Root, organization_id: int) -> int:
    """The balance, which is the sum of the ledger."""
    async with root.db.transaction() as session:
        account = await repository.find_account(session, organization_id)
        cents = account.balance_cents if account else 0
        assert await repository.ledger_sum(session, organization_id) == cents
        return cents


async def test_runs_add_up(root: Root, org: OrgFixture, other_org: OrgFixture, record: Record) -> None:
    await record(cost_cents=Decimal("2.5"), duration_ms=1500)
    await record(cost_cents=Decimal("2.4"), duration_ms=500)
    assert await sums(root, org.id) == (2, 2000, 5)
    assert await balance(root, org.id) == -5
    assert await sums(root, other_org.id) == (0, 0, 0)


async def test_the_same_run_twice_counts_once(root: Root, org: OrgFixture, record: Record) -> None:
    for _ in range(2):
        await record(run_id=77, models=[GPT])
    assert await sums(root, org.id) == (1, 60_000, 5)
    assert await balance(root, org.id) == -5
    (row,) = await models(root, org.id)
    assert (row.prompt_tokens, row.calls, row.runs, row.cost_cents) == (100, 2, 1, Decimal("0.028"))


async def test_the_same_run_many_times_at_once_counts_once(root: Root, org: OrgFixture, record: Record) -> None:
    await asyncio.gather(*(record(run_id=77, models=[GPT]) for _ in range(12)))
    assert await sums(root, org.id) == (1, 60_000, 5)
    assert await balance(root, org.id) == -5


@pytest.mark.slow
async def test_many_runs_at_once_lose_nothing(root: Root, org: OrgFixture, record: Record) -> None:
    await asyncio.gather(*(record(models=[GPT]) for _ in range(20)))
    assert await sums(root, org.id) == (20, 1_200_000, 100)
    assert await balance(root, org.id) == -100
    (row,) = await models(root, org.id)
    assert (row.prompt_tokens, row.runs) == (2000, 20)


async def test_a_run_told_again_with_more_changes_sums_by_the_difference(
    root: Root, org: OrgFixture, record: Record
) -> None:
    await record(run_id=77, models=[GPT])
    other = ModelUse("tts", "rime", "mistv2", characters=40, is_priced=False)
    await record(run_id=77, duration_ms=90_000, cost_cents=Decimal(8), models=[other])
    assert await sums(root, org.id) == (1, 90_000, 8)
    assert await balance(root, org.id) == -8
    used = {row.model: row for row in await models(root, org.id) if row.runs}
    assert set(used) == {"mistv2"}
    assert (used["mistv2"].characters, used["mistv2"].unpriced_runs) == (40, 1)
    async with root.db.transaction() as session:
        entries, _ = await repository.list_entries(session, org.id, limit=10, offset=0)
    assert [(entry.kind, entry.amount_cents) for entry in entries] == [("adjustment", -3), ("run", -5)]


async def test_nothing_is_counted_when_the_transaction_that_ends_the_run_fails(root: Root, org: OrgFixture) -> None:
    async def record_and_crash() -> None:
        async with root.db.transaction() as session:
            await record_runs(session, org.id, [facts(org.id, models=[GPT])])
            raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await record_and_crash()
    assert await sums(root, org.id) == (0, 0, 0)
    assert await balance(root, org.id) == 0


async def test_minutes_beyond_the_included_ones_cost_the_platform_price(
    root: Root, org: OrgFixture, record: Record
) -> None:
    async with root.db.transaction() as session:
        await ledger.set_terms(
            session, org.id, platform_cents_per_minute=Decimal(6), included_minutes=2, is_enforced=None
        )
    costs = [(await record(cost_cents=Decimal(0), duration_ms=90_000)).cost_cents for _ in range(3)]
    assert costs == [0, 6, 9]  # 90 s of 120 s included; 30 s still, 60 s beyond; 90 s beyond
    chat = await record(cost_cents=Decimal(1), duration_ms=600_000, is_billable=False)
    assert chat.cost_cents == 1
    assert await balance(root, org.id) == -16


async def test_another_time_zone_is_not_another_month_of_included_minutes(
    root: Root, org: OrgFixture, record: Record
) -> None:
    async with root.db.transaction() as session:
        await ledger.set_terms(
            session, org.id, platform_cents_per_minute=Decimal(6), included_minutes=1, is_enforced=None
        )

    async def price_at(moment: datetime, time_zone: str) -> int:
        async with root.db.transaction() as session:
            await session.execute(update(Organization).where(Organization.id == org.id).values(time_zone=time_zone))
        return (await record(cost_cents=Decimal(0), duration_ms=60_000, created_at=moment)).cost_cents

    assert await price_at(datetime(2026, 11, 15, tzinfo=UTC), "UTC") == 0
    # December already
    assert await price_at(datetime(2026, 11, 30, 12, tzinfo=UTC), "Pacific/Kiritimati") == 6
    assert await price_at(datetime(2026, 12, 1, 11, tzinfo=UTC), "Pacific/Kiritimati") == 0
    # November still, and then December once more
    assert await price_at(datetime(2026, 12, 1, 11, 30, tzinfo=UTC), "Etc/GMT+12") == 6
    assert await price_at(datetime(2026, 12, 1, 12, 30, tzinfo=UTC), "Etc/GMT+12") == 6


async def test_telling_a_run_again_does_not_use_its_included_minutes_up(
    root: Root, org: OrgFixture, record: Record
) -> None:
    async with root.db.transaction() as session:
        await ledger.set_terms(
            session, org.id, platform_cents_per_minute=Decimal(6), included_minutes=1, is_enforced=None
        )
    for _ in range(3):
        assert (await record(run_id=77, cost_cents=Decimal(0))).cost_cents == 0


async def test_runs_lie_in_the_quarter_hour_of_their_creation(root: Root, org: OrgFixture, record: Record) -> None:
    await record(created_at=datetime(2026, 3, 1, 18, 29, 59, tzinfo=UTC))
    await record(created_at=datetime(2026, 3, 1, 18, 30, tzinfo=UTC))
    days = [datetime(2026, 2, 28, 18, 30, tzinfo=UTC), datetime(2026, 3, 1, 18, 30, tzinfo=UTC)]
    days.append(datetime(2026, 3, 2, 18, 30, tzinfo=UTC))
    async with root.db.transaction() as session:
        found = await queries.by_day(session, org.id, days)
    assert {day: int(row.calls) for day, row in found.items()} == {0: 1, 1: 1}


async def test_a_campaign_knows_what_it_has_spent(
    root: Root, org: OrgFixture, other_org: OrgFixture, record: Record
) -> None:
    await record(campaign_id=4)
    await record(campaign_id=4)
    await record(campaign_id=5)
    async with root.db.transaction() as session:
        assert await campaign_spend_cents(session, org.id, 4) == 10
        assert await campaign_spend_cents(session, other_org.id, 4) == 0
