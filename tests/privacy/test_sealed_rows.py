"""Summaries, reviews, notes, chats and bodies of webhooks are encrypted with the key of their organization, and read as before."""

import asyncio
import io
import json
import zipfile
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import event, text

from offhook.campaigns.tables import Campaign
from offhook.kit.crypto import Keyring
from offhook.nodes.queries import SEALED_LEVEL
from offhook.nodes.tables import NodeRow
from offhook.orgs.data_keys.keys import DataKeys
from offhook.orgs.data_keys.row_sealer import seal_rows
from offhook.orgs.data_keys.sealed_rows import list_sealed_parts, seal_row
from offhook.root import Root
from offhook.runs import service as runs
from offhook.runs.errors import OlderProcessRunning
from offhook.runs.records import retention_queries
from offhook.runs.records.word_sealer import WordSealer
from offhook.runs.sealed_columns import CHAT_STATE, NOTE
from offhook.runs.tables import NodeWebhookDelivery, Run, RunAnalysis, RunReview
from offhook.webhooks import service as webhooks
from tests.commands.conftest import Offhook
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import NUMBER, find_in_tables
from tests.privacy.test_erasure import OTHER, PATH, answer, called, run_of
from tests.runs.conftest import MakeRun
from tests.runs.test_encrypted_words import use_keys

__all__ = ["called"]

WORDS = ("quillon", "brask", "marzipan", "tarragon", "saffron", "juniper")
SHOWN = ("quillon", "brask", "tarragon", "juniper")
# What processes from before 0038 know.
FIRST = ("node_webhook_deliveries", "run_analyses", "run_reviews", "webhook_events")
LATER = ("runs sealed_chat", "runs sealed_note")


async def store(root: Root, run: Run, words: tuple[str, ...] = WORDS) -> int:
    """What is written about a call after its end, with a word in each of the places; returns the webhook event."""
    summary, review, body, said, talk, note = words
    async with root.db.transaction() as session:
        rows = (
            RunAnalysis(
                run_id=run.id, organization_id=run.organization_id, status="done",
                summary=f"About {summary}.", criteria=[{"name": "polite", "passed": True, "reason": f"Said {summary}."}],
            ),
            RunReview(
                organization_id=run.organization_id, run_id=run.id, node_id="qa", status="done",
                result={"score": 80, "passed": True, "summary": f"About {review}."},
            ),
            NodeWebhookDelivery(
                organization_id=run.organization_id, run_id=run.id, node_id="hook", payload={"customer": body, "age": 40},
            ),
        )  # fmt: skip
        for row in rows:
            session.add(row)
            await session.flush()
            await seal_row(session, row)
        await runs.update_notes(
            session, run.organization_id, run.id, workflow_id=run.workflow_id, note=f"Likes {note}.", tags=None
        )
        talked = await runs.get_run(session, run.organization_id, run.id)
        talked.chat_state = {"revision": 1, "claim": None, "usage": talk}
        await seal_row(session, talked, CHAT_STATE)
        data = {"run_id": run.id, "gathered_context": {"name": said}}
        event_id = await webhooks.publish_event(session, run.organization_id, "run.completed", data)
    assert event_id is not None
    return event_id


async def read(client: AsyncClient, org: OrgFixture, run: Run) -> str:
    """All that customers see of it."""
    path = f"/workflow/{run.workflow_id}/runs/{run.id}"
    shown = await client.get(path, headers=org.owner_headers)
    usage = await client.get("/organizations/usage/runs", headers=org.owner_headers)
    events = await client.get("/events", headers=org.owner_headers)
    for one in (shown, usage, events):
        assert one.status_code == 200, one.text
    found = shown.json()
    written = [found["analysis"], found["annotations"], found["note"]]
    return json.dumps([*written, usage.text, events.json()["events"]]).lower()


async def sealed(root: Root) -> dict[str, list[int | None]]:
    """The keys of the rows, by what is encrypted with them."""
    async with root.db.transaction() as session:
        return {
            part.label: list(
                await session.scalars(text(f"SELECT {part.key_column} FROM {part.table} ORDER BY {part.key_column}"))
            )
            for part in list_sealed_parts()
            if part.table != "webhook_attempts"
        }


def all_with(key: int | None, count: int = 1) -> dict[str, list[int | None]]:
    return dict.fromkeys((*FIRST, *LATER), [key] * count)


async def test_no_word_of_them_is_in_the_database(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
) -> None:
    use_keys(root, encrypts=True)
    run = await make_run()
    await store(root, run)
    assert await find_in_tables(root, WORDS) == {}
    assert await sealed(root) == all_with(1)
    shown = await read(client, org, run)
    assert all(word in shown for word in SHOWN)
    async with root.db.transaction() as session:
        kept = (await session.execute(text("SELECT data FROM webhook_events"))).scalar_one()
        rated = (await session.execute(text("SELECT result FROM run_reviews"))).scalar_one()
    assert (kept, rated) == ({"run_id": run.id}, {}), "erasure finds a call's events by it"


async def test_they_are_plain_without_the_setting_and_beside_older_processes(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
) -> None:
    run = await make_run()
    await store(root, run)
    assert await sealed(root) == all_with(None)
    async with root.db.transaction() as session:
        session.add(NodeRow(id="old", kind="serve", version="0", reads_encrypted_words=True))
    use_keys(root, encrypts=True)
    other = await make_run()
    await store(root, other)
    assert await sealed(root) == all_with(None, 2)
    shown = await read(client, org, run)
    assert all(word in shown for word in SHOWN)
    with pytest.raises(OlderProcessRunning):
        await WordSealer(root.db, DataKeys(root.get(Keyring)), print).seal_words(org.id)


async def test_beside_processes_that_read_the_first_ones_the_later_ones_are_plain(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
) -> None:
    assert max(part.level for part in list_sealed_parts()) == SEALED_LEVEL
    async with root.db.transaction() as session:
        session.add(NodeRow(id="old", kind="serve", version="0", reads_encrypted_words=True, reads_sealed_rows=True))
    use_keys(root, encrypts=True)
    run = await make_run()
    await store(root, run)
    assert await sealed(root) == {label: [1 if label in FIRST else None] for label in (*FIRST, *LATER)}
    assert "juniper" in await read(client, org, run)
    with pytest.raises(OlderProcessRunning):
        await WordSealer(root.db, DataKeys(root.get(Keyring)), print).seal_words(org.id)


async def test_what_an_older_process_wrote_since_counts(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
) -> None:
    """After a return to the older version: it knows the plain columns only."""
    use_keys(root, encrypts=True)
    run = await make_run()
    await store(root, run)
    async with root.db.transaction() as session:
        await session.execute(text("UPDATE runs SET note = 'Hates cardamom.'"))
    assert "hates cardamom" in await read(client, org, run)
    assert await seal_rows(root.db, DataKeys(root.get(Keyring)), org.id, 1) == 1
    assert await find_in_tables(root, ["cardamom"]) == {}
    assert "hates cardamom" in await read(client, org, run)


async def test_no_word_of_them_is_on_its_way_to_the_database(root: Root, org: OrgFixture, make_run: MakeRun) -> None:
    """What a statement of the same transaction undoes is in the write-ahead log, and in the table until it is cleaned."""
    use_keys(root, encrypts=True)
    run = await make_run()
    sent: list[str] = []

    @event.listens_for(root.db.engine.sync_engine, "before_cursor_execute")
    def note(_connection: Any, _cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        sent.append(f"{statement} {parameters}".lower())

    async with root.db.transaction() as session:
        review = RunReview(organization_id=run.organization_id, run_id=run.id, node_id="qa")
        session.add(review)
        await session.flush()
        review.result = {"summary": "About brask."}
        await seal_row(session, review)
        await runs.update_notes(
            session, run.organization_id, run.id, workflow_id=run.workflow_id, note="Likes juniper.", tags=None
        )
    assert any("update run_reviews" in one for one in sent)
    assert [one for one in sent if "brask" in one or "juniper" in one] == []


async def test_a_note_stays_when_the_words_are_deleted(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
) -> None:
    use_keys(root, encrypts=True)
    run = await make_run()
    await store(root, run)
    async with root.db.transaction() as session:
        await retention_queries.delete_words(session, org.id, [run.id])
    assert (await sealed(root))["runs sealed_chat"] == [None]
    assert "juniper" in await read(client, org, run)


async def test_existing_ones_are_encrypted_and_rotated(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
) -> None:
    use_keys(root, encrypts=False)
    run = await make_run()
    await store(root, run)
    keys = DataKeys(root.get(Keyring))
    async with root.db.transaction() as session:
        await keys.get_newest(session, org.id)
    assert await seal_rows(root.db, keys, org.id, 1) == 6
    assert await seal_rows(root.db, keys, org.id, 1) == 0
    assert await find_in_tables(root, WORDS) == {}
    async with root.db.transaction() as session:
        assert await keys.rotate(session, org.id) == 2
    assert await seal_rows(root.db, keys, org.id, 2) == 6
    assert await sealed(root) == all_with(2)
    async with root.db.transaction() as session:
        await keys.delete_older(session, org.id, 2)
    use_keys(root, encrypts=True)
    shown = await read(client, org, run)
    assert all(word in shown for word in SHOWN)


@pytest.mark.slow
async def test_by_the_command_line(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun, database_url: str, offhook: Offhook
) -> None:
    use_keys(root, encrypts=False)
    run = await make_run()
    await store(root, run)
    settings = {"OFFHOOK_DATABASE_URL": database_url, "OFFHOOK_DATA_DIR": str(root.settings.data_dir)}
    for number, command in ((1, "apply"), (1, "rotate"), (2, "apply")):
        ended = await asyncio.to_thread(offhook.run, "encryption", command, "--org", str(org.id), **settings)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        assert ("Encrypted 6 summaries" in ended.stdout) is (command == "apply")
        assert await sealed(root) == all_with(number)
    assert "quillon" in await read(client, org, run)


async def test_without_its_key_one_cannot_be_read(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
) -> None:
    use_keys(root, encrypts=True)
    run = await make_run()
    await store(root, run)
    async with root.db.transaction() as session:
        await session.execute(text("DELETE FROM data_keys"))
    use_keys(root, encrypts=True)
    shown = await client.get(f"/workflow/{run.workflow_id}/runs/{run.id}", headers=org.owner_headers)
    assert (shown.status_code, shown.json()["code"]) == (409, "words_unreadable")
    listed = (await client.get("/events", headers=org.owner_headers)).json()["events"]
    assert [one["data"] for one in listed] == [{"run_id": run.id}]


async def test_a_row_does_not_pass_for_another(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
) -> None:
    use_keys(root, encrypts=True)
    ours, other = await make_run(), await make_run()
    await store(root, ours)
    await store(root, other, ("one", "two", "three", "four", "five", "six"))
    async with root.db.transaction() as session:
        await session.execute(
            text(
                "UPDATE run_analyses SET sealed = (SELECT sealed FROM run_analyses WHERE run_id = :ours)"
                " WHERE run_id = :other"
            ),
            {"ours": ours.id, "other": other.id},
        )
    shown = await client.get(f"/workflow/{other.workflow_id}/runs/{other.id}", headers=org.owner_headers)
    assert (shown.status_code, shown.json()["code"]) == (409, "words_unreadable")


@pytest.mark.slow
async def test_a_number_is_erased_and_exported(
    client: AsyncClient, root: Root, org: OrgFixture, called: Campaign
) -> None:
    use_keys(root, encrypts=True)
    own, other = await run_of(root, NUMBER), await run_of(root, OTHER)
    await store(root, own)
    await store(root, other, (NUMBER, "415-200-0007", NUMBER, NUMBER, NUMBER, "(415) 200-0007"))
    exported = await answer(root, client, org, "export")
    archive = await client.get(f"{PATH}/{exported['id']}/archive", headers=org.owner_headers)
    with zipfile.ZipFile(io.BytesIO(archive.content)) as file:
        person: dict[str, Any] = json.loads(file.read("person.json"))
    assert [row["summary"] for row in person["run_analyses"]] == ["About quillon."]
    assert [row["payload"]["customer"] for row in person["node_webhook_deliveries"]] == ["marzipan"]
    assert not {"sealed", "key_number"} & person["run_reviews"][0].keys()
    (told,) = person["runs"]
    assert (told["note"], told["chat_state"]["usage"]) == ("Likes juniper.", "saffron")
    assert not {column for part in (CHAT_STATE, NOTE) for column in part.own_columns} & told.keys()
    named = [row["table"] for row in person["mentions"]]
    assert {*named} >= {*FIRST, "runs"}
    assert [row for row in person["mentions"] if row["table"] == "runs"] == [{"table": "runs", "id": other.id}]
    receipt = await answer(root, client, org)
    counts = receipt["counts"]
    assert [counts[f"{table}_changed"] for table in (*FIRST, "runs")] == [1, 1, 1, 1, 2]
    shown = await read(client, org, other)
    assert "[erased]" in shown
    assert not any(form in shown for form in ("4152000007", "415-200-0007"))
