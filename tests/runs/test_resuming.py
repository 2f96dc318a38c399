"""Calls that pass from one process to another: who gets them, what they know, and what is kept of them."""

import asyncio
import hashlib
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import select, text, update

from offhook.models.ports import LlmMessage, ToolCall
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices, service
from offhook.runs.errors import RunNotConnectable
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.live.pre_call_request import PreCallFetch
from offhook.runs.recording_files.wav import HEADER_BYTES
from offhook.runs.records import event_queries
from offhook.runs.resuming import resume_queries
from offhook.runs.resuming.call_states import MAX_STATE_BYTES, CallStates
from offhook.runs.tables import LiveCallState, Run
from offhook.tools import ToolServices
from offhook.voice import events
from offhook.voice.dialog.history import ConversationHistory
from offhook.voice.dialog.tool_call_executor import ToolCallExecutor
from offhook.workflows.tables import WorkflowVersion
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import says, takes
from tests.fakes.voice import KeptLeg

SORRY = "Sorry, we were cut off for a moment."


def other_process(root: Root, name: str) -> LiveCallRegistry:
    """The calls of another process on the same database."""
    runs = root.get(RunServices)
    live = LiveCallRegistry(
        db=root.db,
        vault=runs.vault,
        events=root.events,
        clock=root.clock,
        settings=root.settings,
        writer=EventWriter(root.db, states=CallStates(runs.keyring), interval_s=0.05),
        agents=runs.agents,
        pre_call=PreCallFetch(root.db, root.get(ToolServices).runner),
    )
    live.vad = runs.live.vad
    live.set_node_id(name)
    return live


@pytest.fixture
async def processes(root: Root, run: Run) -> AsyncIterator[tuple[LiveCallRegistry, LiveCallRegistry]]:
    use_fakes(root, FixedModels([takes("done")]))
    both = other_process(root, "first"), other_process(root, "second")
    for live in both:
        live.handovers.modes.add(run.mode)
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(call_id="CA1"))
    yield both
    for live in both:
        await live.stop_all()


async def kept(root: Root, run: Run) -> LiveCallState | None:
    async with root.db.transaction() as session:
        return await session.scalar(select(LiveCallState).where(LiveCallState.run_id == run.id))


async def until_kept(root: Root, run: Run) -> LiveCallState:
    async with asyncio.timeout(20):
        while (state := await kept(root, run)) is None:
            await asyncio.sleep(0.02)
    return state


async def reload(root: Root, run: Run) -> Run:
    async with root.db.transaction() as session:
        return await service.get_run(session, run.organization_id, run.id)


async def test_one_of_two_processes_gets_the_call_of_a_dead_one(
    root: Root, run: Run, processes: tuple[LiveCallRegistry, LiveCallRegistry]
) -> None:
    first, second = processes
    dead = await first.connect_leg(run.id, KeptLeg())
    talking = asyncio.create_task(dead.run())
    await until_kept(root, run)
    steps = await asyncio.gather(*(live.handovers.decide(run.organization_id, run.id) for live in (second, second)))
    assert steps == ["connect", "connect"], "asked twice, the carrier hears the same"
    taken = await asyncio.gather(
        second.connect_leg(run.id, KeptLeg()),
        other_process(root, "third").connect_leg(run.id, KeptLeg()),
        return_exceptions=True,
    )
    (refused,) = [one for one in taken if isinstance(one, BaseException)]
    assert isinstance(refused, RunNotConnectable)
    (call,) = [one for one in taken if not isinstance(one, BaseException)]
    carrying = asyncio.create_task(call.run())
    await first.renew_leases()
    result = await asyncio.wait_for(talking, 20)
    assert result.end_reason == "moved", "it is silent, and writes no end"
    assert (await reload(root, run)).status == "in_progress"
    call.session.end_call("caller_hung_up")
    await asyncio.wait_for(carrying, 20)
    stored = await reload(root, run)
    assert (stored.status, stored.end_reason) == ("completed", "caller_hung_up")
    assert await kept(root, run) is None


async def test_that_a_call_is_over_is_not_noted_once_its_run_is_finished(
    root: Root, run: Run, processes: tuple[LiveCallRegistry, LiveCallRegistry]
) -> None:
    first, _ = processes
    await first.connect_leg(run.id, KeptLeg())
    async with root.db.transaction() as finishing:
        await finishing.execute(update(Run).where(Run.id == run.id).values(lease_until=None))
        await resume_queries.forget_states(finishing, run.organization_id, [run.id])
        first.handovers.note_over(run.organization_id, run.id)
        await until_waiting(root)
    await first.handovers.close()
    assert await kept(root, run) is None


async def until_waiting(root: Root) -> None:
    """Until a transaction waits for another one."""
    async with asyncio.timeout(20), root.db.transaction() as session:
        while not await session.scalar(text("SELECT count(*) FROM pg_locks WHERE NOT granted")):
            await asyncio.sleep(0.02)


async def test_a_call_that_our_side_ends_is_not_taken_up(
    root: Root, run: Run, processes: tuple[LiveCallRegistry, LiveCallRegistry]
) -> None:
    first, second = processes
    call = await first.connect_leg(run.id, KeptLeg())
    talking = asyncio.create_task(call.run())
    await until_kept(root, run)
    call.session.end_call("agent_ended")
    assert await second.handovers.decide(run.organization_id, run.id) == "hang_up"
    await asyncio.wait_for(talking, 20)
    assert await second.handovers.decide(run.organization_id, run.id) == "hang_up"


@pytest.mark.slow
async def test_a_process_that_still_talks_keeps_its_call(
    root: Root, run: Run, processes: tuple[LiveCallRegistry, LiveCallRegistry]
) -> None:
    """The question came before, or the carrier has no caller any more: nothing is taken from a process."""
    first, second = processes
    call = await first.connect_leg(run.id, KeptLeg())
    talking = asyncio.create_task(call.run())
    await until_kept(root, run)
    asked: list[str | None] = []

    async def has_caller() -> bool:
        asked.append((await reload(root, run)).worker_id)
        return False

    assert await second.handovers.decide(run.organization_id, run.id, is_repeated=True) == "connect"
    assert await second.handovers.decide(run.organization_id, run.id, confirm=has_caller) == "hang_up"
    assert asked == ["first"]
    assert (await reload(root, run)).worker_id == "first"
    call.session.end_call()
    await asyncio.wait_for(talking, 20)
    assert (await reload(root, run)).end_reason == "caller_hung_up"


async def test_a_call_that_is_not_kept_leaves_no_state(
    root: Root, run: Run, processes: tuple[LiveCallRegistry, LiveCallRegistry]
) -> None:
    first, second = processes
    async with root.db.transaction() as session:
        await session.execute(
            update(WorkflowVersion)
            .where(WorkflowVersion.id == run.version_id)
            .values(configurations={"do_not_keep": True})
        )
    call = await first.connect_leg(run.id, KeptLeg())
    talking = asyncio.create_task(call.run())
    assert (await until_kept(root, run)).sealed is None
    assert await second.handovers.decide(run.organization_id, run.id) == "hang_up"
    call.session.end_call()
    await asyncio.wait_for(talking, 20)


async def test_the_call_goes_on_with_what_was_being_said_and_one_recording(
    root: Root, run: Run, processes: tuple[LiveCallRegistry, LiveCallRegistry]
) -> None:
    first, second = processes
    leg = KeptLeg()
    call = await first.connect_leg(run.id, leg)
    talking = asyncio.create_task(call.run())
    async with asyncio.timeout(20):
        while not leg.frames:
            await asyncio.sleep(0.01)
    call.session.end_call("media_lost")
    async with asyncio.timeout(20):
        while (await reload(root, run)).worker_id is not None:
            await asyncio.sleep(0.02)
    state = await until_kept(root, run)
    assert state.sealed is not None
    assert b"Hello" not in state.sealed
    begun = root.storage.path_for((await reload(root, run)).recording_key or "").stat().st_size
    again = KeptLeg()
    taken = await second.connect_leg(run.id, again)
    again.on_mark = taken.session.feed_mark
    carrying = asyncio.create_task(taken.run())
    assert (await asyncio.wait_for(talking, 20)).end_reason == "moved"
    async with asyncio.timeout(20):
        while not any(event.type == events.AGENT_SAID for event in again.events):
            await asyncio.sleep(0.02)
    taken.session.end_call()
    await asyncio.wait_for(carrying, 20)
    said = [event.data["text"] for event in again.events if event.type == events.AGENT_SAID]
    assert said == [f"{SORRY} Hello, how may I help?"]
    assert [event.type for event in again.events].count(events.CALL_RESUMED) == 1
    whole = root.storage.path_for((await reload(root, run)).recording_key or "").stat().st_size
    assert whole > begun > HEADER_BYTES


async def test_how_long_an_answer_took_is_known_when_the_process_dies_in_it(
    root: Root, run: Run, processes: tuple[LiveCallRegistry, LiveCallRegistry]
) -> None:
    """Its times are stored with its words, which the process cannot store any more."""
    first, second = processes
    # it takes most of a minute, so that a busy machine does not hear its end
    use_fakes(root, FixedModels([says(" ".join(f"The thing of number {number} is this." for number in range(30)))]))
    leg = KeptLeg()
    dead = await first.connect_leg(run.id, leg)
    leg.on_mark = dead.session.feed_mark
    talking = asyncio.create_task(dead.run())
    dead.session.feed_digit("7")
    async with asyncio.timeout(20):
        while not (told := [event.data for event in leg.events if event.type == events.TURN_TIMED]):
            await asyncio.sleep(0.01)
        states = CallStates(root.get(RunServices).keyring)
        while (await read_state(root, run, states)).get("timing") != told[0]:
            await asyncio.sleep(0.02)
    assert told[0]["first_frame"] not in await stored_first_frames(root, run)
    assert await second.handovers.decide(run.organization_id, run.id) == "connect"
    taken = await second.connect_leg(run.id, KeptLeg())
    carrying = asyncio.create_task(taken.run())
    await first.renew_leases()
    assert (await asyncio.wait_for(talking, 20)).end_reason == "moved"
    taken.session.end_call()
    await asyncio.wait_for(carrying, 20)
    assert told[0]["first_frame"] in await stored_first_frames(root, run)
    latency = (await reload(root, run)).latency
    assert (latency["turns"], latency["p50_ms"]) == (1, told[0]["response_ms"])


async def read_state(root: Root, run: Run, states: CallStates) -> dict[str, Any]:
    async with root.db.transaction() as session:
        read = await states.read(session, run.organization_id, run.id)
    return {} if read is None else dict(read.state)


async def stored_first_frames(root: Root, run: Run) -> list[Any]:
    """When the answers began whose times are stored."""
    async with root.db.transaction() as session:
        rows = await event_queries.read_events(session, run.organization_id, run.id)
    found = (events.find_timing(row["type"], row["data"]) for row in rows)
    return [timing["first_frame"] for timing in found if timing is not None]


async def test_a_tool_that_was_under_way_is_not_known_to_be_done() -> None:
    noted: list[Any] = []
    history, tools = ConversationHistory(), ToolCallExecutor(lambda kind, data: noted.append(kind))
    calls = ToolCall("c1", "book", {}), ToolCall("c2", "look_up", {})
    history.begin_turn([], "Book it.")
    history.add_agent_message("", calls)
    tools.expect_answers(calls)
    tools.set_answer(calls[1], {"ok": True})
    restored = ConversationHistory()
    restored.restore(history.snapshot(tools.answers_so_far()))
    assert [(one.role, one.tool_call_id) for one in restored.messages[2:]] == [("tool", "c1"), ("tool", "c2")]
    assert "not known" in restored.messages[2].content
    assert restored.messages[3] == LlmMessage("tool", '{"ok": true}', tool_call_id="c2")
    assert noted == []


async def test_a_long_history_loses_its_beginning(root: Root, run: Run) -> None:
    """Words that cannot be compressed: the newest are kept, from something that the caller said."""
    states = CallStates(root.get(RunServices).keyring)
    states.worker_id = "me"
    words = [new_words(number) for number in range(300)]
    history: list[dict[str, Any]] = [
        {"role": role, "content": f"{word} {role}", "tool_calls": [], "tool_call_id": None}
        for word in words
        for role in ("user", "assistant")
    ]
    state: Any = {"at_s": 1.0, "conversation": {"history": history}}
    sealed = states.seal(run.organization_id, run.id, state)
    assert len(sealed) <= MAX_STATE_BYTES + 64
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(worker_id="me", lease_until=root.clock.now()))
        await resume_queries.write_states(session, "me", {run.id: sealed})
        await resume_queries.write_states(session, "somebody else", {run.id: None})
        read = await states.read(session, run.organization_id, run.id)
    assert read is not None
    kept_history = read.state["conversation"]["history"]
    assert 0 < len(kept_history) < len(history)
    assert kept_history[0]["role"] == "user"
    assert kept_history[-1] == history[-1]


def new_words(seed: int) -> str:
    return "".join(hashlib.sha256(f"{seed} {part}".encode()).hexdigest() for part in range(10))
