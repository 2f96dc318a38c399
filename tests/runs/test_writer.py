"""The event writer: order, one insert for many runs, and no event lost while the database is away."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import text

from offhook.kit.database.database import Database
from offhook.root import Root
from offhook.runs import RunServices, service
from offhook.runs.live.event_writer import EVENTS_DROPPED, EventWriter
from offhook.runs.records import event_queries
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.resuming.call_states import CallStates
from offhook.runs.tables import Run
from offhook.voice.events import CALLER_PARTIAL, CALLER_SAID, CALLER_STARTED, CALLER_STOPPED, VoiceEvent
from tests.fakes.database import FaultyDatabase
from tests.runs.conftest import MakeRun


@pytest.fixture
async def db(database_url: str) -> AsyncIterator[FaultyDatabase]:
    faulty = FaultyDatabase(database_url)
    yield faulty
    await faulty.dispose()


async def stored(root: Root, run: Run) -> list[event_queries.StoredEvent]:
    async with root.db.transaction() as session:
        return await event_queries.read_events(session, run.organization_id, run.id)


def said(number: int) -> VoiceEvent:
    return VoiceEvent(CALLER_SAID, number / 10, {"text": str(number)})


async def test_events_are_numbered_from_one_in_their_order(root: Root, make_run: MakeRun) -> None:
    writer = EventWriter(root.db, interval_s=0.01)
    first, second = await make_run(), await make_run()
    sinks = {run.id: writer.create_sink(run.id) for run in (first, second)}
    for number in range(50):
        sinks[first.id].emit(said(number))
        sinks[second.id].emit(said(100 + number))
    assert await writer.flush()
    for run, start in ((first, 0), (second, 100)):
        events = await stored(root, run)
        assert [event["seq"] for event in events] == list(range(1, 51))
        assert [event["data"]["text"] for event in events] == [str(start + i) for i in range(50)]
        assert events[3]["at_ms"] == (start + 3) * 100


async def test_writes_by_itself_soon(root: Root, run: Run) -> None:
    writer = EventWriter(root.db, interval_s=0.05)
    writer.create_sink(run.id).emit(said(1))
    async with asyncio.timeout(60):
        while writer.pending_count:
            await asyncio.sleep(0.02)
    assert len(await stored(root, run)) == 1


async def test_live_only_events_go_to_live_listeners_and_are_not_stored(root: Root, run: Run) -> None:
    seen: list[tuple[int, object]] = []
    writer = EventWriter(root.db, lambda run_id, event: seen.append((run_id, event.data)))
    sink = writer.create_sink(run.id)
    sink.emit(VoiceEvent(CALLER_STARTED, 0.1))
    sink.emit(VoiceEvent(CALLER_PARTIAL, 0.5, {"text": "hel"}))
    sink.emit(VoiceEvent(CALLER_STOPPED, 0.6))
    sink.emit(said(1))
    await writer.flush()
    assert seen == [(run.id, {}), (run.id, {"text": "hel"}), (run.id, {})]
    assert [event["type"] for event in await stored(root, run)] == [CALLER_SAID]


async def test_an_outage_delays_events_and_keeps_their_order(root: Root, run: Run, db: FaultyDatabase) -> None:
    writer = EventWriter(db, interval_s=0.01)
    sink = writer.create_sink(run.id)
    sink.emit(said(1))
    assert await writer.flush()
    db.is_away = True
    for number in range(2, 30):
        sink.emit(said(number))
    assert not await writer.flush(timeout_s=0.3)
    sink.emit(said(30))
    db.is_away = False
    assert await writer.flush()
    assert [event["data"]["text"] for event in await stored(root, run)] == [str(i) for i in range(1, 31)]


async def test_a_commit_that_nobody_heard_of_is_not_written_twice(root: Root, run: Run, db: FaultyDatabase) -> None:
    writer = EventWriter(db, interval_s=60)
    sink = writer.create_sink(run.id)
    for number in range(5):
        sink.emit(said(number))
    db.loses_next_answer = True
    sink.emit(said(5))
    assert await writer.flush()
    sink.emit(said(6))
    assert await writer.flush()
    events = await stored(root, run)
    assert [event["data"]["text"] for event in events] == [str(i) for i in range(7)]
    assert [event["seq"] for event in events] == list(range(1, 8))


async def test_a_server_that_ends_our_connections_loses_nothing(root: Root, run: Run, database_url: str) -> None:
    own = Database(database_url)
    writer = EventWriter(own, interval_s=0.01)
    sink = writer.create_sink(run.id)
    sink.emit(said(1))
    assert await writer.flush()
    async with root.db.transaction() as session:
        await session.execute(
            text(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )
        )
    sink.emit(said(2))
    assert await writer.flush()
    assert [event["data"]["text"] for event in await stored(root, run)] == ["1", "2"]
    await own.dispose()


async def test_states_that_are_refused_take_no_events_along(root: Root, run: Run) -> None:
    states = CallStates(root.get(RunServices).keyring)
    states.keep(run.organization_id, run.id, lambda: {"at_s": 1.0})  # type: ignore[typeddict-item]
    writer = EventWriter(root.db, interval_s=60, states=states)
    sink = writer.create_sink(run.id)
    async with root.db.transaction() as session:
        await session.execute(text("DROP TABLE call_states"))
    for number in range(3):
        sink.emit(said(number))
    assert await writer.flush()
    sink.emit(said(3))
    assert await writer.flush()
    assert [event["data"]["text"] for event in await stored(root, run)] == [str(i) for i in range(4)]


async def test_memory_is_bounded_and_what_was_dropped_is_counted(root: Root, run: Run, db: FaultyDatabase) -> None:
    writer = EventWriter(db, interval_s=0.01, max_events=10)
    sink = writer.create_sink(run.id)
    db.is_away = True
    for number in range(25):
        sink.emit(said(number))
    assert writer.pending_count == 10
    db.is_away = False
    await writer.flush()
    await writer.flush()
    events = await stored(root, run)
    assert [event["type"] for event in events] == [CALLER_SAID] * 10 + [EVENTS_DROPPED]
    assert events[-1]["data"] == {"count": 15}


async def test_a_run_that_was_deleted_holds_nobody_back(root: Root, make_run: MakeRun) -> None:
    writer = EventWriter(root.db, interval_s=60)
    gone, there = await make_run(), await make_run()
    async with root.db.transaction() as session:
        await session.delete(await session.get(Run, gone.id))
    writer.create_sink(gone.id).emit(said(1))
    writer.create_sink(there.id).emit(said(2))
    assert await writer.flush()
    assert len(await stored(root, there)) == 1


async def test_an_event_that_the_database_refuses_holds_nobody_back(root: Root, run: Run) -> None:
    writer = EventWriter(root.db, interval_s=60)
    sink = writer.create_sink(run.id)
    for number in range(8):
        sink.emit(said(number))
    sink.emit(VoiceEvent(CALLER_SAID, 1e9, {"text": "its time is beyond the column"}))
    sink.emit(said(9))
    assert await writer.flush()
    assert [event["data"]["text"] for event in await stored(root, run)] == [*map(str, range(8)), "9"]


async def test_a_callback_in_another_process_gets_a_number_of_its_own(root: Root, run: Run, database_url: str) -> None:
    other = Database(database_url)
    writer = EventWriter(root.db, interval_s=60)
    sink = writer.create_sink(run.id)

    async def callback(status: str) -> None:
        async with other.transaction() as session:
            await service.apply_status(session, run.organization_id, run.id, status)

    for number in range(20):
        sink.emit(said(number))
        await asyncio.gather(writer.flush(), callback("ringing"))
    events = await stored(root, run)
    assert [event["seq"] for event in events] == list(range(1, 41))
    heard = [event["data"]["text"] for event in events if event["type"] == CALLER_SAID]
    assert heard == [str(i) for i in range(20)]
    await other.dispose()


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda c: st.lists(c) | st.dictionaries(st.text(), c)
    )
)
@pytest.mark.slow
def test_whatever_a_model_says_becomes_json_that_postgresql_takes(value: object) -> None:
    encoded = encode_event_data({"value": value})
    encoded.encode()
    decoded = json.loads(encoded, parse_constant=pytest.fail)
    assert "\0" not in "".join(texts(decoded))


def texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, keys included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield key
            yield from texts(item)


def test_ordinary_text_is_kept_to_the_letter() -> None:
    data = {"text": 'She said "\\u0000 is a backslash" - naïve 🙂', "n": 1, "list": [1.5, None, True]}
    assert json.loads(encode_event_data(data)) == data
