"""The times of an answer are stored with its words: who reads them, who keeps them, and the rows of earlier versions."""

import asyncio
import json
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text, update

from offhook.kit.crypto import Keyring
from offhook.kit.json_values import JsonObject
from offhook.kit.redaction.redactor import RedactionRules
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.data_keys.word_keys import WordKeys, provide_word_keys
from offhook.orgs.tables import StoredDataKey
from offhook.root import Root
from offhook.runs import RunServices, service
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.records import event_queries, retention_queries
from offhook.runs.records.event_cipher import drop_words, is_fact
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.projections import RunTally, tally_events
from offhook.runs.records.word_filter import WordFilter
from offhook.runs.resuming import resume_queries
from offhook.runs.resuming.call_states import CallStates
from offhook.runs.strips import repository as strips
from offhook.runs.strips.timeline import build_timeline
from offhook.runs.tables import LiveCallState, Run, RunEvent
from offhook.voice.events import AGENT_SAID, CALLER_SAID, TURN_TIMED, VoiceEvent
from tests.fakes.clock import SetClock
from tests.fixtures_orgs import OrgFixture
from tests.runs.test_sweeper import GRACE_S, LEASE_S, carried, clock, make_sweeper, published, reload, sweep_for

__all__ = ["carried", "clock", "published"]
TIMES: JsonObject = {"caller_stopped": 3.0, "turn_decided": 3.4, "first_frame": 4.75, "response_ms": 1750}
LATER: JsonObject = {"caller_stopped": 9.0, "first_frame": 9.5, "response_ms": 500}
SAID: JsonObject = {"text": "It is in Bonn.", "start_s": 4.75, "end_s": 6.0, "interrupted": False, "node_id": "a"}
ANSWER = VoiceEvent(AGENT_SAID, 6.0, {**SAID, "timing": TIMES})


async def write(root: Root, run: Run, *told: VoiceEvent) -> None:
    writer = EventWriter(root.db)
    sink = writer.create_sink(run.id)
    for event in told:
        sink.emit(event)
    assert await writer.flush()


async def write_earlier(root: Root, run: Run) -> None:
    """A turn as earlier versions stored it."""
    async with root.db.transaction() as session:
        for kind, at_ms, data in ((TURN_TIMED, 4750, TIMES), (AGENT_SAID, 6000, SAID)):
            event = NewEvent(run.id, kind, at_ms, json.dumps(data), root.clock.now())
            await event_queries.append_events(session, [event])


async def stored(root: Root, run: Run, *, is_lenient: bool = False) -> list[tuple[str, int, JsonObject]]:
    async with root.db.transaction() as session:
        rows = await event_queries.read_events(session, run.organization_id, run.id, is_lenient=is_lenient)
    return [(row["type"], row["at_ms"], row["data"]) for row in rows if row["type"] in (AGENT_SAID, TURN_TIMED)]


def responses(rows: list[tuple[str, int, JsonObject]]) -> list[float]:
    return tally_events({"type": kind, "at_ms": at_ms, "data": data} for kind, at_ms, data in rows).responses_ms


class TestTally:
    def test_an_answer_counts_once_however_often_it_is_told(self) -> None:
        tally = RunTally()
        tally.add_event(TURN_TIMED, 4.75, TIMES)
        tally.add_event(AGENT_SAID, 6.0, ANSWER.data)
        tally.add_event(TURN_TIMED, 6.0, {**TIMES, "unheard": True})
        tally.add_event(AGENT_SAID, 11.0, {**SAID, "timing": LATER})
        assert tally.responses_ms == [1750, 500]

    def test_answers_that_took_equally_long_are_two(self) -> None:
        tally = RunTally()
        for _ in range(2):
            tally.add_event(TURN_TIMED, 1.0, {"response_ms": 700})
        tally.add_event(AGENT_SAID, 6.0, {**SAID, "timing": {**TIMES, "response_ms": 700}})
        tally.add_event(AGENT_SAID, 9.0, {**SAID, "timing": {**LATER, "response_ms": 700}})
        assert tally.responses_ms == [700] * 4

    def test_words_without_times_are_no_answer(self) -> None:
        tally = RunTally()
        others: list[Any] = [None, "fast", [], {}, {"response_ms": "700"}]
        for timing in others:
            tally.add_event(AGENT_SAID, 1.0, {**SAID, "timing": timing})
        assert tally.responses_ms == []


class TestWriting:
    async def test_a_turn_is_one_row_less_and_both_forms_are_read_alike(
        self, client: AsyncClient, root: Root, run: Run, org: OrgFixture
    ) -> None:
        seen: list[str] = []
        writer = EventWriter(root.db, lambda run_id, event: seen.append(event.type))
        sink = writer.create_sink(run.id)
        sink.emit(VoiceEvent(TURN_TIMED, 4.75, TIMES))
        sink.emit(ANSWER)
        assert await writer.flush()
        assert seen == [TURN_TIMED]
        assert sink.tally.responses_ms == [1750]
        assert await stored(root, run) == [(AGENT_SAID, 6000, dict(ANSWER.data))]
        address = f"/workflow/{run.workflow_id}/runs/{run.id}"
        shown = (await client.get(address, headers=org.owner_headers)).json()
        assert shown["latency"] == {"p50_ms": 1750, "p95_ms": 1750, "turns": 1}
        await write_earlier(root, run)
        assert responses((await stored(root, run))[1:]) == [1750]

    async def test_an_answer_that_nobody_heard_is_stored_alone(self, root: Root, run: Run) -> None:
        alone: JsonObject = {**TIMES, "unheard": True}
        await write(root, run, VoiceEvent(TURN_TIMED, 4.75, TIMES), VoiceEvent(TURN_TIMED, 5.0, alone))
        assert await stored(root, run) == [(TURN_TIMED, 5000, alone)]
        assert responses(await stored(root, run)) == [1750]

    async def test_the_beginning_of_an_answer_is_kept_with_the_state_of_the_call(self, root: Root, run: Run) -> None:
        """Without a row: another process knows what was begun to be said, and how long the caller had waited."""
        states = await keep_states(root, run)
        writer = EventWriter(root.db, interval_s=0.01, states=states)
        sink = writer.create_sink(run.id)
        sink.emit(VoiceEvent(CALLER_SAID, 3.0, {"text": "Where is it?"}))
        assert await writer.flush()
        before = await kept_at(root, run)
        sink.emit(VoiceEvent(TURN_TIMED, 4.75, TIMES))
        assert states.has_changed
        await until_written(states)
        assert None is not before < await kept_at(root, run)
        assert await stored(root, run) == []

    async def test_a_state_that_is_refused_is_not_tried_forever(self, root: Root, run: Run) -> None:
        states = await keep_states(root, run)
        writer = EventWriter(root.db, interval_s=0.01, states=states)
        async with root.db.transaction() as session:
            await session.execute(text("DROP TABLE call_states"))
        sink = writer.create_sink(run.id)
        sink.emit(VoiceEvent(TURN_TIMED, 4.75, TIMES))
        await until_written(states)
        sink.emit(ANSWER)
        assert await writer.flush()
        assert len(await stored(root, run)) == 1


async def keep_states(root: Root, run: Run) -> CallStates:
    """The states of a process that carries this call."""
    states = CallStates(root.get(RunServices).keyring)
    states.worker_id = "me"
    states.keep(run.organization_id, run.id, lambda: {"at_s": 1.0, "timing": TIMES})  # type: ignore[typeddict-item]
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(worker_id="me", lease_until=root.clock.now()))
    return states


async def until_written(states: CallStates) -> None:
    async with asyncio.timeout(20):
        while states.has_changed:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)


async def kept_at(root: Root, run: Run) -> Any:
    async with root.db.transaction() as session:
        return await session.scalar(select(LiveCallState.updated_at).where(LiveCallState.run_id == run.id))


class TestSwept:
    """The process died; the call is ended from what there is of it."""

    async def keep(self, root: Root, run: Run, state: dict[str, Any]) -> CallStates:
        states = CallStates(root.get(RunServices).keyring)
        sealed = states.seal(run.organization_id, run.id, state)  # type: ignore[arg-type]
        async with root.db.transaction() as session:
            lease = await session.scalar(select(Run.worker_id).where(Run.id == run.id))
            await resume_queries.write_states(session, str(lease), {run.id: sealed})
        return states

    async def test_from_both_forms(self, root: Root, carried: Run, clock: SetClock) -> None:
        await write_earlier(root, carried)
        await write(root, carried, VoiceEvent(AGENT_SAID, 11.0, {**SAID, "timing": LATER}))
        await sweep_for(make_sweeper(root, clock), clock, LEASE_S + GRACE_S + 2)
        assert (await reload(root, carried)).latency == {"p50_ms": 500, "p95_ms": 1750, "turns": 2}

    async def test_with_the_answer_in_which_it_died(self, root: Root, carried: Run, clock: SetClock) -> None:
        await write(root, carried, ANSWER)
        sweeper = make_sweeper(root, clock)
        sweeper.states = await self.keep(root, carried, {"at_s": 9.9, "timing": LATER})
        await sweep_for(sweeper, clock, LEASE_S + GRACE_S + 2)
        assert (await reload(root, carried)).latency == {"p50_ms": 500, "p95_ms": 1750, "turns": 2}
        assert (await stored(root, carried))[-1] == (TURN_TIMED, 9500, {**LATER, "unheard": True})

    @pytest.mark.parametrize("state", [{"at_s": 9.9, "timing": TIMES}, {"at_s": 9.9, "timing": None}, {"at_s": 9.9}])
    async def test_without_one_that_is_stored_or_not_there(
        self, root: Root, carried: Run, clock: SetClock, state: dict[str, Any]
    ) -> None:
        await write(root, carried, ANSWER)
        sweeper = make_sweeper(root, clock)
        sweeper.states = await self.keep(root, carried, state)
        await sweep_for(sweeper, clock, LEASE_S + GRACE_S + 2)
        assert (await reload(root, carried)).latency == {"p50_ms": 1750, "p95_ms": 1750, "turns": 1}
        assert [kind for kind, _, _ in await stored(root, carried)] == [AGENT_SAID]


class TestWithoutWords:
    async def test_times_stay_when_words_are_deleted(self, root: Root, run: Run, org: OrgFixture) -> None:
        await write(root, run, VoiceEvent(AGENT_SAID, 2.0, {"text": "Hello."}), ANSWER)
        async with root.db.transaction() as session:
            deleted = await retention_queries.delete_words(session, run.organization_id, [run.id])
            again = await retention_queries.delete_words(session, run.organization_id, [run.id])
        assert (deleted, again) == (2, 0)
        assert await stored(root, run) == [(TURN_TIMED, 4750, TIMES)]
        assert [mark["kind"] for mark in build_timeline(await stored(root, run), 20).marks] == ["slow_answer"]

    async def test_times_of_encrypted_words_stay_and_need_no_key(self, root: Root, run: Run) -> None:
        provide_word_keys(root.db, WordKeys(DataKeys(root.get(Keyring)), encrypts=True))
        await write(root, run, ANSWER)
        async with root.db.transaction() as session:
            row = (await session.scalars(select(RunEvent).where(RunEvent.type == AGENT_SAID))).one()
            assert row.sealed is not None
            assert "Bonn" not in json.dumps(row.data)
            assert row.data["timing"] == TIMES
        assert await stored(root, run) == [(AGENT_SAID, 6000, dict(ANSWER.data))]
        async with root.db.transaction() as session:
            await session.execute(update(StoredDataKey).values(number=9))
        provide_word_keys(root.db, WordKeys(DataKeys(root.get(Keyring)), encrypts=True))
        assert responses(await stored(root, run, is_lenient=True)) == [1750]
        async with root.db.transaction() as session:
            await retention_queries.delete_words(session, run.organization_id, [run.id])
        assert await stored(root, run) == [(TURN_TIMED, 4750, TIMES)]

    def test_only_times_are_facts(self) -> None:
        dropped = json.loads(drop_words(json.dumps(ANSWER.data)).data_json)
        assert dropped == {name: part for name, part in ANSWER.data.items() if name != "text"}
        for words in ("soon", {"note": 5}, {"first_frame": "soon"}, {"first_frame": [1]}, [1], None):
            assert not is_fact("timing", words), words

    def test_a_call_whose_words_are_not_kept_keeps_its_times(self) -> None:
        assert WordFilter(keeps_words=False).filter_event(ANSWER).data["timing"] == TIMES

    def test_times_are_not_redacted(self) -> None:
        rules = RedactionRules(frozenset({"phone", "card", "cvv", "birth_date", "name"}))
        assert WordFilter(rules).filter_event(ANSWER).data["timing"] == TIMES


class TestStrip:
    def test_a_slow_answer_is_marked_from_its_words_and_others_are_not(self) -> None:
        marks = [build_timeline([(kind, 6000, data)], 20).marks for kind, data in (
            (AGENT_SAID, {**SAID, "timing": TIMES}), (TURN_TIMED, TIMES), (AGENT_SAID, SAID),
            (AGENT_SAID, {**SAID, "timing": LATER}),
        )]  # fmt: skip
        slow = [{"kind": "slow_answer", "label": "", "start_s": 3.0, "end_s": 4.75}]
        assert marks == [slow, slow, [], []]

    async def test_only_words_with_times_are_read(self, root: Root, run: Run) -> None:
        await write(root, run, VoiceEvent(AGENT_SAID, 2.0, {"text": "Hello."}), ANSWER)
        async with root.db.transaction() as session:
            await service.apply_status(session, run.organization_id, run.id, "completed")
            read = await strips.read_strip_events(session, run.organization_id, [run.id])
        assert [(kind, at_ms) for kind, at_ms, _ in read[run.id]] == [(AGENT_SAID, 6000)]
