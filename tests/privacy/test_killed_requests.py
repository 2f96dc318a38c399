"""A worker that is killed while it erases or exports a number: another one goes on, and everything is named once."""

import os
from datetime import timedelta
from pathlib import Path

import pytest
from httpx2 import AsyncClient
from sqlalchemy import func, select, update

from offhook.kit.crypto import Keyring
from offhook.kit.files.file_store import FileStore
from offhook.orgs.tables import AuditEntry
from offhook.privacy import superuser_queries
from offhook.privacy.service import ARCHIVES_JOB, PersonData
from offhook.privacy.tables import PersonDataRequest
from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs.recording_files.wav import wav_header
from offhook.runs.records.deletion import RunEraser
from offhook.runs.tables import Run
from offhook.telephony.tables import RefusedCall
from offhook.webhooks.tables import WebhookEvent
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import NUMBER, find_in_files, find_in_tables
from tests.privacy.test_erasure import OTHER, PATH, ask
from tests.privacy.test_organization_deletion import DyingDatabase, Killed
from tests.runs.conftest import MakeRun

# Transactions that delete; then come those of each table with texts.
ONE_BY_ONE = 12


async def find_request(root: Root) -> PersonDataRequest:
    async with root.db.transaction() as session:
        return (await session.scalars(select(PersonDataRequest))).one()


async def answer_with_deaths(root: Root, org: OrgFixture, request_id: int) -> int:
    """Answers a request with workers each of which lives one transaction longer, later ten; returns how many died."""
    services, deaths, lives = root.get(RunServices), 0, 2
    while (await find_request(root)).state != "done":
        database = DyingDatabase(root.db.url, lives=lives)
        eraser = RunEraser(database, root.storage, root.clock)
        person_data = PersonData(database, root.storage, services.vault, root.get(Keyring), root.clock, eraser)
        try:
            await person_data.answer_request(org.id, request_id)
        except Killed:
            deaths += 1
            lives += 1 if deaths < ONE_BY_ONE else 10
            # The sweep finds it, whatever became of the job of the dead worker.
            async with root.db.transaction() as session:
                assert [one.id for one in await superuser_queries.list_open_requests(session)] == [request_id]
        await database.dispose()
    return deaths


async def test_an_export_leaves_one_archive(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    """Each attempt stored one of its own, which nothing deleted, not even an erasure of the number."""
    request_id = (await ask(client, org.owner_headers, "export")).json()["id"]
    assert await answer_with_deaths(root, org, request_id) > 0
    folder = root.storage.root / "exports" / str(org.id)
    assert [f"exports/{org.id}/{path.name}" for path in folder.iterdir()] == [(await find_request(root)).archive_key]


class DyingStorage(FileStore):
    """Ends its process before it stores a file, so many times."""

    deaths = 0

    async def keep(self, key: str, draft: Path) -> None:
        if self.deaths > 0:
            self.deaths -= 1
            raise Killed
        await super().keep(key, draft)


@pytest.mark.parametrize("deaths", [1, 3])
async def test_what_is_counted_and_not_written_yet_is_counted_once(
    client: AsyncClient, root: Root, org: OrgFixture, deaths: int
) -> None:
    """Each attempt counted the rows again, because the file still had them."""
    names = [f"campaigns/{org.id}/{letter * 32}_people.csv" for letter in "ab"]
    for name in (*names, f"knowledge/{org.id}/guide.md"):
        path = root.storage.path_for(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(f"name,phone\r\nAnn,{NUMBER}\r\nBob,{OTHER}\r\n".encode())
    request_id = (await ask(client, org.owner_headers)).json()["id"]
    services, storage = root.get(RunServices), DyingStorage(root.storage.root)
    person_data = PersonData(
        root.db, storage, services.vault, root.get(Keyring), root.clock, RunEraser(root.db, storage, root.clock)
    )
    storage.deaths = deaths
    for _ in range(deaths):
        with pytest.raises(Killed):
            await person_data.answer_request(org.id, request_id)
        shown = await client.get(f"{PATH}/{request_id}", headers=org.owner_headers)
        assert shown.json()["step"] == "contact_files"
    await person_data.answer_request(org.id, request_id)
    counts = (await find_request(root)).counts
    assert {"contact_file_rows": 2, "documents": 1}.items() <= counts.items()
    assert find_in_files(root) == []


async def test_an_archive_that_no_request_names_is_deleted(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    request_id = (await ask(client, org.owner_headers, "export")).json()["id"]
    services = root.get(RunServices)
    person_data = PersonData(
        root.db,
        root.storage,
        services.vault,
        root.get(Keyring),
        root.clock,
        RunEraser(root.db, root.storage, root.clock),
    )
    await person_data.answer_request(org.id, request_id)
    named = root.storage.path_for((await find_request(root)).archive_key or "")
    unnamed, fresh = (root.storage.path_for(f"exports/{org.id}/{number}.zip") for number in (7001, 7002))
    for path, days in ((named, 2), (unnamed, 2), (fresh, 0)):
        path.write_bytes(b"PK")
        at = (root.clock.now() - timedelta(days=days)).timestamp()
        os.utime(path, (at, at))
    await root.jobs.handlers[ARCHIVES_JOB]({})
    assert [path.exists() for path in (named, unnamed, fresh)] == [True, False, True]


@pytest.mark.slow
async def test_another_worker_goes_on_and_everything_is_counted_once(
    client: AsyncClient, root: Root, org: OrgFixture, make_run: MakeRun
) -> None:
    """What the first one had deleted since it began a step was missing in the receipt."""
    for _ in range(2):
        run = await make_run(phone_number=NUMBER)
    key = f"recordings/{org.id}/{run.id}.wav"
    for name, content in (
        (key, wav_header(8000, 2, 8) + b"14152000007"),
        (f"campaigns/{org.id}/{'0' * 32}_people.csv", f"name,phone\r\nAnn,{NUMBER}\r\nBob,{OTHER}\r\n".encode()),
        (f"knowledge/{org.id}/guide.md", f"Ask Ann at {NUMBER}.\n".encode()),
    ):
        path = root.storage.path_for(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    async with root.db.transaction() as session:
        await session.execute(update(Run).values(status="completed", lease_until=None, recording_key=key))
        refused = {"organization_id": org.id, "provider": "sandbox", "reason": "x", "message": "y"}
        session.add(RefusedCall(**refused, call_id="c1", caller_number=NUMBER))
        session.add(WebhookEvent(organization_id=org.id, type="run.completed", key="k1", data={"note": NUMBER}))
    request_id = (await ask(client, org.owner_headers)).json()["id"]
    deaths = await answer_with_deaths(root, org, request_id)
    assert deaths > 10
    assert await find_in_tables(root) == {}
    assert find_in_files(root) == []
    expected = {"runs": 2, "contact_file_rows": 1, "documents": 1, "refused_calls": 1, "webhook_events_changed": 1}
    counts = (await find_request(root)).counts
    assert {name: counts.get(name) for name in expected} == expected
    async with root.db.transaction() as session:
        entries = select(func.count()).where(AuditEntry.action == "person_data.erased")
        assert await session.scalar(entries) == 1
