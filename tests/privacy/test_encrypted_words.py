"""Encrypted words of calls that mention a number: erased, exported and deleted like plain ones."""

import asyncio
import io
import json
import zipfile
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text

from offhook.campaigns.tables import Campaign
from offhook.kit.crypto import Keyring
from offhook.orgs.data_keys.keys import DataKeys
from offhook.root import Root
from offhook.runs.records.event_queries import read_events
from offhook.runs.tables import RunEvent
from offhook.voice.events import CALLER_SAID
from tests.commands.conftest import Offhook
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import NUMBER, find_in_tables
from tests.privacy.test_erasure import OTHER, PATH, answer, called, plant_rows, run_of
from tests.runs.conftest import MakeRun
from tests.runs.test_encrypted_words import use_keys
from tests.runs.test_transcript_search import find, hold_call

__all__ = ["called"]


@pytest.fixture(autouse=True)
def encrypting(root: Root) -> None:
    use_keys(root, encrypts=True)


async def said_to(root: Root, org: OrgFixture) -> list[str]:
    """What the caller said in the call with the other number."""
    other = await run_of(root, OTHER)
    async with root.db.transaction() as session:
        events = await read_events(session, org.id, other.id)
    return [str(event["data"]["text"]) for event in events if event["type"] == CALLER_SAID]


@pytest.mark.slow
async def test_a_number_is_erased_in_encrypted_words(
    client: AsyncClient, root: Root, org: OrgFixture, called: Campaign, workflow_id: int
) -> None:
    await plant_rows(root, client, org, workflow_id)
    before = await find_in_tables(root)
    assert not {"run_events.data", "run_texts.words"} & before.keys()
    assert await find(client, org, f"sister {NUMBER}") != []
    receipt = await answer(root, client, org)
    assert receipt["counts"]["run_events_changed"] > 5
    assert await find_in_tables(root) == {"do_not_call_entries.phone_number": 1}
    said = await said_to(root, org)
    assert "Call my sister on [erased]." in said
    assert NUMBER not in str(said)
    assert await find(client, org, f"sister {NUMBER}") == []
    assert await find(client, org, "sister erased") != []
    async with root.db.transaction() as session:
        assert set(await session.scalars(select(RunEvent.key_number).where(RunEvent.type == CALLER_SAID))) == {1}
    assert (await answer(root, client, org))["counts"].get("run_events_changed") is None


@pytest.mark.slow
async def test_an_export_has_the_words(
    client: AsyncClient, root: Root, org: OrgFixture, called: Campaign, workflow_id: int
) -> None:
    run = await run_of(root, NUMBER)
    await hold_call(root, run, "I am Quillon.")
    await plant_rows(root, client, org, workflow_id)
    receipt = await answer(root, client, org, "export")
    archive = await client.get(f"{PATH}/{receipt['id']}/archive", headers=org.owner_headers)
    with zipfile.ZipFile(io.BytesIO(archive.content)) as file:
        person: dict[str, Any] = json.loads(file.read("person.json"))
    events = [row for row in person["run_events"] if row["type"] == CALLER_SAID]
    assert "I am Quillon." in [row["data"].get("text") for row in events]
    assert not {"sealed", "key_number"} & events[0].keys()
    other = await run_of(root, OTHER)
    mentions = [row for row in person["mentions"] if row["table"] == "run_events"]
    assert {row["run_id"] for row in mentions} == {other.id}
    assert "sister" not in json.dumps(person)


@pytest.mark.slow
async def test_by_the_command_line(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun, database_url: str, offhook: Offhook
) -> None:
    use_keys(root, encrypts=False)
    run = await hold_call(root, await make_run(), "I am Quillon.")
    settings = {"OFFHOOK_DATABASE_URL": database_url, "OFFHOOK_DATA_DIR": str(root.settings.data_dir)}

    async def command(*arguments: str) -> tuple[int, str]:
        ended = await asyncio.to_thread(offhook.run, *arguments, **settings)
        return ended.returncode, ended.stdout + ended.stderr

    code, said = await command("encryption", "apply", "--org", str(org.id))
    assert (code, said.startswith("Encrypted 2 events of calls and 0 recordings.")) == (0, True), said
    assert await find_in_tables(root, ["quillon"]) == {}
    code, said = await command("encryption", "rotate", "--org", str(org.id))
    assert code == 0, said
    code, said = await command("encryption", "apply", "--org", str(org.id))
    assert (code, said.startswith("Encrypted 2 events")) == (0, True), said
    async with root.db.transaction() as session:
        assert list(await DataKeys(root.get(Keyring)).list_numbers(session, org.id)) == [2]
    code, evidence = await command("evidence", str(run.id))
    assert code == 0, evidence
    assert await find(client, org, '"am quillon"') == [run.id]
    async with root.db.transaction() as session:
        await session.execute(text("UPDATE data_keys SET sealed_key = 'of another secret'"))
    for arguments in (("encryption", "apply", "--org", str(org.id)), ("evidence", str(run.id))):
        code, said = await command(*arguments)
        assert (code, "cannot be decrypted" in said) == (1, True), said
