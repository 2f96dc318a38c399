"""The sweeper: a run whose worker died ends once, rightly, and no living run is ended."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.bootstrap import build_root
from offhook.kit.audio import MULAW_8K
from offhook.kit.clock import Clock
from offhook.root import Root
from offhook.runs import RunFinished, RunServices, service
from offhook.runs.live import lease_queries
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.live.sweeper import RunSweeper
from offhook.runs.recording_files.call_recording import CallRecordings, WavRecorder
from offhook.runs.recording_files.recording_spool import RecordingSpool
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.tables import Run
from offhook.settings import Settings
from offhook.voice.events import (
    AGENT_SAID,
    NODE_ENTERED,
    TURN_TIMED,
    USAGE_COUNTED,
    VARIABLES_EXTRACTED,
    VoiceEvent,
)
from tests.fakes.clock import SetClock
from tests.runs.conftest import MakeRun
from tests.runs.test_recording import channels

FindCarried = Callable[[Sequence[int]], Awaitable[set[int]]]
LEASE_S = 10.0
GRACE_S = 3.0


def make_sweeper(
    root: Root, clock: Clock, grace_s: float = GRACE_S, find_carried: FindCarried | None = None
) -> RunSweeper:
    """``grace_s`` of 0 gives up a run at the first look at its expired lease."""
    return RunSweeper(
        db=root.db,
        storage=root.storage,
        spool=RecordingSpool(root.db, root.get(RunServices).vault),
        events=root.events,
        clock=clock,
        lease_s=LEASE_S,
        grace_s=grace_s,
        find_carried=find_carried,
    )


@pytest.fixture
def clock() -> SetClock:
    return SetClock(datetime.now(UTC))


@pytest.fixture
def sweeper(root: Root, clock: SetClock) -> RunSweeper:
    return make_sweeper(root, clock)


@pytest.fixture
def published(root: Root) -> list[RunFinished]:
    seen: list[RunFinished] = []

    async def keep(event: RunFinished) -> None:
        seen.append(event)

    root.events.subscribe(RunFinished, keep)
    return seen


@pytest.fixture
async def carried(root: Root, run: Run, clock: SetClock) -> Run:
    """A run that a worker took now."""
    until = clock.now() + timedelta(seconds=LEASE_S)
    async with root.db.transaction() as session:
        taken = await lease_queries.take_run(session, run.id, worker_id="w1", now=clock.now(), until=until)
    assert taken is not None
    return taken


async def reload(root: Root, run: Run) -> Run:
    async with root.db.transaction() as session:
        return await service.get_run(session, run.organization_id, run.id)


async def renew(root: Root, run: Run, clock: SetClock, worker_id: str = "w1") -> set[int]:
    async with root.db.transaction() as session:
        until = clock.now() + timedelta(seconds=LEASE_S)
        return (await lease_queries.renew_run_leases(session, [run.id], worker_id=worker_id, until=until))[0]


async def test_a_renewal_does_not_wait_for_a_run_that_is_being_changed(
    root: Root, make_run: MakeRun, clock: SetClock
) -> None:
    """Else one slow transaction on one run would cost all other calls of the process their leases."""
    first, second = [(await make_run()).id for _ in range(2)]
    until = clock.now() + timedelta(seconds=LEASE_S)
    async with root.db.transaction() as session:
        for run_id in (first, second):
            assert await lease_queries.take_run(session, run_id, worker_id="w1", now=clock.now(), until=until)

    async def renew_both() -> tuple[set[int], set[int]]:
        async with root.db.transaction() as session:
            return await lease_queries.renew_run_leases(session, [second, first], worker_id="w1", until=until)

    async with root.db.transaction() as ending, asyncio.timeout(60):
        await ending.execute(select(Run.id).where(Run.id == first).with_for_update())
        assert await renew_both() == ({second}, {first})
    assert await renew_both() == ({first, second}, set())


async def sweep_for(sweeper: RunSweeper, clock: SetClock, seconds: float) -> list[int]:
    """Sweep every second, as the job does."""
    ended = []
    for _ in range(int(seconds)):
        clock.advance(1)
        ended += await sweeper.sweep()
    return ended


async def test_a_living_run_is_left_alone(root: Root, carried: Run, sweeper: RunSweeper, clock: SetClock) -> None:
    for _ in range(20):
        assert await sweep_for(sweeper, clock, 3) == []
        assert await renew(root, carried, clock) == {carried.id}
    assert (await reload(root, carried)).status == "in_progress"


async def test_a_run_whose_process_says_that_it_carries_it_is_left_alone(
    root: Root, carried: Run, clock: SetClock
) -> None:
    asked: list[int] = []
    still_carried = {carried.id}

    async def find_carried(run_ids: Sequence[int]) -> set[int]:
        asked.extend(run_ids)
        return still_carried & set(run_ids)

    sweeper = make_sweeper(root, clock, find_carried=find_carried)
    assert await sweep_for(sweeper, clock, 60) == []
    assert asked
    assert await renew(root, carried, clock) == {carried.id}, "its process is back"
    still_carried.clear()
    assert await sweep_for(sweeper, clock, LEASE_S + GRACE_S + 2) == [carried.id]


async def test_a_run_whose_worker_died_fails_with_what_is_known_of_it(
    root: Root, carried: Run, sweeper: RunSweeper, clock: SetClock, published: list[RunFinished]
) -> None:
    writer = EventWriter(root.db)
    sink = writer.create_sink(carried.id)
    sink.emit(VoiceEvent(NODE_ENTERED, 0.1, {"node_id": "start", "name": "Greeting"}))
    times = {"caller_stopped": 3.5, "first_frame": 4.0, "response_ms": 500}
    sink.emit(VoiceEvent(TURN_TIMED, 4.0, times))
    sink.emit(VoiceEvent(AGENT_SAID, 4.9, {"text": "Hello Ada.", "timing": times}))
    sink.emit(VoiceEvent(VARIABLES_EXTRACTED, 5.0, {"values": {"name": "Ada"}}))
    await writer.flush()
    assert await sweep_for(sweeper, clock, LEASE_S + GRACE_S + 2) == [carried.id]
    run = await reload(root, carried)
    assert (run.status, run.end_reason, run.outcome) == ("failed", "worker_lost", "answered")
    assert run.latency == {"p50_ms": 500, "p95_ms": 500, "turns": 1}
    assert run.gathered_context["name"] == "Ada"
    assert run.ended_at is not None
    assert run.ended_at - carried.created_at < timedelta(seconds=5), "ended when it was last heard of"
    assert (run.worker_id, run.lease_until) == (None, None)
    assert [(event.run_id, event.end_reason) for event in published] == [(run.id, "worker_lost")]
    assert await sweep_for(sweeper, clock, 5) == []


async def test_two_sweepers_end_a_run_once(
    root: Root, carried: Run, clock: SetClock, database_url: str, settings: Settings, published: list[RunFinished]
) -> None:
    second = build_root(settings, database_url)
    second.events = root.events
    sweepers = [make_sweeper(root, clock), make_sweeper(second, clock)]
    ended: list[int] = []
    for _ in range(16):
        clock.advance(1)
        for result in await asyncio.gather(*(sweeper.sweep() for sweeper in sweepers)):
            ended += result
    assert ended == [carried.id]
    assert len(published) == 1
    await second.db.dispose()


async def test_after_an_outage_the_workers_have_time_to_renew(
    root: Root, carried: Run, sweeper: RunSweeper, clock: SetClock
) -> None:
    clock.advance(60)  # nobody could write, nobody swept
    assert await sweeper.sweep() == []
    clock.advance(1)
    assert await renew(root, carried, clock) == {carried.id}
    assert await sweep_for(sweeper, clock, 8) == []


async def test_a_server_that_starts_gives_the_others_time_too(root: Root, carried: Run, clock: SetClock) -> None:
    clock.advance(LEASE_S + 1)
    started = make_sweeper(root, clock)
    assert await started.sweep() == []
    assert await renew(root, carried, clock) == {carried.id}
    assert await sweep_for(started, clock, LEASE_S - 1) == []


async def test_a_worker_that_wakes_up_late_is_told_that_its_run_is_gone(
    root: Root, carried: Run, sweeper: RunSweeper, clock: SetClock
) -> None:
    clock.advance(LEASE_S + 1)
    await make_sweeper(root, clock, grace_s=0).sweep()
    assert await renew(root, carried, clock) == set()


async def test_the_recording_of_a_killed_process_is_repaired(
    root: Root, carried: Run, sweeper: RunSweeper, clock: SetClock
) -> None:
    key = f"recordings/{carried.organization_id}/{carried.id}.wav"
    path: Path = root.storage.path_for(key)
    recorder = WavRecorder(path, MULAW_8K, CallRecordings(), 0)
    for i in range(50):
        recorder.record_caller(i * 0.02, MULAW_8K.silence_frame)
    recorder.flush()
    with path.open("ab") as file:
        file.write(b"\0" * 4001)
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == carried.id).values(recording_key=key))
    written = len(channels(path)[1])
    clock.advance(LEASE_S + 1)
    await make_sweeper(root, clock, grace_s=0).sweep()
    assert len(channels(path)[1]) == written + 1000


async def test_a_recording_that_had_not_begun_when_its_process_died_is_deleted(
    root: Root, carried: Run, sweeper: RunSweeper, clock: SetClock
) -> None:
    key = f"recordings/{carried.organization_id}/{carried.id}.wav"
    path: Path = root.storage.path_for(key)
    WavRecorder(path, MULAW_8K, CallRecordings(), 0)
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == carried.id).values(recording_key=key))
    clock.advance(LEASE_S + 1)
    await make_sweeper(root, clock, grace_s=0).sweep()
    assert (path.exists(), (await reload(root, carried)).recording_key) == (False, None)


async def test_a_worker_that_died_after_the_carriers_last_word_keeps_that_word(
    root: Root, carried: Run, sweeper: RunSweeper, clock: SetClock
) -> None:
    async with root.db.transaction() as session:
        assert await service.apply_status(
            session, carried.organization_id, carried.id, "completed", at=clock.now() + timedelta(seconds=5)
        )
    assert (await reload(root, carried)).outcome is None, "the live call says how it went"
    clock.advance(LEASE_S + 1)
    await make_sweeper(root, clock, grace_s=0).sweep()
    run = await reload(root, carried)
    assert (run.status, run.outcome, run.end_reason, run.lease_until) == ("completed", "answered", "worker_lost", None)
    assert float(run.duration or 0) == pytest.approx(5, abs=0.01)


@pytest.mark.parametrize("status", [None, "ringing", "in_progress"])
async def test_a_run_that_nobody_ever_connected_fails_after_five_minutes(
    root: Root, run: Run, sweeper: RunSweeper, clock: SetClock, published: list[RunFinished], status: str | None
) -> None:
    if status is not None:
        async with root.db.transaction() as session:
            await service.apply_status(session, run.organization_id, run.id, status)
    clock.advance(290)
    assert await sweeper.sweep() == []
    clock.advance(20)
    assert await sweeper.sweep() == [run.id]
    swept = await reload(root, run)
    assert (swept.status, swept.end_reason) == ("failed", "never_connected")
    assert [event.end_reason for event in published] == ["never_connected"]


async def test_an_abandoned_chat_is_completed(
    root: Root, make_run: MakeRun, sweeper: RunSweeper, clock: SetClock
) -> None:
    chat = await make_run(mode="textchat", direction="inbound")
    async with root.db.transaction() as session:
        await session.execute(
            update(Run)
            .where(Run.id == chat.id)
            .values(status="in_progress", answered_at=clock.now(), lease_until=clock.now() + timedelta(hours=1))
        )
    clock.advance(3500)
    assert await make_sweeper(root, clock, grace_s=0).sweep() == []
    clock.advance(200)
    assert await make_sweeper(root, clock, grace_s=0).sweep() == [chat.id]
    ended = await reload(root, chat)
    assert (ended.status, ended.outcome, ended.end_reason) == ("completed", "answered", "idle")


async def test_a_swept_run_says_so_in_its_events(
    root: Root, carried: Run, sweeper: RunSweeper, clock: SetClock
) -> None:
    clock.advance(LEASE_S + 1)
    await make_sweeper(root, clock, grace_s=0).sweep()
    async with root.db.transaction() as session:
        events = await event_queries.read_events(session, carried.organization_id, carried.id)
    assert [(event["type"], event["data"]) for event in events] == [("run_swept", {"end_reason": "worker_lost"})]


async def test_only_one_worker_gets_a_run(root: Root, run: Run, clock: SetClock) -> None:
    async def take(worker_id: str) -> Run | None:
        async with root.db.transaction() as session:
            until = clock.now() + timedelta(seconds=LEASE_S)
            return await lease_queries.take_run(session, run.id, worker_id=worker_id, now=clock.now(), until=until)

    taken = await asyncio.gather(*(take(f"w{i}") for i in range(6)))
    assert sum(run is not None for run in taken) == 1


async def test_a_phone_that_rings_in_a_dead_process_frees_its_slot_soon(
    root: Root, make_run: MakeRun, sweeper: RunSweeper, clock: SetClock, published: list[RunFinished]
) -> None:
    run = await make_run(mode="sandbox")
    async with root.db.transaction() as session:
        await service.apply_status(session, run.organization_id, run.id, "ringing")
        await lease_queries.lease_ringing_runs(session, [run.id], until=clock.now() + timedelta(seconds=LEASE_S))

    assert await sweep_for(sweeper, clock, LEASE_S - 1) == []
    assert await sweep_for(sweeper, clock, GRACE_S + 3) == [run.id]
    ended = await reload(root, run)
    assert (ended.status, ended.outcome, ended.end_reason) == ("failed", "failed", "worker_lost")
    assert len(published) == 1


async def test_a_phone_that_was_answered_busy_is_no_longer_watched(
    root: Root, make_run: MakeRun, sweeper: RunSweeper, clock: SetClock, published: list[RunFinished]
) -> None:
    run = await make_run(mode="sandbox")
    async with root.db.transaction() as session:
        await service.apply_status(session, run.organization_id, run.id, "ringing")
        await lease_queries.lease_ringing_runs(session, [run.id], until=clock.now() + timedelta(seconds=LEASE_S))
        await service.apply_status(session, run.organization_id, run.id, "busy")
        await lease_queries.lease_ringing_runs(session, [run.id], until=clock.now() + timedelta(seconds=LEASE_S))

    assert (await reload(root, run)).lease_until is None
    assert await sweep_for(sweeper, clock, LEASE_S + GRACE_S + 3) == []
    assert published == []


@pytest.mark.parametrize("tokens", [10**12, 10**40, -(10**12)])
async def test_a_run_of_made_up_figures_keeps_no_other_run_waiting(
    root: Root, make_run: MakeRun, sweeper: RunSweeper, clock: SetClock, tokens: int
) -> None:
    """A server that an organization chose can report any number of tokens, and all organizations share the sweep."""
    runs = [await make_run() for _ in range(2)]
    until = clock.now() + timedelta(seconds=LEASE_S)
    async with root.db.transaction() as session:
        for each in runs:
            assert await lease_queries.take_run(session, each.id, worker_id="w1", now=clock.now(), until=until)
        used = {"llm": [{"provider": "openai", "model": "gpt-4.1", "prompt_tokens": tokens}]}
        event = NewEvent(runs[0].id, USAGE_COUNTED, 0, encode_event_data(used), clock.now())
        await event_queries.append_events(session, [event])
    assert sorted(await sweep_for(sweeper, clock, 30)) == [each.id for each in runs]
    assert (await reload(root, runs[0])).cost_cents >= 0


async def test_a_run_whose_end_cannot_be_written_keeps_no_other_run_waiting(
    root: Root, make_run: MakeRun, sweeper: RunSweeper, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = [await make_run() for _ in range(2)]
    until = clock.now() + timedelta(seconds=LEASE_S)
    async with root.db.transaction() as session:
        for each in runs:
            assert await lease_queries.take_run(session, each.id, worker_id="w1", now=clock.now(), until=until)
    original = RunSweeper._write_end

    async def fail_for_first(self: RunSweeper, session: AsyncSession, run: Run, lease: datetime) -> None:
        if run.id == runs[0].id:
            raise ValueError("a run like no other")
        await original(self, session, run, lease)

    monkeypatch.setattr(RunSweeper, "_write_end", fail_for_first)
    assert await sweep_for(sweeper, clock, 30) == [runs[1].id]
