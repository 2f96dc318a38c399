"""The leases of live calls: renewed together, lost by a call that was presumed dead, and held up by nobody."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from sqlalchemy import select
from structlog.testing import capture_logs

from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunFinished, RunServices, repository
from offhook.runs.tables import Run
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.runs.conftest import MakeRun
from tests.runs.test_live import connect, reload


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


async def test_leases_are_renewed_for_all_calls_and_a_lost_one_ends_its_call(
    root: Root, live: LiveCallRegistry, make_run: MakeRun
) -> None:
    kept, lost = await make_run(), await make_run()
    calls = {run.id: (await connect(live, run))[0] for run in (kept, lost)}
    talking = {run_id: asyncio.create_task(call.run()) for run_id, call in calls.items()}
    before = (await reload(root, kept)).lease_until
    async with root.db.transaction() as session:
        run = await repository.by_id(session, lost.organization_id, lost.id)
        assert run is not None
        run.status, run.worker_id, run.lease_until = "failed", None, None
    await live.renew_leases()
    renewed = (await reload(root, kept)).lease_until
    assert before is not None
    assert renewed is not None
    assert renewed > before
    await asyncio.wait_for(talking[lost.id], 60)
    assert not talking[kept.id].done()
    assert (await reload(root, lost)).status == "failed"


async def test_a_call_whose_run_is_being_changed_goes_on(root: Root, live: LiveCallRegistry, make_run: MakeRun) -> None:
    busy, other = await make_run(), await make_run()
    talking = [asyncio.create_task((await connect(live, run))[0].run()) for run in (busy, other)]
    async with root.db.transaction() as changing, asyncio.timeout(60):
        await changing.execute(select(Run.id).where(Run.id == busy.id).with_for_update())
        assert await live.renew_leases() == {busy.id}
    assert await live.renew_leases() == set()
    assert not any(task.done() for task in talking)


async def test_a_call_that_ends_during_the_renewal_has_lost_no_lease(
    root: Root, live: LiveCallRegistry, run: Run
) -> None:
    async def renew(_: RunFinished) -> None:
        await live.renew_leases()

    root.events.subscribe(RunFinished, renew)
    call, _ = await connect(live, run)
    call.session.end_call()
    with capture_logs() as logs:
        await call.run()
    assert "lease_lost" not in [entry["event"] for entry in logs]
    stored = await reload(root, run)
    assert (stored.status, stored.end_reason) == ("completed", "caller_hung_up")
