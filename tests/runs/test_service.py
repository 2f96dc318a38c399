"""Creating runs, moving them, their media tokens and the limit of live calls."""

import asyncio
import random
import re
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import update

from offhook.kit.database.database import Database
from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.runs import service
from offhook.runs.errors import ConcurrentCallLimit, MediaTokenRefused, RunNotFound, WorkflowHasNoStart
from offhook.runs.live import media_tokens
from offhook.runs.records import event_queries
from offhook.runs.states import FINAL_STATES, LIVE_STATES, can_move
from offhook.runs.tables import MediaToken, Run
from offhook.workflows.tables import WorkflowVersion
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun, MakeWorkflow


async def reload(root: Root, run: Run) -> Run:
    async with root.db.transaction() as session:
        return await service.get_run(session, run.organization_id, run.id)


async def tell(root: Root, run: Run, status: str, **values: object) -> bool:
    async with root.db.transaction() as session:
        return await service.apply_status(session, run.organization_id, run.id, status, **values)  # type: ignore[arg-type]


class TestCreateRun:
    async def test_is_initiated_with_a_name_of_its_kind(self, make_run: MakeRun) -> None:
        run = await make_run(name_prefix="WR-TEL-IN", phone_number="+12015550101")
        assert (run.status, run.version_number, run.phone_number) == ("initiated", 1, "+12015550101")
        assert re.fullmatch(r"WR-TEL-IN-\d{8}", run.name)

    async def test_a_given_name_is_kept(self, make_run: MakeRun) -> None:
        assert (await make_run(name="Mine")).name == "Mine"

    async def test_a_draft_without_a_start_is_refused(
        self, root: Root, org: OrgFixture, make_workflow: MakeWorkflow
    ) -> None:
        workflow_id = await make_workflow(org.id, status="draft")
        async with root.db.transaction() as session:
            await session.execute(
                update(WorkflowVersion)
                .where(WorkflowVersion.workflow_id == workflow_id)
                .values(definition={"nodes": [], "edges": []})
            )
        with pytest.raises(WorkflowHasNoStart):
            async with root.db.transaction() as session:
                await service.create_run(
                    session,
                    organization_id=org.id,
                    workflow_id=workflow_id,
                    mode="browser",
                    direction="inbound",
                    use_draft=True,
                )


class TestConcurrentCallLimit:
    @pytest.fixture(autouse=True)
    async def limit_of_three(self, root: Root, org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            await session.execute(update(Organization).where(Organization.id == org.id).values(concurrency_limit=3))

    async def test_two_processes_never_pass_it_together(
        self, root: Root, org: OrgFixture, workflow_id: int, database_url: str
    ) -> None:
        other = Database(database_url)

        async def create(db: Database) -> Run:
            async with db.transaction() as session:
                return await service.create_run(
                    session,
                    organization_id=org.id,
                    workflow_id=workflow_id,
                    mode="twilio",
                    direction="outbound",
                    use_draft=False,
                )

        made = await asyncio.gather(*(create(db) for db in (root.db, other) * 6), return_exceptions=True)
        refused = [error for error in made if isinstance(error, ConcurrentCallLimit)]
        assert (sum(isinstance(run, Run) for run in made), len(refused)) == (3, 9)
        assert refused[0].status == 429
        assert int((refused[0].headers or {})["Retry-After"]) > 0
        await other.dispose()

    async def test_a_call_that_ends_makes_room_and_chats_need_none(self, root: Root, make_run: MakeRun) -> None:
        runs = [await make_run() for _ in range(3)]
        await make_run(mode="textchat")
        with pytest.raises(ConcurrentCallLimit):
            await make_run()
        await tell(root, runs[0], "busy")
        await make_run()


class TestApplyStatus:
    async def test_a_call_from_ringing_to_its_end(self, root: Root, run: Run) -> None:
        begin = datetime(2026, 1, 5, 12, 0, tzinfo=UTC)
        assert await tell(root, run, "ringing", at=begin, call_id="CA1")
        assert await tell(root, run, "in_progress", at=begin + timedelta(seconds=4))
        assert await tell(root, run, "completed", at=begin + timedelta(seconds=34.5))
        ended = await reload(root, run)
        assert (ended.status, ended.outcome, ended.call_id) == ("completed", "answered", "CA1")
        assert (ended.started_at, ended.answered_at) == (begin, begin + timedelta(seconds=4))
        assert float(ended.duration or 0) == 30.5

    @pytest.mark.parametrize(
        ("status", "outcome"), [("busy", "busy"), ("no_answer", "no_answer"), ("canceled", "canceled")]
    )
    async def test_an_unanswered_call_has_its_status_as_outcome(
        self, root: Root, run: Run, status: str, outcome: str
    ) -> None:
        assert await tell(root, run, status, end_reason="carrier")
        ended = await reload(root, run)
        assert (ended.outcome, ended.end_reason, float(ended.duration or 0)) == (outcome, "carrier", 0.0)

    async def test_final_is_final_and_a_late_report_is_only_written_down(self, root: Root, run: Run) -> None:
        assert await tell(root, run, "no_answer")
        before = await reload(root, run)
        for late in ("ringing", "in_progress", "completed", "no_answer", "failed"):
            assert not await tell(root, run, late, outcome="answered", call_id="CA9", end_reason="late")
        after = await reload(root, run)
        for column in ("status", "outcome", "call_id", "end_reason", "ended_at", "duration", "answered_at"):
            assert getattr(after, column) == getattr(before, column), column
        async with root.db.transaction() as session:
            events = await event_queries.read_events(session, run.organization_id, run.id)
        assert [event["type"] for event in events] == ["status_changed"] + ["status_ignored"] * 5
        assert events[1]["data"]["current"] == "no_answer"

    async def test_two_processes_agree_on_one_end(self, root: Root, run: Run, database_url: str) -> None:
        other = Database(database_url)

        async def end(db: Database, status: str) -> bool:
            async with db.transaction() as session:
                return await service.apply_status(session, run.organization_id, run.id, status)

        finals = ["completed", "busy", "failed", "no_answer", "canceled"] * 4
        moved = await asyncio.gather(*(end((root.db, other)[i % 2], status) for i, status in enumerate(finals)))
        assert sum(moved) == 1
        assert (await reload(root, run)).status == finals[moved.index(True)]
        await other.dispose()

    @pytest.mark.parametrize("seed", range(6))
    async def test_the_database_moves_as_the_state_machine_does(self, root: Root, run: Run, seed: int) -> None:
        state = "initiated"
        for status in random.Random(seed).choices(sorted(LIVE_STATES) * 3 + sorted(FINAL_STATES), k=8):
            expected = can_move(state, status)
            assert await tell(root, run, status) == expected
            state = status if expected else state
            assert (await reload(root, run)).status == state

    async def test_an_unknown_run_and_an_unknown_status(self, root: Root, run: Run, other_org: OrgFixture) -> None:
        with pytest.raises(RunNotFound):
            async with root.db.transaction() as session:
                await service.apply_status(session, other_org.id, run.id, "completed")
        with pytest.raises(ValueError, match="answered"):
            await tell(root, run, "answered")
        assert (await reload(root, run)).status == "initiated"


class TestMediaTokens:
    async def claim(self, db: Database, token: str, run_id: int, mode: str = "twilio") -> Run:
        async with db.transaction() as session:
            return await media_tokens.claim_token(session, token, run_id=run_id, mode=mode)

    @pytest.fixture
    async def token(self, root: Root, run: Run) -> str:
        async with root.db.transaction() as session:
            return await media_tokens.issue_token(session, run)

    async def test_opens_once_even_for_many_at_a_time(
        self, root: Root, run: Run, token: str, database_url: str
    ) -> None:
        other = Database(database_url)
        attempts = await asyncio.gather(
            *(self.claim(db, token, run.id) for db in (root.db, other) * 5), return_exceptions=True
        )
        assert sum(isinstance(attempt, Run) for attempt in attempts) == 1
        assert sum(isinstance(attempt, MediaTokenRefused) for attempt in attempts) == 9
        await other.dispose()

    async def test_a_wrong_use_does_not_spend_it(self, root: Root, run: Run, token: str, make_run: MakeRun) -> None:
        another = await make_run()
        for wrong in (
            self.claim(root.db, token, another.id),
            self.claim(root.db, token, run.id, mode="browser"),
            self.claim(root.db, token + "x", run.id),
            self.claim(root.db, "", run.id),
            self.claim(root.db, "\0\ud800", run.id),
        ):
            with pytest.raises(MediaTokenRefused):
                await wrong
        assert (await self.claim(root.db, token, run.id)).id == run.id

    async def test_not_after_its_time_and_not_for_a_run_that_is_over(self, root: Root, run: Run, token: str) -> None:
        async with root.db.transaction() as session:
            old = await media_tokens.issue_token(session, run, ttl_s=-1)
        with pytest.raises(MediaTokenRefused):
            await self.claim(root.db, old, run.id)
        await tell(root, run, "canceled")
        with pytest.raises(MediaTokenRefused):
            await self.claim(root.db, token, run.id)

    async def test_the_token_itself_is_not_stored(self, root: Root, run: Run, token: str) -> None:
        async with root.db.transaction() as session:
            row = (await session.execute(MediaToken.__table__.select())).one()
        assert token.encode() not in bytes(row.token_sha256)
        assert row.run_id == run.id
