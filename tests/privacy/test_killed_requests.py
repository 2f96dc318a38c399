"""A worker that is killed while it erases or exports a number: another one goes on, and everything is named once."""

import pytest
from httpx2 import AsyncClient
from sqlalchemy import func, select, update

from offhook.kit.crypto import Keyring
from offhook.orgs.tables import AuditEntry
from offhook.privacy import superuser_queries
from offhook.privacy.service import PersonData
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
from tests.privacy.test_erasure import OTHER, ask
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
