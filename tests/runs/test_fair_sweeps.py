"""The sweeps of all organizations' runs: those of one that cannot be ended keep no other organization waiting."""

from datetime import UTC, datetime, timedelta

from sqlalchemy import update

from offhook.root import Root
from offhook.runs import service
from offhook.runs.live import lease_queries
from offhook.runs.tables import Run
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow

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
