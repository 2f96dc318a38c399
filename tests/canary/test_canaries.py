"""Canaries from start to end: who gets which version, what counts, and what decides."""

import asyncio
import json
import os
import signal
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from offhook.canary.tasks import LOOK_JOB, SCHEDULE_JOB, CanaryJob
from offhook.kit.clock import SystemClock
from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.runs import service as runs
from offhook.runs.records import bulk
from offhook.runs.records.placement import CallPlacement
from offhook.runs.tables import Run, RunEvent
from offhook.workflows import service as workflows
from offhook.workflows.canaries import choice
from offhook.workflows.tables import CanaryCall, WorkflowCanary
from tests.canary.steps import read, start
from tests.fixtures_orgs import OrgFixture
from tests.forks import forks
from tests.workflows.conftest import Editor

Call = Callable[..., Awaitable[Run]]


def number(index: int) -> str:
    return f"+1201555{index:04d}"


@pytest.fixture
async def call(root: Root, org: OrgFixture, workflow_id: int) -> Call:
    """An inbound call that has begun: ``await call(3)`` from number 3."""
    async with root.db.transaction() as session:
        await session.execute(update(Organization).where(Organization.id == org.id).values(concurrency_limit=1000))

    async def begin(index: int | None, **values: Any) -> Run:
        asked: dict[str, Any] = {"mode": "twilio", "direction": "inbound", "use_draft": False}
        far_end = None if index is None else number(index)
        async with root.db.transaction() as session:
            return await runs.create_run(
                session,
                organization_id=org.id,
                workflow_id=workflow_id,
                **asked | {"phone_number": far_end, "caller_number": far_end} | values,
            )

    return begin


async def finish(root: Root, *ended: Run, breaks: Callable[[Run], bool] = lambda run: False, **values: Any) -> None:
    """Ends calls in the database, as the product's end of a call would."""
    now = datetime.now(UTC)
    async with root.db.transaction() as session:
        for run in ended:
            has_failed = breaks(run)
            told = {
                "status": "failed" if has_failed else "completed",
                "outcome": "failed" if has_failed else "answered",
                "answered_at": now,
                "ended_at": now,
                "duration": 60,
                "cost_cents": 10,
                "latency": {"p50_ms": 800},
            }
            await session.execute(update(Run).where(Run.id == run.id).values(**told | values))


async def look(root: Root, org: OrgFixture, canary_id: int) -> None:
    assert {LOOK_JOB, SCHEDULE_JOB} <= set(root.jobs.handlers)
    await CanaryJob(root.db, SystemClock()).look({"organization_id": org.id, "canary_id": canary_id})


async def make_calls(root: Root, call: Call, count: int, *, first: int = 0, **how: Any) -> list[Run]:
    made = [await call(index) for index in range(first, first + count)]
    await finish(root, *made, **how)
    return made


class TestWhoGetsIt:
    async def test_a_caller_stays_with_a_version_also_when_the_share_grows(
        self, root: Root, editor: Editor, workflow_id: int, call: Call
    ) -> None:
        await start(editor, workflow_id, share=20)
        first = {index: (await call(index)).version_number for index in range(60)}
        assert set(first.values()) == {1, 2}
        assert {index: (await call(index)).version_number for index in range(60)} == first
        assert (await editor.put(f"/workflow/{workflow_id}/canary", json={"share": 50})).json()["share"] == 50
        later = {index: (await call(index)).version_number for index in range(60)}
        assert all(later[index] == 2 for index, given in first.items() if given == 2)
        assert sum(later.values()) > sum(first.values())

    async def test_tests_get_what_the_editor_shows(self, editor: Editor, workflow_id: int, call: Call) -> None:
        await start(editor, workflow_id)
        assert {(await call(index, use_draft=True)).version_number for index in range(9)} == {2}
        await editor.post(f"/workflow/{workflow_id}/create-draft")
        assert (await call(1, use_draft=True)).version_number == 3

    async def test_calls_of_campaigns_and_calls_without_a_number_are_drawn_too(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, call: Call
    ) -> None:
        canary = await start(editor, workflow_id)
        placement = CallPlacement(placed_by="campaign", checked_at=datetime.now(UTC))
        calls = [bulk.NewCall(f"c{index}", number(index), number(9000), {}, placement) for index in range(40)]
        async with root.db.transaction() as session:
            version = await workflows.get_version_to_run(session, org.id, workflow_id)
            made = await bulk.create_calls(session, version, mode="twilio", campaign_id=1, calls=calls)
        async with root.db.transaction() as session:
            found = {run.id: run for run in await session.scalars(select(Run))}
            kept = {row.run_id: row.is_new for row in await session.scalars(select(CanaryCall))}
            running = await choice.find_canary(session, org.id, workflow_id)
        assert running is not None
        assert {run.id: found[run.id].version_number == 2 for run in made} == kept
        assert set(kept.values()) == {True, False}
        # an inbound call of the same person gets the same version
        again = await call(7)
        assert (again.version_number == 2) == kept[made[7].id] == running.draw_call(number(7)).is_new
        unnumbered = {(await call(None)).version_number for _ in range(40)}
        assert unnumbered == {1, 2}
        assert canary["id"] == running.id

    async def test_what_was_given_stays_when_the_canary_ends(
        self, root: Root, editor: Editor, workflow_id: int, call: Call
    ) -> None:
        await start(editor, workflow_id)
        live = [await call(index) for index in range(20)]
        body = {"decision": "back", "reason": "The greeting is wrong."}
        ended = (await editor.post(f"/workflow/{workflow_id}/canary/end", json=body)).json()
        assert (ended["state"], ended["reason"], ended["explanation"]) == ("rolled_back", "by_hand", body["reason"])
        async with root.db.transaction() as session:
            kept = {run.id: run.version_number for run in await session.scalars(select(Run))}
        assert kept == {run.id: run.version_number for run in live}
        assert {(await call(index)).version_number for index in range(20)} == {1}
        assert await editor.versions(workflow_id) == [(2, "archived"), (1, "published")]


class TestDecisions:
    async def test_a_version_that_breaks_is_rolled_back_and_says_why(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, call: Call
    ) -> None:
        canary = await start(editor, workflow_id)
        assert await editor.versions(workflow_id) == [(2, "canary"), (1, "published")]
        await make_calls(root, call, 60, breaks=lambda run: run.version_number == 2)
        await look(root, org, canary["id"])
        ended = await read(editor, workflow_id)
        assert (ended["state"], ended["reason"]) == ("rolled_back", "less_success")
        assert ended["explanation"].startswith("Success fell: version 2 succeeded in ")
        evidence = ended["evidence"]
        assert evidence["new"]["success_rate"] < 0.5 < evidence["old"]["success_rate"]
        assert await editor.versions(workflow_id) == [(2, "archived"), (1, "published")]
        entries = (await editor.get("/organizations/audit-log")).json()
        text = str(entries)
        assert "workflow.canary_started" in text
        assert "workflow.canary_rolled_back" in text
        events = (await editor.get("/events")).json()["events"]
        (event,) = [event for event in events if event["type"] == "canary.ended"]
        assert event["data"]["explanation"] == ended["explanation"]

    @pytest.mark.slow
    async def test_a_version_that_is_as_good_becomes_the_published_one(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, call: Call
    ) -> None:
        canary = await start(editor, workflow_id, margin_points=30)
        await make_calls(root, call, 90)
        await look(root, org, canary["id"])
        ended = await read(editor, workflow_id)
        assert (ended["state"], ended["reason"]) == ("rolled_forward", "no_loss")
        assert await editor.versions(workflow_id) == [(2, "published"), (1, "archived")]
        assert (await call(999)).version_number == 2

    async def test_only_the_first_conversation_of_a_caller_counts(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, call: Call
    ) -> None:
        canary = await start(editor, workflow_id)
        await make_calls(root, call, 3)
        await look(root, org, canary["id"])
        await make_calls(root, call, 3)
        missed = [await call(50), await call(51)]
        await finish(root, missed[0], status="no_answer", answered_at=None)
        await finish(root, missed[1], outcome="voicemail")
        leased = await call(52)
        await finish(root, leased, lease_until=datetime.now(UTC) + timedelta(minutes=1))
        unnumbered = [await call(None), await call(None)]
        await finish(root, *unnumbered)
        await look(root, org, canary["id"])
        async with root.db.transaction() as session:
            places = {row.run_id: row.position for row in await session.scalars(select(CanaryCall))}
        assert [places[run.id] for run in (*missed, leased, *unnumbered)] == [0, 0, None, 4, 5]
        evidence = (await read(editor, workflow_id))["evidence"]
        assert evidence["old"]["calls"] + evidence["new"]["calls"] == 5

    async def test_earlier_calls_and_complaints_are_counted(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, call: Call
    ) -> None:
        before = await make_calls(root, call, 3)
        await make_calls(root, call, 1)  # another one of the first caller
        canary = await start(editor, workflow_id, earlier_days=7)
        made = [await call(index) for index in range(10, 20)]
        async with root.db.transaction() as session:
            for run in made:
                session.add(RunEvent(run_id=run.id, seq=1, organization_id=org.id, type="human_requested", at_ms=0))
        await finish(root, *made)
        await look(root, org, canary["id"])
        evidence = (await read(editor, workflow_id))["evidence"]
        assert evidence["earlier_calls"] == len(before)
        assert evidence["old"]["complaint_rate"] == evidence["new"]["complaint_rate"] == 1


class TestKilledWorkers:
    @pytest.fixture
    async def canary(self, root: Root, editor: Editor, workflow_id: int, call: Call) -> dict[str, Any]:
        """A canary that will be rolled back by its next look."""
        started = await start(editor, workflow_id)
        await make_calls(root, call, 60, breaks=lambda run: run.version_number == 2)
        return started

    async def test_two_looks_at_once_decide_once(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, canary: dict[str, Any]
    ) -> None:
        await asyncio.gather(*(look(root, org, canary["id"]) for _ in range(4)))
        ended = await read(editor, workflow_id)
        assert ended["state"] == "rolled_back"
        await look(root, org, canary["id"])
        assert await read(editor, workflow_id) == ended
        events = (await editor.get("/events")).json()["events"]
        assert len([event for event in events if event["type"] == "canary.ended"]) == 1
        log = str((await editor.get("/organizations/audit-log")).json())
        assert log.count("'workflow.canary_rolled_back'") == 1

    async def test_a_look_that_dies_between_its_transactions_changes_nothing(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, canary: dict[str, Any]
    ) -> None:
        """What a killed process leaves is what its transactions have committed: places, and no verdict."""
        job = CanaryJob(root.db, SystemClock())
        case = await job.settle_calls(org.id, canary["id"])
        assert case is not None
        assert (await read(editor, workflow_id))["evidence"] is None
        places = await self.read_places(root)
        await look(root, org, canary["id"])
        ended = await read(editor, workflow_id)
        assert (ended["state"], ended["reason"]) == ("rolled_back", "less_success")
        assert await self.read_places(root) == places
        # the dead one's verdict, if it was only slow
        await job.judge_case(case)
        assert await read(editor, workflow_id) == ended

    @pytest.mark.slow
    @pytest.mark.parametrize("commits", [0, 1])
    async def test_a_look_that_is_killed_before_it_commits_is_made_again(
        self,
        root: Root,
        org: OrgFixture,
        editor: Editor,
        workflow_id: int,
        canary: dict[str, Any],
        database_url: str,
        tmp_path: Path,
        commits: int,
    ) -> None:
        """``kill -9`` at the end of the transaction that gives places (0), and of the one that ends the canary (1)."""
        order = {"database": database_url, "commits": commits, "organization_id": org.id, "canary_id": canary["id"]}
        with (tmp_path / "look.log").open("w") as log:
            dying = forks().start(json.dumps(order), env=os.environ, stdout=log, target="tests.canary.dying_look:main")
        assert await dying.ended() == -signal.SIGKILL, (tmp_path / "look.log").read_text()
        assert (await read(editor, workflow_id))["state"] == "running"
        assert any((await self.read_places(root)).values()) == bool(commits)
        await look(root, org, canary["id"])
        ended = await read(editor, workflow_id)
        assert (ended["state"], ended["reason"]) == ("rolled_back", "less_success")
        assert await editor.versions(workflow_id) == [(2, "archived"), (1, "published")]
        events = (await editor.get("/events")).json()["events"]
        assert len([event for event in events if event["type"] == "canary.ended"]) == 1

    async def test_looks_in_any_portions_say_the_same(
        self, root: Root, org: OrgFixture, editor: Editor, workflow_id: int, call: Call
    ) -> None:
        canary = await start(editor, workflow_id)
        for first in range(0, 24, 4):
            await make_calls(root, call, 4, first=first)
            await look(root, org, canary["id"])
        evidence = (await read(editor, workflow_id))["evidence"]
        async with root.db.transaction() as session:
            await session.execute(update(WorkflowCanary).values(evidence={}, judged_calls=0))
        await look(root, org, canary["id"])
        assert (await read(editor, workflow_id))["evidence"] == evidence

    @staticmethod
    async def read_places(root: Root) -> dict[int, int | None]:
        async with root.db.transaction() as session:
            return {row.run_id: row.position for row in await session.scalars(select(CanaryCall))}
