"""What customers are told of runs: each start and each end once, in the transaction that makes it so."""

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import select

from offhook.root import Root
from offhook.runs import RunServices, service
from offhook.runs.live import lease_queries
from offhook.runs.tables import Run
from offhook.voice.ports import CallResult
from offhook.webhooks.tables import WebhookEvent
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg
from tests.runs.conftest import MakeRun, make_run, make_workflow, workflow_id
from tests.runs.test_sweeper import make_sweeper

__all__ = ["make_run", "make_workflow", "workflow_id"]


async def told(root: Root, run: Run) -> list[tuple[str, dict[str, Any]]]:
    async with root.db.transaction() as session:
        events = await session.scalars(select(WebhookEvent).order_by(WebhookEvent.id))
        return [(event.type, event.data) for event in events if event.data["run_id"] == run.id]


async def end(root: Root, run: Run, result: CallResult) -> None:
    sink = root.get(RunServices).writer.create_sink(run.id)
    await root.get(RunServices).live.store_end(run.organization_id, run.id, sink, result)


async def test_a_call(root: Root, make_run: MakeRun) -> None:
    use_fakes(root, FixedModels([takes("done")]))
    run = await make_run(called_number="+12015550101", initial_context={"name": "Ada"})
    call = await root.get(RunServices).live.connect_leg(run.id, KeptLeg())
    call.session.end_call("server_stopped")
    await call.run()
    (started, _), (finished, data) = await told(root, run)
    assert (started, finished) == ("run.started", "run.completed")
    assert (data["status"], data["called_number"], data["initial_context"]) == (
        "completed", "+12015550101", {"name": "Ada"},
    )  # fmt: skip
    assert data["ended_at"] is not None


async def test_the_carriers_word_and_the_conversations_end_are_one(root: Root, make_run: MakeRun) -> None:
    run = await make_run()
    now, us = datetime.now(UTC), root.get(RunServices).live.worker_id
    async with root.db.transaction() as session:
        await lease_queries.take_run(session, run.id, worker_id=us, now=now, until=now + timedelta(seconds=10))
    async with root.db.transaction() as session:
        await service.apply_status(session, run.organization_id, run.id, "completed")
    for _ in range(2):
        await end(root, run, CallResult("answered", "agent_ended", 3.0))
    assert [(kind, data["duration"]) for kind, data in await told(root, run)] == [("run.completed", 3.0)]


async def test_nobody_answered(root: Root, make_run: MakeRun) -> None:
    run = await make_run()
    for _ in range(2):
        async with root.db.transaction() as session:
            await service.apply_status(session, run.organization_id, run.id, "no_answer")
    assert [(kind, data["status"]) for kind, data in await told(root, run)] == [("run.failed", "no_answer")]


async def test_a_dead_worker(root: Root, make_run: MakeRun) -> None:
    run = await make_run()
    now = datetime.now(UTC)
    async with root.db.transaction() as session:
        await lease_queries.take_run(session, run.id, worker_id="w1", now=now, until=now - timedelta(seconds=1))
    await make_sweeper(root, root.clock, grace_s=0).sweep()
    assert [kind for kind, _ in await told(root, run)] == ["run.failed"]
