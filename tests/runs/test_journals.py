"""Journals of live calls: what is kept and what is not, who can read it, and that it goes with the words of its run."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import delete, select, text, update

from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.tables import StoredDataKey
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.errors import JournalDamaged, JournalNotKept
from offhook.runs.journals.call_journals import CallJournals
from offhook.runs.records import retention_queries
from offhook.runs.tables import Run, RunJournal
from offhook.scenarios.errors import NoDraft, RunNotKept, RunNotOver, VersionChanged
from offhook.scenarios.replays.orders import RunReplay
from offhook.scenarios.replays.service import load_replayable, replay_run
from offhook.voice.journal.kinds import AUDIO
from offhook.workflows.tables import WorkflowVersion
from tests.fakes.calls import FixedModels
from tests.fakes.voice import KeptLeg
from tests.privacy.scan import NUMBER, find_in_tables
from tests.runs.conftest import MakeRun
from tests.voice.phone import hum


async def talk(live: LiveCallRegistry, run: Run, models: FixedModels, text: str = "When do you open?") -> None:
    """A call on the wall clock in which the caller says one sentence, and hangs up soon after it."""
    leg = KeptLeg()
    call = await live.connect_leg(run.id, leg)
    leg.on_mark = call.session.feed_mark

    async def speak() -> None:
        for frame in range(100):
            is_loud = 30 <= frame < 55
            if frame == 30:
                models.hearing.spoken.append(text)
            call.session.feed_audio(hum(leg.codec, frame * 0.02) if is_loud else leg.codec.silence_frame)
            await asyncio.sleep(0.02)
        call.session.end_call("caller_hung_up")

    speaking = asyncio.create_task(speak())
    await call.run()
    await speaking


async def replay(root: Root, run: Run, **version: Any) -> RunReplay:
    async with root.db.transaction() as session:
        replayable = await load_replayable(session, root.get(RunServices).live.journals, run.id, **version)
    return await replay_run(replayable)


async def kept(root: Root, run: Run) -> RunJournal | None:
    async with root.db.transaction() as session:
        return await session.scalar(select(RunJournal).where(RunJournal.run_id == run.id))


async def set_configurations(root: Root, run: Run, **configurations: Any) -> None:
    async with root.db.transaction() as session:
        await session.execute(
            update(WorkflowVersion).where(WorkflowVersion.id == run.version_id).values(configurations=configurations)
        )


async def test_a_call_is_the_same_again(root: Root, run: Run, live: LiveCallRegistry, models: FixedModels) -> None:
    await talk(live, run, models, f"It is {NUMBER}")
    asked = len(models.llm.requests)
    result = await replay(root, run)
    assert result.difference is None
    assert (result.is_exact, result.is_own, result.version_number) == (True, True, 1)
    assert result.events > 5
    assert (await replay(root, run)).hash == result.hash
    assert len(models.llm.requests) == asked, "no model is asked"
    found = await find_in_tables(root, [NUMBER])
    assert found.pop("run_events.data")
    assert not [name for name in found if name.startswith("run_journals")], "it is encrypted"


async def add_draft(root: Root, run: Run) -> None:
    """A draft with another prompt."""
    async with root.db.transaction() as session:
        version = await session.get_one(WorkflowVersion, run.version_id)
        nodes = [dict(node, data=dict(node["data"])) for node in version.definition["nodes"]]
        nodes[0]["data"]["prompt"] = "Greet the caller.\nBe brief."
        session.add(
            WorkflowVersion(
                workflow_id=run.workflow_id,
                organization_id=run.organization_id,
                version_number=2,
                status="draft",
                definition={**version.definition, "nodes": nodes},
            )
        )


async def test_a_changed_draft_differs_at_the_turn_that_it_changes(
    root: Root, run: Run, live: LiveCallRegistry, models: FixedModels
) -> None:
    await talk(live, run, models)
    with pytest.raises(NoDraft):
        await replay(root, run, is_draft=True)
    await add_draft(root, run)
    result = await replay(root, run, is_draft=True)
    assert (result.is_exact, result.is_own, result.version_number) == (True, False, 2)
    difference = result.difference
    assert difference is not None
    assert (difference.turn, difference.node_id, difference.node) == (1, "start", "Greeting")
    assert difference.what == "what the model is asked"
    assert "Be brief." in difference.came
    assert difference.expected == "not there"
    assert (await replay(root, run, number=1)).difference is None


async def test_a_draft_that_was_changed_since_is_not_replayed(
    root: Root, run: Run, live: LiveCallRegistry, models: FixedModels
) -> None:
    await talk(live, run, models)
    await set_configurations(root, run, max_user_idle_timeout=3)
    with pytest.raises(VersionChanged):
        await replay(root, run)


async def test_a_call_that_goes_on_is_not_replayed(root: Root, run: Run, live: LiveCallRegistry) -> None:
    call = await live.connect_leg(run.id, KeptLeg())
    with pytest.raises(RunNotOver):
        await replay(root, run)
    call.session.end_call()
    await call.run()


async def test_nothing_is_kept_of_agents_that_keep_nothing(
    root: Root, run: Run, live: LiveCallRegistry, models: FixedModels
) -> None:
    await set_configurations(root, run, do_not_keep=True)
    await talk(live, run, models)
    assert await kept(root, run) is None
    with pytest.raises(RunNotKept):
        await replay(root, run)


@pytest.mark.parametrize("reason", ["too_long", "recording_paused"])
async def test_a_call_without_a_journal_says_why(
    root: Root, run: Run, live: LiveCallRegistry, models: FixedModels, reason: str
) -> None:
    call = await live.connect_leg(run.id, KeptLeg())
    if reason == "too_long":
        for _ in range(600_000):
            call.session._inputs.note(AUDIO, 160)
    else:
        call._recording.pause()
    call.session.end_call()
    await call.run()
    row = await kept(root, run)
    assert row is not None
    assert (row.omitted, row.sealed) == (reason, None)
    with pytest.raises(JournalNotKept, match="too long" if reason == "too_long" else "paused"):
        await replay(root, run)


async def test_a_run_that_was_no_call_has_none(root: Root, make_run: MakeRun) -> None:
    run = await make_run(mode="textchat")
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(status="completed"))
    with pytest.raises(JournalNotKept):
        await replay(root, run)


async def test_it_goes_with_the_words_of_its_run(
    root: Root, run: Run, live: LiveCallRegistry, models: FixedModels
) -> None:
    await talk(live, run, models)
    assert await kept(root, run) is not None
    async with root.db.transaction() as session:
        await retention_queries.delete_words(session, run.organization_id, [run.id])
    assert await kept(root, run) is None


async def test_it_goes_with_its_run(root: Root, run: Run, live: LiveCallRegistry, models: FixedModels) -> None:
    await talk(live, run, models)
    await root.get(RunServices).eraser.erase_runs(run.organization_id, [run.id])
    assert await kept(root, run) is None


@pytest.mark.parametrize("damage", ["cut", "changed", "of another run"])
async def test_a_damaged_journal_is_an_error(
    root: Root, make_run: MakeRun, live: LiveCallRegistry, models: FixedModels, damage: str
) -> None:
    run, other = await make_run(), await make_run()
    await talk(live, run, models)
    row = await kept(root, run)
    assert row is not None
    assert row.sealed is not None
    changed = row.sealed[:99] + bytes([row.sealed[99] ^ 1]) + row.sealed[100:]
    sealed = {"cut": row.sealed[:-40], "changed": changed}.get(damage, row.sealed)
    damaged = other if damage == "of another run" else run
    async with root.db.transaction() as session:
        await session.execute(delete(RunJournal))
        session.add(
            RunJournal(run_id=damaged.id, organization_id=run.organization_id, key_number=row.key_number, sealed=sealed)
        )
        await session.execute(update(Run).where(Run.id == damaged.id).values(status="completed", lease_until=None))
    with pytest.raises(JournalDamaged):
        await replay(root, damaged)


async def test_a_new_key_opens_old_journals(root: Root, run: Run, live: LiveCallRegistry, models: FixedModels) -> None:
    await talk(live, run, models)
    services = root.get(RunServices)
    keys = DataKeys(services.keyring)
    async with root.db.transaction() as session:
        number = await keys.rotate(session, run.organization_id)
    journals = CallJournals(root.db, keys, root.clock, max_kb=1024)
    assert await journals.seal_again(run.organization_id) == 1
    async with root.db.transaction() as session:
        await keys.delete_older(session, run.organization_id, number)
    assert (await replay(root, run)).difference is None
    async with root.db.transaction() as session:
        await session.execute(delete(StoredDataKey).where(StoredDataKey.organization_id == run.organization_id))
    with pytest.raises(JournalDamaged, match="key"):
        await replay(root, run)


async def test_a_journal_that_is_being_stored_keeps_its_key(
    root: Root, run: Run, live: LiveCallRegistry, models: FixedModels
) -> None:
    await talk(live, run, models)
    keys = DataKeys(root.get(RunServices).keyring)
    async with root.db.transaction() as session:
        number = await keys.rotate(session, run.organization_id)
    async with root.db.transaction() as storing:
        # as one that had begun to wait for its key while that was replaced
        await storing.execute(select(StoredDataKey).with_for_update(read=True, key_share=True))
        deleting = asyncio.create_task(live.journals.delete_older_keys(run.organization_id, number))
        await wait_for_a_lock(root)
        assert not deleting.done()
    await deleting
    row = await kept(root, run)
    assert row is not None
    assert row.key_number == number
    assert (await replay(root, run)).difference is None


async def wait_for_a_lock(root: Root) -> None:
    """Waits until a statement waits for another transaction."""
    waiting = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    while True:
        async with root.db.transaction() as session:
            if await session.scalar(waiting):
                return
        await asyncio.sleep(0.02)
