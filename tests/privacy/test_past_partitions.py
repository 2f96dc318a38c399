"""Months of events and values that nobody keeps go at once; a month with one run that somebody keeps stays."""

from collections.abc import Awaitable, Callable
from datetime import timedelta

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text, update

from offhook.kit.database.database import Database
from offhook.privacy.places import RUN_ENDS
from offhook.privacy.retention import past_partitions
from offhook.privacy.retention.past_partitions import PastPartitions
from offhook.privacy.retention.sweep import RETENTION_JOB
from offhook.root import Root
from offhook.runs import RunServices, service
from offhook.runs.partitions.run_partitions import RunPartitions
from offhook.runs.partitions.superuser_queries import VALUES
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.tables import Run
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import NUMBER, find_in_tables
from tests.privacy.test_agent_retention import set_days as set_agent_days
from tests.privacy.test_erasure import answer
from tests.privacy.test_retention import set_days
from tests.runs.conftest import MakeRun
from tests.runs.partitioned_runs import (
    DEFAULT,
    find_values,
    gather,
    heard,
    list_names,
    run_number,
    say,
    table_of,
)

OLD = "run_events_from_0"
OLD_VALUES = "run_values_from_0"
Past = Callable[..., Awaitable[Run]]


@pytest.fixture
def past(root: Root, make_run: MakeRun) -> Past:
    """A run that is over: ``await past(number, age_days)``."""

    async def make(number: int, age_days: float, *, is_over: bool = True) -> Run:
        run = await run_number(root, make_run, number)
        await say(root, run, f"call {number}")
        await gather(root, run, city=f"city {number}")
        async with root.db.transaction() as session:
            if is_over:
                await service.apply_status(session, run.organization_id, run.id, "completed", outcome="answered")
            began = root.clock.now() - timedelta(days=age_days)
            await session.execute(update(Run).where(Run.id == run.id).values(created_at=began))
        return run

    return make


async def sweep(root: Root) -> None:
    await root.jobs.handlers[RETENTION_JOB]({})


async def is_there(root: Root, run: Run) -> bool:
    async with root.db.transaction() as session:
        return await session.get(Run, run.id) is not None


async def test_a_month_goes_whole_when_all_its_runs_are_past(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    january = [await past(number, 62) for number in (1, 2, 99_999)]
    february = [await past(100_000, 31), await past(100_001, 20)]
    await sweep(root)
    assert OLD in await list_names(root), "nobody has set a period"
    await set_days(client, org, runs_days=30)
    await sweep(root)
    assert await list_names(root) == ["run_events_from_100000", "run_events_from_200000"]
    assert await list_names(root, VALUES) == ["run_values_from_100000", "run_values_from_200000"]
    assert [await is_there(root, run) for run in january + february] == [False, False, False, False, True]
    assert await heard(root, february[1]) == ["call 100001"]
    assert await heard(root, january[0]) == []
    assert [await find_values(root, run) for run in (january[0], february[1])] == [{}, {"gathered.city": "city 100001"}]


async def test_a_month_stays_while_one_run_of_it_is_kept(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    gone, kept = await past(1, 62), await past(2, 40)
    await past(100_000, 10)
    await set_days(client, org, runs_days=50)
    await sweep(root)
    assert OLD in await list_names(root)
    assert OLD_VALUES in await list_names(root, VALUES)
    assert [await is_there(root, run) for run in (gone, kept)] == [False, True]
    assert await heard(root, kept) == ["call 2"]
    assert [await find_values(root, run) for run in (gone, kept)] == [{}, {"gathered.city": "city 2"}]


async def test_a_month_stays_for_an_organization_that_keeps_everything(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture, other_org: OrgFixture
) -> None:
    await past(1, 62)
    theirs = await past(2, 62)
    await past(100_000, 10)
    async with root.db.transaction() as session:
        for table in ("runs", "run_events"):
            column = "id" if table == "runs" else "run_id"
            await session.execute(
                text(f"UPDATE {table} SET organization_id = :org WHERE {column} = 2"), {"org": other_org.id}
            )
    theirs.organization_id = other_org.id
    await set_days(client, org, runs_days=30)
    await sweep(root)
    assert OLD in await list_names(root)
    assert await heard(root, theirs) == ["call 2"]


async def test_a_month_stays_while_a_call_of_it_goes_on(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    live = await past(1, 62, is_over=False)
    await past(100_000, 10)
    await set_days(client, org, runs_days=30)
    await sweep(root)
    assert OLD in await list_names(root)
    assert await heard(root, live) == ["call 1"]


async def test_an_agent_may_be_the_one_that_keeps_its_calls_for_less(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    run = await past(1, 62)
    await past(100_000, 10)
    await set_days(client, org, runs_days=365)
    await sweep(root)
    assert OLD in await list_names(root)
    await set_agent_days(client, org, run.workflow_id, runs_days=30)
    await sweep(root)
    assert OLD not in await list_names(root)


async def test_transcripts_alone_take_no_month_along(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    await past(1, 62)
    await past(100_000, 10)
    await set_days(client, org, transcripts_days=30)
    await sweep(root)
    assert OLD in await list_names(root), "the facts of its calls are kept"


async def test_who_decides_meanwhile_to_keep_calls_for_longer_has_them_kept(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    run = await past(1, 62)
    await past(100_000, 10)
    await set_days(client, org, runs_days=30)

    class LookingPartitions(RunPartitions):
        async def drop_past(self, is_past, still_holds, *, limit):  # type: ignore[no-untyped-def]
            async def is_past_but_late(partition):  # type: ignore[no-untyped-def]
                answer = await is_past(partition)
                await set_days(client, org, runs_days=90)
                return answer

            return await super().drop_past(is_past_but_late, still_holds, limit=limit)

    assert await PastPartitions(root.db, root.clock, LookingPartitions(root.db, root.clock)).drop() == 0
    assert await heard(root, run) == ["call 1"]


async def test_many_runs_are_looked_at_in_steps(client: AsyncClient, root: Root, past: Past, org: OrgFixture) -> None:
    kept = await past(1, 10)
    for number in (5, 70, 800, 9_000):
        await past(number, 62)
    await past(100_000, 10)
    await set_days(client, org, runs_days=30)
    partitions = root.get(RunServices).partitions
    for step in (1, 2, 3, 4, past_partitions.STEP):
        assert await PastPartitions(root.db, root.clock, partitions, step=step).drop() == 0
    assert await heard(root, kept) == ["call 1"]
    await set_days(client, org, runs_days=5)
    assert await PastPartitions(root.db, root.clock, partitions, step=2).drop() == 1


async def test_a_busy_table_keeps_its_month_until_the_next_sweep(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture, database_url: str
) -> None:
    run = await past(1, 62)
    await past(100_000, 10)
    await set_days(client, org, runs_days=30)
    other = Database(database_url)
    try:
        async with other.transaction() as report:
            await report.execute(text("SELECT count(*) FROM run_events"))
            await sweep(root)
            assert OLD in await list_names(root)
            assert not await is_there(root, run), "the sweep of rows goes on"
    finally:
        await other.dispose()
    await sweep(root)
    assert OLD not in await list_names(root)


async def test_values_that_are_in_use_keep_their_month_until_the_next_sweep(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture, database_url: str
) -> None:
    await past(1, 62)
    await past(100_000, 10)
    await set_days(client, org, runs_days=30)
    past_months = PastPartitions(root.db, root.clock, root.get(RunServices).partitions)
    other = Database(database_url)
    try:
        async with other.transaction() as report:
            await report.execute(text("SELECT count(*) FROM run_values"))
            assert await past_months.drop() == 0
    finally:
        await other.dispose()
    assert OLD not in await list_names(root)
    assert OLD_VALUES in await list_names(root, VALUES)
    assert await past_months.drop() == 1
    assert OLD_VALUES not in await list_names(root, VALUES)


async def test_a_first_month_of_values_that_is_longer_stays_until_all_of_it_is_past(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    """As where values were partitioned after events were."""
    async with root.db.transaction() as session:
        for first in (0, 100_000):
            await session.execute(text(f"DROP TABLE run_values_from_{first}"))
        await session.execute(
            text("CREATE TABLE run_values_from_0 PARTITION OF run_values FOR VALUES FROM (MINVALUE) TO (200000)")
        )
    gone, kept = await past(1, 62), await past(100_000, 20)
    await past(200_000, 10)
    await set_days(client, org, runs_days=30)
    await sweep(root)
    assert OLD not in await list_names(root)
    assert OLD_VALUES in await list_names(root, VALUES)
    assert [await find_values(root, run) for run in (gone, kept)] == [{}, {"gathered.city": "city 100000"}]
    await set_days(client, org, runs_days=15)
    await sweep(root)
    assert await list_names(root, VALUES) == ["run_values_from_200000"]


async def test_a_value_that_comes_after_its_month_went_is_taken(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    run = await past(1, 62)
    await past(100_000, 10)
    await set_days(client, org, runs_days=30)
    past_months = PastPartitions(root.db, root.clock, root.get(RunServices).partitions)
    assert await past_months.drop() == 1
    assert await find_values(root, run) == {}
    await gather(root, run, city="Lyon", age=7)
    assert await table_of(root, run, VALUES) == {"run_values_default"}
    assert await find_values(root, run) == {"gathered.city": "Lyon", "gathered.age": "7"}
    await sweep(root)
    assert await table_of(root, run, VALUES) == set(), "it went with its run"


async def test_an_event_that_comes_after_its_month_went_is_taken(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    run = await past(1, 62)
    await past(100_000, 10)
    await set_days(client, org, runs_days=30)
    past_months = PastPartitions(root.db, root.clock, root.get(RunServices).partitions)
    assert await past_months.drop() == 1
    stored: list[NewEvent] = await say(root, run, "a late callback")
    assert len(stored) == 1
    assert await table_of(root, run) == {DEFAULT}
    await sweep(root)
    assert await table_of(root, run) == set(), "it went with its run"


async def test_a_person_is_erased_in_every_month(client: AsyncClient, root: Root, past: Past, org: OrgFixture) -> None:
    """Their own call in one, another caller who names their number in the next, and a chat that has it as a value."""
    own, other, chat = await past(1, 62), await past(100_000, 10), await past(200_000, 5)
    await say(root, own, "hello")
    await say(root, other, f"call my friend at {NUMBER}", f"or at {NUMBER} later")
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == own.id).values(caller_number=NUMBER))
        without_phone = dict.fromkeys(RUN_ENDS)
        await session.execute(update(Run).where(Run.id == chat.id).values(**without_phone))
    await gather(root, chat, phone=NUMBER)
    assert await table_of(root, chat, VALUES) == {"run_values_from_200000"}
    await answer(root, client, org)
    assert not await is_there(root, own)
    assert not await is_there(root, chat)
    assert await table_of(root, own) == set()
    assert "run_events.data" not in await find_in_tables(root)
    assert len(await heard(root, other)) == 3


async def test_a_number_is_erased_in_runs_whose_values_went_before_them(
    client: AsyncClient, root: Root, past: Past, org: OrgFixture
) -> None:
    chat = await past(1, 62)
    await past(100_000, 10)
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == chat.id).values(**dict.fromkeys(RUN_ENDS)))
    await gather(root, chat, phone=NUMBER)
    await set_days(client, org, runs_days=30)
    assert await PastPartitions(root.db, root.clock, root.get(RunServices).partitions).drop() == 1
    await answer(root, client, org)
    assert await is_there(root, chat), "no value names it; retention deletes it"
    assert not {"runs.gathered_context", "run_values.value"} & (await find_in_tables(root)).keys()
