"""The live event stream: resumes by number, hears of other processes, ends with the run."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text, update

from offhook.kit.database.connection_shares import MAX_OF_ONE_ORGANIZATION
from offhook.kit.database.database import Database
from offhook.root import Root
from offhook.runs import service
from offhook.runs.live.event_streams import RunStreams
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.tables import Run
from offhook.voice.events import CALLER_PARTIAL, CALLER_SAID, VoiceEvent
from tests.fixtures_orgs import OrgFixture


def said(number: int) -> VoiceEvent:
    return VoiceEvent(CALLER_SAID, number / 10, {"text": f"line {number}\nwith a break"})


def parse(body: str) -> list[dict[str, Any]]:
    """The messages of a server-sent event stream: id, event, data."""
    messages = []
    for block in body.split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.splitlines() if not line.startswith(":"))
        if "data" in fields:
            messages.append({**fields, "data": json.loads(fields["data"])})
    return messages


@pytest.fixture
async def streams(root: Root) -> AsyncIterator[RunStreams]:
    made = RunStreams(root.db)
    yield made
    await made.close()


@pytest.fixture
async def other(database_url: str) -> AsyncIterator[Database]:
    """The database as another process has it."""
    database = Database(database_url)
    yield database
    await database.dispose()


async def end(db: Database, run: Run) -> None:
    async with db.transaction() as session:
        await service.apply_status(session, run.organization_id, run.id, "completed", outcome="answered")


def events_path(run: Run) -> str:
    return f"/workflow/{run.workflow_id}/runs/{run.id}/events"


async def test_who_may_not(client: AsyncClient, run: Run, other_org: OrgFixture, org: OrgFixture) -> None:
    assert (await client.get(events_path(run))).status_code == 401
    assert (await client.get(events_path(run), headers=other_org.owner_headers)).status_code == 404
    assert (await client.get(f"{events_path(run)}?after=-1", headers=org.owner_headers)).status_code == 422


async def test_a_run_that_is_over_is_told_from_the_beginning(
    client: AsyncClient, run: Run, org: OrgFixture, root: Root
) -> None:
    writer = EventWriter(root.db)
    sink = writer.create_sink(run.id)
    for number in range(3):
        sink.emit(said(number))
    await writer.flush()
    await end(root.db, run)
    answer = await client.get(events_path(run), headers=org.owner_headers)
    assert answer.headers["content-type"].startswith("text/event-stream")
    messages = parse(answer.text)
    assert [message.get("id") for message in messages] == ["1", "2", "3", "4", None]
    assert messages[1]["data"]["data"] == {"text": "line 1\nwith a break"}
    assert (messages[-1]["event"], messages[-1]["data"]["status"]) == ("ended", "completed")


@pytest.mark.parametrize(
    ("header", "first"), [("2", "3"), ("0", "1"), ("99", None), ("nonsense", "1"), ("-1", "1"), ("²", "1")]
)
async def test_resumes_behind_the_last_event_id(
    client: AsyncClient, run: Run, org: OrgFixture, root: Root, header: str, first: str | None
) -> None:
    writer = EventWriter(root.db)
    for number in range(3):
        writer.create_sink(run.id).emit(said(number))
    await writer.flush()
    await end(root.db, run)
    headers = {**org.owner_headers, "Last-Event-ID": header.encode()}
    answer = await client.get(events_path(run), headers=headers)  # type: ignore[arg-type]
    assert parse(answer.text)[0].get("id") == first


async def collect(streams: RunStreams, run: Run, after: int = 0) -> list[Any]:
    seen: list[Any] = []
    async with asyncio.timeout(60):
        async for part in streams.follow_run(run.organization_id, run.id, after=after):
            seen += part if isinstance(part, list) else [part]
    return seen


async def test_hears_of_a_run_that_another_process_carries(
    streams: RunStreams, root: Root, run: Run, other: Database
) -> None:
    reading = asyncio.create_task(collect(streams, run))
    writer = EventWriter(other, interval_s=0.01)
    sink = writer.create_sink(run.id)
    for number in range(20):
        sink.emit(said(number))
        await asyncio.sleep(0.01)
    await writer.flush()
    await end(other, run)
    seen = await reading
    assert [event["seq"] for event in seen] == list(range(1, 22))
    assert [event["data"]["text"].split("\n")[0] for event in seen[:20]] == [f"line {i}" for i in range(20)]


async def test_shows_live_only_events_of_this_process(streams: RunStreams, root: Root, run: Run) -> None:
    reading = asyncio.create_task(collect(streams, run))
    await streams.wait_until_ready()
    await asyncio.sleep(0.05)
    writer = EventWriter(root.db, streams.on_live, interval_s=0.01)
    sink = writer.create_sink(run.id)
    sink.emit(VoiceEvent(CALLER_PARTIAL, 0.1, {"text": "hel \ud83d"}))
    await asyncio.sleep(0.05)
    sink.emit(said(1))
    await writer.flush()
    await end(root.db, run)
    seen = await reading
    assert isinstance(seen[0], VoiceEvent)
    assert seen[0].data == {"text": "hel ?"}, "half of a pair cannot be sent as UTF-8"
    assert [event["type"] for event in seen[1:]] == [CALLER_SAID, "status_changed"]


async def test_a_final_run_goes_on_while_its_worker_completes_it(
    streams: RunStreams, root: Root, run: Run, other: Database
) -> None:
    async with other.transaction() as session:
        await session.execute(
            update(Run)
            .where(Run.id == run.id)
            .values(status="in_progress", worker_id="w", lease_until=text("now() + interval '1 minute'"))
        )
    await end(other, run)
    reading = asyncio.create_task(collect(streams, run))
    writer = EventWriter(other, interval_s=0.01)
    writer.create_sink(run.id).emit(said(1))
    await writer.flush()
    assert not reading.done()
    async with other.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(lease_until=None))
        await session.execute(text("SELECT pg_notify('offhook_run_events', :id)"), {"id": str(run.id)})
    assert [event["type"] for event in await reading] == ["status_changed", CALLER_SAID]


async def test_hears_again_after_its_connection_was_cut(
    streams: RunStreams, root: Root, run: Run, other: Database
) -> None:
    reading = asyncio.create_task(collect(streams, run))
    await streams.wait_until_ready()
    await asyncio.sleep(0.05)
    async with other.transaction() as session:
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' AND pid <> pg_backend_pid()"
        assert (await session.execute(text(cut))).scalars().all() == [True]
    writer = EventWriter(other, interval_s=0.01)
    writer.create_sink(run.id).emit(said(1))
    await writer.flush()
    await end(other, run)
    assert [event["seq"] for event in await reading] == [1, 2]


async def test_nobody_listens_when_everybody_left(streams: RunStreams, root: Root, run: Run) -> None:
    reading = asyncio.create_task(collect(streams, run))
    await streams.wait_until_ready()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert not streams._listeners


async def test_a_quiet_run_is_kept_alive(streams: RunStreams, root: Root, run: Run) -> None:
    quiet = 0
    async with asyncio.timeout(60):
        async for part in streams.follow_run(run.organization_id, run.id, after=0, keep_alive_s=0.05):
            quiet += part is None
            if quiet == 3:
                await end(root.db, run)
    assert quiet >= 3


async def test_followers_of_one_organization_leave_connections_to_the_others(
    streams: RunStreams, root: Root, run: Run
) -> None:
    """Each event of a call wakes all who follow it."""
    await end(root.db, run)
    async with AsyncExitStack() as held:
        for _ in range(MAX_OF_ONE_ORGANIZATION):
            busy = asyncio.create_task(hold_place(root.db, run.organization_id, until := asyncio.Event()))
            held.push_async_callback(asyncio.wait, [busy])
            held.callback(until.set)
        await asyncio.sleep(0)
        reading = asyncio.create_task(collect(streams, run))
        await streams.wait_until_ready()
        await asyncio.sleep(0.2)
        assert not reading.done()
    assert await reading


async def hold_place(db: Database, organization_id: int, until: asyncio.Event) -> None:
    async with db.shares.take(organization_id):
        await until.wait()
