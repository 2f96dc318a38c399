"""Events and values of calls in partitions: added ahead, never missing, and the same whichever they lie in."""

import json
from datetime import timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text, update
from structlog.testing import capture_logs

from offhook.kit.database.database import Database
from offhook.kit.http.pagination import PageRequest
from offhook.privacy import organization_statements
from offhook.root import Root
from offhook.runs.lists.listing import RunQuery
from offhook.runs.lists.superuser_queries import find_runs_across_organizations
from offhook.runs.partitions import superuser_queries as queries
from offhook.runs.partitions.run_partitions import KEEP_JOB, OUTSIDE, RunPartitions
from offhook.runs.partitions.superuser_queries import EVENTS, VALUES
from offhook.runs.tables import Run, RunEvent, RunValue
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun, MakeWorkflow
from tests.runs.partitioned_runs import DEFAULT, find_values, gather, heard, list_names, run_number, say, table_of

NEW = ["run_events_from_0", "run_events_from_100000", "run_events_from_200000"]


def by_city(city: str | list[str]) -> dict[str, Any]:
    return {"field": "gathered.city", "type": "select", "value": city}


async def find_by_city(client: AsyncClient, org: OrgFixture, run: Run, city: str | list[str], **more: Any) -> list[int]:
    """The numbers of the agent's runs that a page of the list has."""
    params = {"filters": json.dumps([by_city(city)]), "sort_by": "created_at", **more}
    page = await client.get(f"/workflow/{run.workflow_id}/runs", params=params, headers=org.key_headers)
    assert page.status_code == 200, page.text
    return [found["id"] for found in page.json()["runs"]]


async def keep(root: Root) -> None:
    await root.jobs.handlers[KEEP_JOB]({})


async def test_a_new_database_has_the_first_months(root: Root, make_run: MakeRun) -> None:
    run = await make_run()
    await say(root, run, "hello")
    for _ in range(2):
        await keep(root)
        assert await list_names(root) == NEW
    assert await table_of(root, run) == {"run_events_from_0"}
    assert any(schedule.name == KEEP_JOB for schedule in root.jobs.schedules)


async def test_the_values_of_calls_have_the_same_months(root: Root, make_run: MakeRun) -> None:
    await run_number(root, make_run, 150_000)
    await keep(root)
    names = await list_names(root)
    assert await list_names(root, VALUES) == [name.replace("run_events", "run_values") for name in names]
    async with root.db.transaction() as session:
        options = await session.scalars(
            text("SELECT DISTINCT reloptions FROM pg_class WHERE relname LIKE 'run\\_values\\_%' AND relkind = 'r'")
        )
        assert [sorted(found) for found in options] == [
            ["autovacuum_vacuum_insert_scale_factor=0.02", "autovacuum_vacuum_scale_factor=0.02"]
        ]
        due = [await queries.is_analysis_due(session, table) for table in (EVENTS, VALUES)]
    assert due == [False, False]


async def test_a_table_that_is_behind_gets_the_months_of_the_other(root: Root, make_run: MakeRun) -> None:
    """Adding a month failed for one of them, or it was partitioned later."""
    async with root.db.transaction() as session:
        for first in (100_000, 200_000):
            await session.execute(text(f"DROP TABLE run_values_from_{first}"))
        await session.execute(
            text("CREATE TABLE run_events_from_300000 PARTITION OF run_events FOR VALUES FROM (300000) TO (420000)")
        )
    await keep(root)
    async with root.db.transaction() as session:
        events, values = [
            [partition.runs for partition in await queries.list_partitions(session, table)]
            for table in (EVENTS, VALUES)
        ]
    assert values == events
    assert events[-1].end == 420_000


async def test_values_of_calls_without_a_month_are_found_and_said(
    client: AsyncClient, root: Root, make_run: MakeRun, org: OrgFixture
) -> None:
    """The values had no months for long, the events did."""
    async with root.db.transaction() as session:
        for first in (100_000, 200_000):
            await session.execute(text(f"DROP TABLE run_values_from_{first}"))
    late = await run_number(root, make_run, 150_000)
    await gather(root, late, city="Lyon")
    assert await table_of(root, late, VALUES) == {"run_values_default"}
    with capture_logs() as logged:
        await keep(root)
    said = {"event": "rows_outside_partitions", "table": "run_values", "count": 1, "log_level": "warning"}
    assert said in logged
    assert (await list_names(root, VALUES))[:2] == ["run_values_from_0", "run_values_from_160000"]
    assert (await list_names(root))[:3] == NEW, "the other table has its months already"
    in_time = await run_number(root, make_run, 200_000)
    await gather(root, in_time, city="Lyon")
    assert await table_of(root, in_time, VALUES) == {"run_values_from_200000"}
    assert await find_by_city(client, org, late, "Lyon") == [200_000, 150_000]


async def test_a_list_finds_values_in_every_month(
    client: AsyncClient, root: Root, make_run: MakeRun, org: OrgFixture
) -> None:
    cities = {1: "Lyon", 99_999: "Oslo", 100_000: "Lyon", 250_000: "Lyon", 345_678: "Lyon"}
    runs = {number: await run_number(root, make_run, number) for number in cities}
    for number, run in runs.items():
        await gather(root, run, city=cities[number], age=number)
    tables = [await table_of(root, run, VALUES) for run in runs.values()]
    months = ["run_values_from_0", "run_values_from_0", "run_values_from_100000", "run_values_from_200000"]
    assert tables == [{name} for name in (*months, "run_values_default")]
    assert await find_by_city(client, org, runs[1], "Lyon") == [345_678, 250_000, 100_000, 1]
    assert await find_by_city(client, org, runs[1], "Lyon", limit=2, page=2) == [100_000, 1]
    assert await find_by_city(client, org, runs[1], ["Lyon", "Oslo"], limit=3) == [345_678, 250_000, 100_000]
    assert await find_by_city(client, org, runs[1], "Lyon", sort_by="duration") == [345_678, 250_000, 100_000, 1]

    await gather(root, runs[100_000], city="Oslo")
    assert await find_by_city(client, org, runs[1], "Oslo") == [100_000, 99_999]
    assert await find_values(root, runs[100_000]) == {"gathered.city": "Oslo"}
    async with root.db.transaction() as session:
        await session.execute(text("DELETE FROM runs WHERE id = 250000"))
        found = await find_runs_across_organizations(
            session, RunQuery(PageRequest(1, 50), json.dumps([by_city("Lyon")]), None, None)
        )
    assert [row.id for row in found.rows] == [345_678, 1]
    assert await table_of(root, runs[250_000], VALUES) == set(), "values go with their run"


async def test_months_are_added_ahead_as_large_as_the_last_one(root: Root, make_run: MakeRun) -> None:
    first = await run_number(root, make_run, 1)
    last = await run_number(root, make_run, 150_000)
    await keep(root)
    # 150,000 runs in this month
    assert await list_names(root) == [*NEW, "run_events_from_300000", "run_events_from_450000"]
    await say(root, first, "one")
    await say(root, last, "two")
    assert await table_of(root, last) == {"run_events_from_100000"}
    assert [await heard(root, run) for run in (first, last)] == [["one"], ["two"]]


async def test_months_are_small_when_the_runs_are_older(root: Root, make_run: MakeRun) -> None:
    for number in (1, 150_000):
        run = await run_number(root, make_run, number)
        async with root.db.transaction() as session:
            old = root.clock.now() - timedelta(days=40)
            await session.execute(update(Run).where(Run.id == run.id).values(created_at=old))
    await keep(root)
    assert await list_names(root) == [*NEW, "run_events_from_300000", "run_events_from_400000"]


async def test_events_without_a_month_are_taken_and_said(
    client: AsyncClient, root: Root, make_run: MakeRun, org: OrgFixture
) -> None:
    """No worker ran for a long time."""
    late = await run_number(root, make_run, 345_678)
    await say(root, late, "late", "later")
    assert await table_of(root, late) == {DEFAULT}
    with capture_logs() as logged:
        await keep(root)
    said = {"event": "rows_outside_partitions", "table": "run_events", "count": 2, "log_level": "warning"}
    assert said in logged
    assert OUTSIDE.labels("run_events")._value.get() == 2
    names = await list_names(root)
    assert names[len(NEW)] == "run_events_from_360000", "after the runs that may begin meanwhile"
    next_month = await run_number(root, make_run, 360_000)
    await say(root, next_month, "in time")
    assert await table_of(root, next_month) == {"run_events_from_360000"}

    await say(root, late, "last")
    assert await heard(root, late) == ["late", "later", "last"]
    page = await client.get(f"/workflow/{late.workflow_id}/runs/{late.id}/transcript", headers=org.owner_headers)
    assert page.status_code == 200
    assert "later" in page.text
    deleted = await client.delete(f"/workflow/{late.workflow_id}/runs/{late.id}", headers=org.owner_headers)
    assert deleted.status_code == 409, "it is live"


@pytest.mark.parametrize("number", [99_999, 100_000, 345_678])
async def test_a_batch_that_is_written_again_is_stored_once(root: Root, make_run: MakeRun, number: int) -> None:
    run = await run_number(root, make_run, number)
    neighbor = await make_run()
    for is_retry in (False, True, True):
        await say(root, run, "one", "two", is_retry=is_retry)
        await say(root, neighbor, "three", is_retry=is_retry)
    assert await heard(root, run) == ["one", "two"]
    assert await heard(root, neighbor) == ["three"]
    async with root.db.transaction() as session:
        await session.execute(text("DELETE FROM runs WHERE id = :id"), {"id": run.id})
    assert await table_of(root, run) == set(), "events go with their run"
    assert await heard(root, neighbor) == ["three"]


async def test_a_table_that_is_in_use_is_left_until_the_next_job(
    root: Root, make_run: MakeRun, database_url: str
) -> None:
    await run_number(root, make_run, 150_000)
    other = Database(database_url)
    try:
        async with other.transaction() as report:
            await report.execute(text("SELECT count(*) FROM run_events"))
            await keep(root)
            assert await list_names(root) == NEW
        await keep(root)
    finally:
        await other.dispose()
    assert len(await list_names(root)) > len(NEW)


async def test_a_table_that_is_in_use_keeps_no_other_from_its_months(
    root: Root, make_run: MakeRun, database_url: str
) -> None:
    await run_number(root, make_run, 150_000)
    other = Database(database_url)
    try:
        async with other.transaction() as report:
            # in the way of new partitions of this table, not of its readers
            await report.execute(text("LOCK TABLE run_events_default IN ACCESS SHARE MODE"))
            await keep(root)
    finally:
        await other.dispose()
    assert await list_names(root) == NEW
    assert len(await list_names(root, VALUES)) > len(NEW)
    await keep(root)
    assert len(await list_names(root)) > len(NEW)


async def test_an_organization_takes_only_its_own_events_along(
    root: Root, make_run: MakeRun, make_workflow: MakeWorkflow, org: OrgFixture, other_org: OrgFixture
) -> None:
    """Rows of two partitions have the same address within them."""
    ours = await run_number(root, make_run, 1)
    theirs = await run_number(root, make_run, 100_000)
    for run in (ours, theirs):
        await say(root, run, "one", "two", "three")
        await gather(root, run, city="Lyon", age=7)
    async with root.db.transaction() as session:
        for table, column in ((Run, Run.id), (RunEvent, RunEvent.run_id), (RunValue, RunValue.run_id)):
            await session.execute(update(table).where(column == theirs.id).values(organization_id=other_org.id))
    async with root.db.transaction() as session:
        deleted = await organization_statements.delete_some_rows(session, org.id, "run_events", limit=2)
    assert deleted == 2
    theirs.organization_id = other_org.id
    assert await heard(root, theirs) == ["one", "two", "three"]
    async with root.db.transaction() as session:
        await organization_statements.delete_some_rows(session, org.id, "run_events", limit=9)
        of_values = await organization_statements.delete_some_rows(session, org.id, "run_values", limit=9)
    assert await heard(root, ours) == []
    assert await heard(root, theirs) == ["one", "two", "three"]
    assert of_values == 2
    assert await find_values(root, ours) == {}
    assert await find_values(root, theirs) == {"gathered.city": "Lyon", "gathered.age": "7"}


async def test_nothing_is_deleted_of_a_month_that_still_takes_runs(root: Root, make_run: MakeRun) -> None:
    run = await make_run()
    await say(root, run, "hello")
    partitions = RunPartitions(root.db, root.clock)

    async def yes(_: object) -> bool:
        return True

    assert await partitions.drop_past(yes, yes, limit=4) == 0
    await run_number(root, make_run, 100_000)
    assert await partitions.drop_past(yes, yes, limit=4) == 0, "a transaction may still give a run its number"
    assert await heard(root, run) == ["hello"]
