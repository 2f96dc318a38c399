"""The sweeps of all organizations' runs: those of one that cannot be ended keep no other organization waiting."""

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.root import Root
from offhook.runs import service
from offhook.runs.live import lease_queries
from offhook.runs.live import sweeper as sweeper_module
from offhook.runs.live.sweeper import RunSweeper
from offhook.runs.tables import Run
from tests.fakes.clock import SetClock
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow
from tests.runs.test_sweeper import make_sweeper

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)


async def make_runs(root: Root, make_workflow: MakeWorkflow, owner: OrgFixture, count: int, at: datetime) -> list[int]:
    workflow_id = await make_workflow(owner.id)
    made: list[int] = []
    for number in range(count):
        async with root.db.transaction() as session:
            run = await service.create_run(
                session,
                organization_id=owner.id,
                workflow_id=workflow_id,
                mode="browser",
                direction="inbound",
                use_draft=False,
            )
            created = {"created_at": at + timedelta(seconds=number), "lease_until": at + timedelta(seconds=number)}
            await session.execute(update(Run).where(Run.id == run.id).values(**created))
        made.append(run.id)
    return made


async def test_runs_that_cannot_be_ended_come_after_the_others(
    root: Root, org: OrgFixture, make_workflow: MakeWorkflow, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two hundred organizations with one such run each kept all others from having theirs ended."""
    monkeypatch.setattr(sweeper_module, "MAX_ENDS", 2)
    *stuck, newer = await make_runs(root, make_workflow, org, 3, NOW - timedelta(hours=2))
    write_end, refused = RunSweeper._write_end, list[int]()

    async def write_or_refuse(self: RunSweeper, session: AsyncSession, run: Run, lease: datetime) -> None:
        if run.id in stuck:
            refused.append(run.id)
            raise ValueError("this run cannot be ended")
        await write_end(self, session, run, lease)

    monkeypatch.setattr(RunSweeper, "_write_end", write_or_refuse)
    sweeper = make_sweeper(root, SetClock(NOW), grace_s=0)
    assert [await sweeper.sweep() for _ in range(3)] == [[], [newer], []]
    assert sorted(set(refused)) == stuck, "they are tried again"
    assert len(refused) == 5


async def test_each_organization_has_its_turn(
    root: Root, org: OrgFixture, other_org: OrgFixture, make_workflow: MakeWorkflow
) -> None:
    stuck = await make_runs(root, make_workflow, org, 4, NOW - timedelta(hours=2))
    (newer,) = await make_runs(root, make_workflow, other_org, 1, NOW - timedelta(hours=1))
    async with root.db.transaction() as session:
        expired = await lease_queries.find_expired(session, NOW, limit=3)
        assert [run_id for run_id, _ in expired] == [stuck[0], newer, stuck[1]]
        await session.execute(update(Run).values(lease_until=None))
        lost = await lease_queries.find_never_connected(session, NOW, limit=3)
        assert lost == [(org.id, stuck[0]), (other_org.id, newer), (org.id, stuck[1])]
