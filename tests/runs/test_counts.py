"""Counts of runs: right at every moment, whoever begins and deletes them and whenever they are folded."""

import asyncio

from sqlalchemy import delete, func, insert, select, text

from offhook.root import Root
from offhook.runs.lists import run_count_queries
from offhook.runs.lists.tables import RunCount, RunCountChange
from offhook.runs.tables import Run
from offhook.workflows.tables import WorkflowVersion
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow


async def begin(root: Root, organization_id: int, workflow_id: int, runs: int) -> None:
    """So many in one statement, as campaigns do."""
    async with root.db.transaction() as session:
        version_id = await session.scalar(select(WorkflowVersion.id).where(WorkflowVersion.workflow_id == workflow_id))
        run = {
            "organization_id": organization_id, "workflow_id": workflow_id, "version_id": version_id,
            "version_number": 1, "name": "WR-TEST", "mode": "twilio", "direction": "outbound",
        }  # fmt: skip
        await session.execute(insert(Run).values([run] * runs))


async def said_and_true(root: Root, organization_id: int) -> tuple[dict[int, int], dict[int, int]]:
    """In one snapshot: what we say of an organization, and what its rows say."""
    async with root.db.transaction() as session:
        await session.execute(text("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ"))
        mine = Run.organization_id == organization_id
        rows = await session.execute(select(Run.workflow_id, func.count()).where(mine).group_by(Run.workflow_id))
        true = {row[0]: row[1] for row in rows}
        return await run_count_queries.count_runs_by_workflow(session, organization_id, range(1000)), true


async def test_right_at_every_moment(
    root: Root, org: OrgFixture, other_org: OrgFixture, make_workflow: MakeWorkflow
) -> None:
    mine = [await make_workflow(org.id) for _ in range(2)]
    others = await make_workflow(other_org.id)
    is_over = asyncio.Event()

    async def write(workflow_id: int, organization_id: int) -> None:
        for number in range(1, 5):
            await begin(root, organization_id, workflow_id, number)
            async with root.db.transaction() as session:
                oldest = select(func.min(Run.id)).where(Run.workflow_id == workflow_id).scalar_subquery()
                await session.execute(delete(Run).where(Run.id == oldest))

    async def fold() -> None:
        while not is_over.is_set():
            await run_count_queries.fold_count_changes(root.db)

    async def look() -> None:
        while not is_over.is_set():
            said, true = await said_and_true(root, org.id)
            assert said == true

    async with asyncio.TaskGroup() as tasks:
        writing = [tasks.create_task(write(workflow_id, org.id)) for workflow_id in mine]
        writing.append(tasks.create_task(write(others, other_org.id)))
        tasks.create_task(fold())
        tasks.create_task(fold())
        tasks.create_task(look())
        await asyncio.gather(*writing)
        is_over.set()
    assert await said_and_true(root, org.id) == (dict.fromkeys(mine, 6), dict.fromkeys(mine, 6))
    async with root.db.transaction() as session:
        assert await run_count_queries.count_runs_by_organization(session) == {org.id: 12, other_org.id: 6}
        assert await run_count_queries.count_runs_by_workflow(session, other_org.id, mine) == {}
        assert await run_count_queries.count_runs_of_workflows(session, [*mine, others]) == dict.fromkeys(
            [*mine, others], 6
        )


async def test_the_job_folds_and_forgets_what_is_deleted(root: Root, org: OrgFixture, workflow_id: int) -> None:
    await begin(root, org.id, workflow_id, 3)
    async with root.db.transaction() as session:
        assert await session.scalar(select(func.sum(RunCountChange.change))) == 3
    await run_count_queries.fold_count_changes(root.db)
    async with root.db.transaction() as session:
        assert (await session.execute(select(RunCount.workflow_id, RunCount.runs))).all() == [(workflow_id, 3)]
        assert await session.scalar(select(func.count()).select_from(RunCountChange)) == 0
        await session.execute(delete(Run))
    assert await said_and_true(root, org.id) == ({}, {})
    await run_count_queries.fold_count_changes(root.db)
    async with root.db.transaction() as session:
        assert await session.scalar(select(func.count()).select_from(RunCount)) == 0


async def test_two_who_begin_at_once_do_not_wait_for_each_other(root: Root, org: OrgFixture, workflow_id: int) -> None:
    async with root.db.transaction() as session:
        await session.execute(text("SET LOCAL lock_timeout = '1s'"))
        await session.execute(insert(RunCountChange).values(organization_id=org.id, workflow_id=workflow_id, change=0))
        # its transaction is still open
        async with asyncio.timeout(60):
            await begin(root, org.id, workflow_id, 2)
            await begin(root, org.id, workflow_id, 1)
    said, true = await said_and_true(root, org.id)
    assert said == true == {workflow_id: 3}
