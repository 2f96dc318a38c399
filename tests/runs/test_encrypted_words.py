"""Encrypted words of calls: not in the database, read and searched as before, rotated, erased, and gone with their key."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import func, select, text, update

from offhook.kit.audio import PCM16_16K
from offhook.kit.crypto import Keyring
from offhook.nodes.tables import NodeRow
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.data_keys.word_keys import WordKeys, provide_word_keys
from offhook.orgs.tables import StoredDataKey
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.errors import OlderProcessRunning
from offhook.runs.records import retention_queries
from offhook.runs.records.transcript_queries import MAX_PHRASE_RUNS
from offhook.runs.records.word_sealer import WordSealer
from offhook.runs.tables import Run, RunEvent, RunText
from offhook.voice.events import AGENT_SAID, CALLER_SAID, TOOL_CALLED, VoiceEvent
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import find_in_files, find_in_tables
from tests.privacy.test_organization_deletion import DyingDatabase, Killed
from tests.runs.conftest import MakeRun, MakeWorkflow
from tests.runs.test_transcript_search import find, hold_call

WORDS = ("quillon", "brask", "marzipan")


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


def use_keys(root: Root, *, encrypts: bool) -> WordKeys:
    """The keys of a process that has just started, for this root's database."""
    keys = WordKeys(DataKeys(root.get(Keyring)), encrypts=encrypts)
    provide_word_keys(root.db, keys)
    return keys


@pytest.fixture
def encrypting(root: Root) -> WordKeys:
    return use_keys(root, encrypts=True)


async def carry(live: LiveCallRegistry, run: Run) -> None:
    """A real call in which the words are said, by both sides and to a tool."""
    call = await live.connect_leg(run.id, KeptLeg(codec=PCM16_16K))
    said: dict[str, Any] = {"text": "I am Quillon, do not call me again.", "start_s": 0.1, "end_s": 0.2}
    for event in (
        VoiceEvent(CALLER_SAID, 0.2, said),
        VoiceEvent(AGENT_SAID, 0.4, {"text": "Mister Brask, goodbye.", "node_id": "a", "start_s": 0.3, "end_s": 0.4}),
        VoiceEvent(TOOL_CALLED, 0.5, {"id": "1", "name": "order", "arguments": {"cake": "Marzipan"}}),
    ):
        call._sink.emit(event)
    call.session.end_call()
    await call.run()


async def sealed_with(root: Root) -> set[int | None]:
    """The numbers of the keys of all events with words."""
    async with root.db.transaction() as session:
        words = RunEvent.type.not_in(sorted(retention_queries.FACTS))
        return set(await session.scalars(select(RunEvent.key_number).where(words).distinct()))


def sealer(root: Root) -> WordSealer:
    return WordSealer(root.db, DataKeys(root.get(Keyring)), print)


async def test_no_word_of_a_call_rests_in_the_database(
    client: AsyncClient, root: Root, live: LiveCallRegistry, run: Run, org: OrgFixture, encrypting: WordKeys
) -> None:
    await carry(live, run)
    assert await find_in_tables(root, WORDS) == {}
    assert find_in_files(root, WORDS) == []
    address = f"/workflow/{run.workflow_id}/runs/{run.id}"
    shown = (await client.get(address, headers=org.owner_headers)).json()
    lines = [line["text"] for line in shown["transcript"]]
    assert "I am Quillon, do not call me again." in lines
    assert "Mister Brask, goodbye." in lines
    assert "Marzipan" in (await client.get(address, headers=org.owner_headers)).text
    written = await client.get(f"{address}/transcript", headers=org.owner_headers)
    assert "Quillon" in written.text
    streamed = await client.get(f"{address}/events", headers=org.owner_headers)
    assert "Quillon" in streamed.text
    assert await find(client, org, "quillon") == [run.id]
    strip = await client.get(f"{address}/strip", headers=org.owner_headers)
    assert strip.status_code == 200, strip.text
    evidence = await client.get(f"{address}/evidence", headers=org.owner_headers)
    assert "Quillon" in evidence.text


async def test_encrypted_and_plain_transcripts_are_searched_alike(
    client: AsyncClient, make_run: MakeRun, org: OrgFixture, root: Root
) -> None:
    for encrypts in (False, True):
        use_keys(root, encrypts=encrypts)
        tooth = await hold_call(root, await make_run(), "My Tooth hurts, can I come on Friday?")
        order = await hold_call(root, await make_run(), "Where is my order?", answer="It's an e-mail on Friday.")
        since = {"workflow_id": tooth.workflow_id, "limit": 2}
        assert await find(client, org, "friday", **since) == [order.id, tooth.id]
        assert (await find(client, org, "friday -order", **since))[0] == tooth.id
        assert await find(client, org, '"on friday"', **since) == [order.id, tooth.id]
        assert await find(client, org, '"friday on"') == []
        assert (await find(client, org, '-"come on" friday', **since))[0] == order.id
        assert await find(client, org, "tooth or order", **since) == [order.id, tooth.id]
        assert await find(client, org, "tooth order") == []
        assert (await find(client, org, "e-mail it's", **since))[0] == order.id
        assert (await find(client, org, '"e-mail on friday" or nothing', **since))[0] == order.id
    assert await sealed_with(root) == {None, 1}
    assert len(await find(client, org, "friday")) == 4
    assert len(await find(client, org, '"on friday"')) == 4
    assert len(await find(client, org, '"on friday" -tooth')) == 2


async def test_a_phrase_of_too_many_calls_is_refused(
    client: AsyncClient, run: Run, org: OrgFixture, root: Root, encrypting: WordKeys
) -> None:
    await hold_call(root, run, "On Friday, please.")
    async with root.db.transaction() as session:
        await session.execute(
            text(
                "INSERT INTO runs (organization_id, workflow_id, version_id, version_number, name, mode, direction)"
                " SELECT organization_id, workflow_id, version_id, version_number, name, mode, direction"
                " FROM runs, generate_series(1, :others)"
            ),
            {"others": MAX_PHRASE_RUNS},
        )
        await session.execute(
            text(
                "INSERT INTO run_texts (run_id, organization_id, words, key_number)"
                " SELECT runs.id, runs.organization_id, words, key_number FROM runs, run_texts WHERE runs.id <> run_id"
            )
        )
    query = {"search": '"on friday"'}
    answer = await client.get("/organizations/usage/runs", params=query, headers=org.owner_headers)
    assert (answer.status_code, answer.json()["code"]) == (422, "phrase_too_common")
    within = {**query, "to_date": "2020-01-01"}
    answer = await client.get("/organizations/usage/runs", params=within, headers=org.owner_headers)
    assert (answer.status_code, answer.json()["items"]) == (200, [])
    said: list[str] = []
    assert await WordSealer(root.db, DataKeys(root.get(Keyring)), said.append, batch=50).seal_words(org.id) == (1, 0)
    assert said == ["Transcripts of 500 of 501 runs are encrypted."]


async def test_another_organization_reads_and_finds_nothing(
    client: AsyncClient,
    run: Run,
    org: OrgFixture,
    other_org: OrgFixture,
    root: Root,
    encrypting: WordKeys,
    make_workflow: MakeWorkflow,
) -> None:
    await hold_call(root, run, "On Friday, please.")
    async with root.db.transaction() as session:
        await DataKeys(root.get(Keyring)).get_newest(session, other_org.id)
    for search in ("friday", '"on friday"', f"organization/{org.id}/key/1", "friday or please"):
        assert await find(client, other_org, search) == []
    # somebody moves the rows to the other organization, whose key has the same number
    workflow_id = await make_workflow(other_org.id)
    async with root.db.transaction() as session:
        await session.execute(update(RunEvent).values(organization_id=other_org.id))
        await session.execute(update(Run).values(organization_id=other_org.id, workflow_id=workflow_id))
        await session.execute(
            text(
                "UPDATE runs SET version_id = (SELECT id FROM workflow_versions v WHERE v.workflow_id = runs.workflow_id)"
            )
        )
    answer = await client.get(f"/workflow/{workflow_id}/runs/{run.id}/transcript", headers=other_org.owner_headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "words_unreadable")


async def test_the_words_of_an_event_do_not_pass_for_those_of_another(
    client: AsyncClient, run: Run, org: OrgFixture, root: Root, encrypting: WordKeys
) -> None:
    await hold_call(root, run, "Yes.", answer="Shall I?")
    async with root.db.transaction() as session:
        await session.execute(
            text(
                "UPDATE run_events a SET sealed = b.sealed FROM run_events b WHERE b.run_id = a.run_id AND b.seq <> a.seq"
                " AND a.sealed IS NOT NULL AND b.sealed IS NOT NULL"
            )
        )
    answer = await client.get(f"/workflow/{run.workflow_id}/runs/{run.id}", headers=org.owner_headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "words_unreadable")


async def test_without_its_key_a_transcript_is_gone(
    client: AsyncClient, root: Root, live: LiveCallRegistry, run: Run, org: OrgFixture, encrypting: WordKeys
) -> None:
    await carry(live, run)
    async with root.db.transaction() as session:
        await session.execute(text("DELETE FROM data_keys"))
    use_keys(root, encrypts=False)
    address = f"/workflow/{run.workflow_id}/runs/{run.id}"
    for path in (address, f"{address}/transcript", f"{address}/evidence"):
        answer = await client.get(path, headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (409, "words_unreadable"), path
    # what is not about words goes on
    listed = await client.get("/organizations/usage/runs", headers=org.owner_headers)
    assert [item["id"] for item in listed.json()["items"]] == [run.id]
    assert await find(client, org, "quillon") == []
    streamed = await client.get(f"{address}/events", headers=org.owner_headers)
    assert "call_ended" in streamed.text
    assert "Quillon" not in streamed.text


async def test_words_are_not_stored_plain_when_their_key_cannot_be_opened(
    root: Root, live: LiveCallRegistry, run: Run, encrypting: WordKeys
) -> None:
    async with root.db.transaction() as session:
        session.add(StoredDataKey(organization_id=run.organization_id, number=1, sealed_key=b"of another secret"))
    await carry(live, run)
    assert await find_in_tables(root, WORDS) == {}
    async with root.db.transaction() as session:
        stored = await session.get(Run, run.id)
        assert stored is not None
        assert stored.status == "completed"


async def test_existing_words_are_encrypted_and_keys_rotated(
    client: AsyncClient, root: Root, live: LiveCallRegistry, run: Run, org: OrgFixture
) -> None:
    use_keys(root, encrypts=False)
    await carry(live, run)
    address = f"/workflow/{run.workflow_id}/runs/{run.id}"
    before = (await client.get(address, headers=org.owner_headers)).json()
    assert set(await find_in_tables(root, WORDS)) == {"run_events.data", "run_texts.words"}
    number, events = await sealer(root).seal_words(org.id)
    assert (number, events > 0) == (1, True)
    assert await find_in_tables(root, WORDS) == {}
    async with root.db.transaction() as session:
        assert await DataKeys(root.get(Keyring)).rotate(session, org.id) == 2
    assert (await client.get(address, headers=org.owner_headers)).json()["transcript"] == before["transcript"]
    assert await find(client, org, "quillon") == [run.id]
    assert await sealer(root).seal_words(org.id) == (2, events)
    assert await sealed_with(root) == {2}
    assert await sealer(root).seal_words(org.id) == (2, 0)
    async with root.db.transaction() as session:
        await DataKeys(root.get(Keyring)).delete_older(session, org.id, 2)
    use_keys(root, encrypts=False)
    after = (await client.get(address, headers=org.owner_headers)).json()
    assert (after["events"], after["transcript"]) == (before["events"], before["transcript"])
    assert await find(client, org, '"do not call"') == [run.id]


async def test_a_killed_command_is_gone_on_with(
    client: AsyncClient, make_run: MakeRun, org: OrgFixture, root: Root
) -> None:
    use_keys(root, encrypts=False)
    for number in range(5):
        await hold_call(root, await make_run(), f"My number is {number} on Friday.")
    deaths, is_done = 0, False
    while not is_done:
        database = DyingDatabase(root.db.url, lives=1 + deaths)
        provide_word_keys(database, WordKeys(DataKeys(root.get(Keyring)), encrypts=True))
        sealing = WordSealer(database, DataKeys(root.get(Keyring)), print, batch=2)
        try:
            await sealing.seal_words(org.id)
            is_done = True
        except Killed:
            deaths += 1
        finally:
            await database.dispose()
        # half is encrypted, and all are read and found
        assert len(await find(client, org, '"on friday"')) == 5
        assert len(await find(client, org, "number")) == 5
    assert deaths == 4
    assert await sealed_with(root) == {1}
    async with root.db.transaction() as session:
        assert await session.scalar(select(func.count()).where(RunText.key_number.is_(None))) == 0


async def test_nothing_is_encrypted_while_an_older_process_runs(
    root: Root, run: Run, org: OrgFixture, encrypting: WordKeys
) -> None:
    async with root.db.transaction() as session:
        session.add(NodeRow(id="old", kind="worker", version="0.1"))
    await hold_call(root, run, "On Friday, please.")
    assert await sealed_with(root) == {None}
    with pytest.raises(OlderProcessRunning):
        await sealer(root).seal_words(org.id)
    async with root.db.transaction() as session:
        await session.execute(update(NodeRow).values(beat_at=func.now() - text("interval '1 minute'")))
    await sealer(root).seal_words(org.id)
    assert await sealed_with(root) == {1}
