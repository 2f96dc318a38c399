"""Live calls: taken once, stored whole, ended in order, whatever happens to the session, the disk or the database."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any, cast

import pytest
from sqlalchemy import delete

from offhook.kit.audio import PCM16_16K
from offhook.kit.database.database import Database
from offhook.kit.json_values import as_json_list, as_json_object
from offhook.root import Root
from offhook.runs import (
    LiveCall,
    LiveCallRegistry,
    RunFinished,
    RunServices,
    RunStarted,
    service,
)
from offhook.runs.errors import ProcessIsFull, RunNotConnectable
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.live.pre_call_request import PreCallFetch
from offhook.runs.records import carrier_calls, event_queries
from offhook.runs.tables import Run
from offhook.tools import ToolRunner, ToolServices
from offhook.voice.events import CALL_ENDED, VoiceEvent
from offhook.voice.ports import CallResult
from offhook.workflows.graph import parse_graph
from offhook.workflows.tables import WorkflowVersion
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.database import FaultyDatabase
from tests.fakes.scripted import takes
from tests.fakes.turn_detector import ScriptedDetector
from tests.fakes.voice import KeptLeg
from tests.runs.conftest import MakeRun
from tests.runs.test_recording import channels
from tests.voice.phone import simple_agent


@pytest.fixture
def models(root: Root) -> FixedModels:
    fakes = FixedModels([takes("done")])
    use_fakes(root, fakes)
    return fakes


@pytest.fixture
async def live(root: Root, models: FixedModels) -> AsyncIterator[LiveCallRegistry]:
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


def make_registry(root: Root, db: Database, pre_call: PreCallFetch) -> LiveCallRegistry:
    """A second registry of the process, with this database and this request before calls."""
    runs = root.get(RunServices)
    live = LiveCallRegistry(
        db=db,
        vault=runs.vault,
        events=root.events,
        clock=root.clock,
        settings=root.settings,
        writer=EventWriter(db),
        agents=runs.agents,
        pre_call=pre_call,
    )
    live.vad = runs.live.vad
    return live


@pytest.fixture
def published(root: Root) -> list[Any]:
    seen: list[Any] = []

    async def keep(event: Any) -> None:
        seen.append(event)

    root.events.subscribe(RunFinished, keep)
    root.events.subscribe(RunStarted, keep)
    return seen


async def reload(root: Root, run: Run) -> Run:
    async with root.db.transaction() as session:
        return await service.get_run(session, run.organization_id, run.id)


async def events_of(root: Root, run: Run) -> list[event_queries.StoredEvent]:
    async with root.db.transaction() as session:
        return await event_queries.read_events(session, run.organization_id, run.id)


async def connect(live: LiveCallRegistry, run: Run, leg: KeptLeg | None = None) -> tuple[LiveCall, KeptLeg]:
    leg = leg or KeptLeg()
    call = await live.connect_leg(run.id, leg)
    leg.on_mark = call.session.feed_mark
    return call, leg


async def test_the_agents_of_a_process_have_its_turn_detector(root: Root, run: Run) -> None:
    agents = root.get(RunServices).agents
    agents.turn_detector = detector = ScriptedDetector([])
    graph = parse_graph(simple_agent())
    assert (await agents.build_agent(run, graph, {"turn_detector": True}, {})).turn_detector is detector


async def test_a_call_is_stored_whole(root: Root, live: LiveCallRegistry, run: Run, published: list[Any]) -> None:
    call, leg = await connect(live, run)
    talking = asyncio.create_task(call.run())
    assert (await reload(root, run)).status == "in_progress"
    assert live.active_calls == 1
    await asyncio.sleep(0.6)
    call.session.feed_digit("1")
    result = await asyncio.wait_for(talking, 60)
    stored = await reload(root, run)
    assert (result.end_reason, stored.status, stored.outcome, stored.end_reason) == (
        "agent_ended", "completed", "answered", "agent_ended",
    )  # fmt: skip
    assert stored.gathered_context["nodes_visited"] == ["Greeting", "Goodbye"]
    assert float(stored.duration or 0) == pytest.approx(result.duration_s, abs=0.001)
    assert stored.latency["turns"] == 1
    (used,) = as_json_list(stored.usage["llm"])
    assert as_json_object(used)["provider"] == "scripted"
    assert (stored.lease_until, live.active_calls) == (None, 0)
    assert leg.hung_up_at is not None
    kinds = [event["type"] for event in await events_of(root, run)]
    assert (kinds[0], kinds[-1]) == ("call_started", CALL_ENDED)
    assert [type(event) for event in published] == [RunStarted, RunFinished]
    assert published[1].status == "completed"


async def test_what_was_heard_is_in_the_recording(root: Root, live: LiveCallRegistry, run: Run) -> None:
    call, _ = await connect(live, run, KeptLeg(codec=PCM16_16K))
    talking = asyncio.create_task(call.run())
    for _ in range(40):
        call.session.feed_audio(PCM16_16K.silence_frame)
        await asyncio.sleep(0.02)
    call.session.end_call()
    await talking
    stored = await reload(root, run)
    assert stored.recording_key is not None
    rate, caller, agent = channels(root.storage.path_for(stored.recording_key))
    assert rate == 16000
    assert not caller.any()
    assert agent.any()
    assert (stored.status, stored.end_reason) == ("completed", "caller_hung_up")


@pytest.mark.parametrize(
    ("end", "status", "reason"),
    [
        (lambda session: session.end_call("media_lost"), "failed", "media_lost"),
        (lambda session: session.end_call(), "completed", "caller_hung_up"),
        (lambda session: session.end_call("server_stopped"), "completed", "server_stopped"),
        (lambda session: session.voicemail_detected("carrier"), "completed", "voicemail"),
    ],
)
async def test_ends(
    root: Root, live: LiveCallRegistry, run: Run, end: Callable[[Any], None], status: str, reason: str
) -> None:
    call, _ = await connect(live, run)
    talking = asyncio.create_task(call.run())
    await asyncio.sleep(0.1)
    end(call.session)
    await asyncio.wait_for(talking, 60)
    stored = await reload(root, run)
    assert (stored.status, stored.end_reason) == (status, reason)
    assert stored.outcome == ("voicemail" if reason == "voicemail" else "answered")


@pytest.mark.parametrize("is_late", [False, True], ids=["while it lives", "after it"])
async def test_a_verdict_that_nobody_told_the_session(
    root: Root, live: LiveCallRegistry, run: Run, is_late: bool
) -> None:
    async def verdict() -> None:
        async with root.db.transaction() as session:
            await carrier_calls.record_machine_answer(session, run.organization_id, run.id)

    call, _ = await connect(live, run)
    talking = asyncio.create_task(call.run())
    if not is_late:
        await verdict()
    call.session.end_call()
    await talking
    assert (await reload(root, run)).outcome == ("answered" if is_late else "voicemail")
    if is_late:
        await verdict()
    stored = await reload(root, run)
    assert (stored.status, stored.outcome, stored.end_reason) == ("completed", "voicemail", "caller_hung_up")


async def test_only_one_socket_carries_a_run(live: LiveCallRegistry, run: Run) -> None:
    attempts = await asyncio.gather(*(live.connect_leg(run.id, KeptLeg()) for _ in range(3)), return_exceptions=True)
    assert sum(isinstance(attempt, LiveCall) for attempt in attempts) == 1
    assert sum(isinstance(attempt, RunNotConnectable) for attempt in attempts) == 2
    for attempt in attempts:
        if isinstance(attempt, LiveCall):
            attempt.session.end_call("server_stopped")
            await attempt.run()
    with pytest.raises(RunNotConnectable):
        await live.connect_leg(run.id, KeptLeg())
    with pytest.raises(RunNotConnectable):
        await live.connect_leg(10**15, KeptLeg())


async def test_a_full_process_takes_no_more(root: Root, live: LiveCallRegistry, make_run: MakeRun) -> None:
    object.__setattr__(root.settings, "max_calls_per_process", 1)
    call, _ = await connect(live, await make_run())
    waiting = await make_run()
    with pytest.raises(ProcessIsFull):
        await live.connect_leg(waiting.id, KeptLeg())
    assert (await reload(root, waiting)).status == "initiated", "another process may take it"
    call.session.end_call("server_stopped")
    await call.run()


class Crashing:
    """A session that dies in the middle."""

    def __init__(self, sink: Any) -> None:
        self._sink = sink

    async def run(self) -> CallResult:
        self._sink.emit(VoiceEvent("node_entered", 1.5, {"node_id": "start", "name": "Greeting"}))
        raise ZeroDivisionError("a bug")


async def test_a_crash_fails_the_run_and_loses_no_event(
    root: Root, live: LiveCallRegistry, run: Run, published: list[Any]
) -> None:
    call, _ = await connect(live, run)
    call.session = Crashing(call._sink)  # type: ignore[assignment]
    result = await call.run()
    stored = await reload(root, run)
    assert (result.end_reason, stored.status, stored.outcome, stored.end_reason) == (
        "error",
        "failed",
        "failed",
        "error",
    )
    assert [event["type"] for event in await events_of(root, run)] == ["node_entered", CALL_ENDED]
    assert float(stored.duration or 0) == 1.5
    assert published[-1].status == "failed"
    assert live.active_calls == 0


async def test_a_call_that_is_cancelled_is_stored_first(root: Root, live: LiveCallRegistry, run: Run) -> None:
    call, _ = await connect(live, run)
    talking = asyncio.create_task(call.run())
    await asyncio.sleep(0.1)
    talking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await talking
    stored = await reload(root, run)
    assert (stored.status, stored.end_reason, live.active_calls) == ("completed", "server_stopped", 0)


async def test_an_orderly_shutdown_completes_every_call(root: Root, live: LiveCallRegistry, make_run: MakeRun) -> None:
    runs = [await make_run() for _ in range(3)]
    calls = [(await connect(live, run))[0] for run in runs]
    talking = [asyncio.create_task(call.run()) for call in calls]
    await asyncio.sleep(0.1)
    await live.stop_all()
    await asyncio.gather(*talking)
    for run in runs:
        stored = await reload(root, run)
        assert (stored.status, stored.end_reason) == ("completed", "server_stopped")


async def test_the_carriers_last_word_comes_first(root: Root, live: LiveCallRegistry, run: Run) -> None:
    call, _ = await connect(live, run)
    talking = asyncio.create_task(call.run())
    await asyncio.sleep(0.1)
    async with root.db.transaction() as session:
        assert await service.apply_status(session, run.organization_id, run.id, "completed")
    call.session.end_call("media_lost")
    await talking
    stored = await reload(root, run)
    assert (stored.status, stored.outcome, stored.lease_until) == ("completed", "answered", None)
    assert stored.usage["llm"] == [], "what the call knows is stored all the same"


class _BrokenBench:
    """Cannot even ask."""

    async def send_request(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("out of order")


@pytest.mark.parametrize("rings_first", [True, False])
async def test_a_call_is_answered_whatever_becomes_of_its_fetch(
    root: Root, live: LiveCallRegistry, run: Run, *, rings_first: bool
) -> None:
    asks = {"pre_call_fetch_mode": "always", "pre_call_fetch_url": "https://shop.test/before"}
    async with root.db.transaction() as session:
        version = await session.get_one(WorkflowVersion, run.version_id)
        first, *others = version.definition["nodes"]
        asking = {**first, "data": {**first["data"], **asks}}
        version.definition = {**version.definition, "nodes": [asking, *others]}
    live = make_registry(root, root.db, PreCallFetch(root.db, cast(ToolRunner, _BrokenBench())))
    if rings_first:
        await live.lease_ringing_run(run.id)
    call, _ = await connect(live, run)
    call.session.end_call()
    await call.run()
    assert (await reload(root, run)).status == "completed"
    (fetched,) = [event for event in await events_of(root, run) if event["type"] == "pre_call_fetched"]
    assert (fetched["data"]["ok"], fetched["data"]["error"]) == (False, "The question could not be asked.")
    await live.stop_all()


async def test_without_a_disk_the_call_goes_on(root: Root, live: LiveCallRegistry, run: Run) -> None:
    root.storage.root.parent.mkdir(parents=True, exist_ok=True)
    root.storage.root.write_text("a file where the folder should be")
    call, _ = await connect(live, run)
    talking = asyncio.create_task(call.run())
    await asyncio.sleep(0.1)
    call.session.end_call()
    await talking
    assert (await reload(root, run)).status == "completed"
    assert "recording_failed" in [event["type"] for event in await events_of(root, run)]


@pytest.mark.slow
async def test_a_call_ends_rightly_through_an_outage_of_the_database(
    root: Root, models: FixedModels, run: Run, database_url: str
) -> None:
    faulty = FaultyDatabase(database_url)
    live = make_registry(root, faulty, PreCallFetch(faulty, root.get(ToolServices).runner))
    call, _ = await connect(live, run)
    talking = asyncio.create_task(call.run())
    await asyncio.sleep(0.1)
    faulty.is_away = True
    call.session.end_call()
    await asyncio.sleep(1)
    assert not talking.done()
    faulty.is_away = False
    await asyncio.wait_for(talking, 60)
    stored = await reload(root, run)
    assert (stored.status, stored.end_reason) == ("completed", "caller_hung_up")
    assert CALL_ENDED in [event["type"] for event in await events_of(root, run)]
    await faulty.dispose()


async def test_a_run_that_is_deleted_while_it_talks(root: Root, live: LiveCallRegistry, run: Run) -> None:
    call, _ = await connect(live, run)
    talking = asyncio.create_task(call.run())
    await asyncio.sleep(0.1)
    async with root.db.transaction() as session:
        await session.execute(delete(Run).where(Run.id == run.id))
    call.session.end_call()
    assert (await asyncio.wait_for(talking, 60)).end_reason == "caller_hung_up"
    assert (call.finished, live.active_calls) == (None, 0)


async def test_a_call_that_cannot_be_built_is_a_failed_run(
    root: Root, live: LiveCallRegistry, run: Run, published: list[Any], models: FixedModels
) -> None:
    models.fails_with = ConnectionError("no such vendor")
    with pytest.raises(ConnectionError):
        await live.connect_leg(run.id, KeptLeg())
    stored = await reload(root, run)
    assert (stored.status, stored.end_reason, stored.lease_until, live.active_calls) == ("failed", "error", None, 0)
    assert [event.status for event in published] == ["failed"]
    assert [event["type"] for event in await events_of(root, run)] == [CALL_ENDED]
