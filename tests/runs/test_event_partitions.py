"""The events of calls in partitions: added ahead, never missing, and the same events whichever they lie in."""

from datetime import timedelta

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text, update
from structlog.testing import capture_logs

from offhook.kit.database.database import Database
from offhook.privacy import organization_statements
from offhook.root import Root
from offhook.runs.partitions.event_partitions import KEEP_JOB, OUTSIDE, EventPartitions
from offhook.runs.tables import Run, RunEvent
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun, MakeWorkflow
from tests.runs.partitioned_events import DEFAULT, heard, list_names, run_number, say, table_of

NEW = ["run_events_from_0", "run_events_from_100000", "run_events_from_200000"]


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
    assert {"event": "events_outside_partitions", "count": 2, "log_level": "warning"} in logged
    assert OUTSIDE._value.get() == 2
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


async def test_an_organization_takes_only_its_own_events_along(
    root: Root, make_run: MakeRun, make_workflow: MakeWorkflow, org: OrgFixture, other_org: OrgFixture
) -> None:
    """Rows of two partitions have the same address within them."""
    ours = await run_number(root, make_run, 1)
    theirs = await run_number(root, make_run, 100_000)
    for run in (ours, theirs):
        await say(root, run, "one", "two", "three")
    async with root.db.transaction() as session:
        for table, column in ((Run, Run.id), (RunEvent, RunEvent.run_id)):
            await session.execute(update(table).where(column == theirs.id).values(organization_id=other_org.id))
    async with root.db.transaction() as session:
        deleted = await organization_statements.delete_some_rows(session, org.id, "run_events", limit=2)
    assert deleted == 2
    theirs.organization_id = other_org.id
    assert await heard(root, theirs) == ["one", "two", "three"]
    async with root.db.transaction() as session:
        await organization_statements.delete_some_rows(session, org.id, "run_events", limit=9)
    assert await heard(root, ours) == []
    assert await heard(root, theirs) == ["one", "two", "three"]


async def test_nothing_is_deleted_of_a_month_that_still_takes_runs(root: Root, make_run: MakeRun) -> None:
    run = await make_run()
    await say(root, run, "hello")
    partitions = EventPartitions(root.db, root.clock)

    async def yes(_: object) -> bool:
        return True

    assert await partitions.drop_past(yes, yes, limit=4) == 0
    await run_number(root, make_run, 100_000)
    assert await partitions.drop_past(yes, yes, limit=4) == 0, "a transaction may still give a run its number"
    assert await heard(root, run) == ["hello"]
