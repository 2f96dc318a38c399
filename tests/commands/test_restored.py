"""A restored database gives out no number of a run or event that was lost: others than the database still know them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from sqlalchemy import text

from offhook.bootstrap import build_root, stop_domains
from offhook.commands.console import CommandError
from offhook.commands.migrate import move_numbers
from offhook.root import Root
from offhook.runs import RunServices, service
from offhook.runs.partitions.run_partitions import KEEP_JOB
from offhook.runs.tables import Run
from offhook.settings import Settings
from offhook.webhooks.service import publish_event
from offhook.webhooks.tables import WebhookEndpoint
from offhook.workflows.tables import Workflow, WorkflowVersion
from tests.commands.conftest import Offhook
from tests.databases import DatabasePool
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import DEFINITION
from tests.runs.partitioned_runs import DEFAULT, say, table_of

AHEAD = 1_000_000


@dataclass(frozen=True)
class Call:
    """What one call leaves outside of the database, and its run."""

    run: Run
    event_id: int
    delivery: int
    recording: str


@asynccontextmanager
async def restored_copy(pool: DatabasePool, settings: Settings, url: str) -> AsyncIterator[Root]:
    """The installation with the database as it is now, and the files that all of them share."""
    rows = pool.read_rows(url)
    with pool.lent() as copy:
        assert pool.write_rows(copy, rows)
        root = build_root(settings, copy)
        yield root
        await stop_domains(root)
        await root.db.dispose()


@pytest.fixture
async def workflow_id(root: Root, org: OrgFixture) -> int:
    async with root.db.transaction() as session:
        workflow = Workflow(organization_id=org.id, name="Front desk")
        session.add_all([workflow, WebhookEndpoint(organization_id=org.id, url="https://shop.test", secret=b"x")])
        await session.flush()
        session.add(
            WorkflowVersion(
                workflow_id=workflow.id,
                organization_id=org.id,
                version_number=1,
                status="published",
                definition=DEFINITION,
            )
        )
        return workflow.id


async def make_call(root: Root, organization_id: int, workflow_id: int, sound: bytes) -> Call:
    """A run with a recording in the bucket and an event for a receiver."""
    async with root.db.transaction() as session:
        run = await service.create_run(
            session,
            organization_id=organization_id,
            workflow_id=workflow_id,
            mode="twilio",
            direction="outbound",
            use_draft=False,
        )
        event_id = await publish_event(session, organization_id, "run.completed", {"run_id": run.id})
        delivery = await session.scalar(text("SELECT max(last_sequence) FROM webhook_endpoints"))
    await say(root, run, "hello")
    storage = root.get(RunServices).storage
    draft = storage.path_for(f"uploads/{run.id}.wav")
    draft.parent.mkdir(parents=True, exist_ok=True)
    draft.write_bytes(sound)
    key = f"recordings/{organization_id}/{run.id}.wav"
    await storage.keep(key, draft)
    assert event_id is not None
    return Call(run, event_id, int(delivery or 0), key)


async def read_sound(root: Root, call: Call) -> bytes:
    async with root.get(RunServices).storage.open_file(call.recording) as path:
        return path.read_bytes()


async def test_nothing_of_a_lost_run_is_overwritten(
    root: Root, org: OrgFixture, workflow_id: int, database_pool: DatabasePool, settings: Settings
) -> None:
    kept = await make_call(root, org.id, workflow_id, b"before the backup")
    async with restored_copy(database_pool, settings, root.db.url) as restored:
        lost = await make_call(root, org.id, workflow_id, b"after the backup")
        assert lost.run.id == kept.run.id + 1
        before = await move_numbers(restored.db, AHEAD)
        assert before.last == kept.run.id

        fresh = await make_call(restored, org.id, workflow_id, b"after the restore")
        assert await read_sound(restored, lost) == b"after the backup"
        assert await read_sound(restored, kept) == b"before the backup"
        assert fresh.run.id == kept.run.id + AHEAD + 1
        assert fresh.event_id == kept.event_id + AHEAD + 1
        assert fresh.delivery == kept.delivery + AHEAD + 1


async def test_without_it_numbers_repeat(
    root: Root, org: OrgFixture, workflow_id: int, database_pool: DatabasePool, settings: Settings
) -> None:
    """What the command is for; where this no longer holds, it is not needed any more."""
    async with restored_copy(database_pool, settings, root.db.url) as restored:
        lost = await make_call(root, org.id, workflow_id, b"after the backup")
        fresh = await make_call(restored, org.id, workflow_id, b"after the restore")
        assert (fresh.run.id, fresh.event_id, fresh.delivery) == (lost.run.id, lost.event_id, lost.delivery)
        assert await read_sound(restored, lost) == b"after the restore"


async def test_calls_after_the_gap_lie_in_partitions(root: Root, org: OrgFixture, workflow_id: int) -> None:
    await move_numbers(root.db, AHEAD)
    for _ in range(2):
        call = await make_call(root, org.id, workflow_id, b"")
        tables = await table_of(root, call.run)
        assert tables
        assert DEFAULT not in tables
        await root.jobs.handlers[KEEP_JOB]({})


async def test_too_few_numbers_change_nothing(root: Root, org: OrgFixture, workflow_id: int) -> None:
    with pytest.raises(CommandError, match=r"_id_seq has too few numbers left for --ahead 1500000000\. Nothing was"):
        await move_numbers(root.db, 1_500_000_000)
    assert (await make_call(root, org.id, workflow_id, b"")).run.id == 1


def test_the_command(database_url: str, offhook: Offhook) -> None:
    done = offhook.run("restored", "--ahead", "5000", OFFHOOK_DATABASE_URL=database_url)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == ("The next run is number 5001; 1 to 5000 stay unused. All other numbers skip 5000 as well.\n")
    again = offhook.run("restored", "--ahead", "5000", OFFHOOK_DATABASE_URL=database_url)
    assert again.stdout.startswith("The next run is number 10001; 5001 to 10000 stay unused.")
    assert offhook.run("restored", "--ahead", "0", OFFHOOK_DATABASE_URL=database_url).returncode == 2
