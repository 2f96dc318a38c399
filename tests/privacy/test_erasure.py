"""Everything about one number: planted wherever it can be, erased, and searched for byte by byte."""

import asyncio
import io
import json
import zipfile
from datetime import UTC, datetime
from typing import Any

import pytest
from httpx2 import AsyncClient, Response
from sqlalchemy import Table, func, select, text, update
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import String

from offhook.campaigns import CampaignService
from offhook.campaigns.tables import Campaign, Contact
from offhook.jobs.queue import enqueue
from offhook.kit.database.database import Base
from offhook.orgs import Caller, write_audit_entry
from offhook.orgs.tables import AuditEntry, DoNotCallEntry
from offhook.privacy.service import JOB
from offhook.root import Root
from offhook.runs import service as runs
from offhook.runs.recording_files.wav import wav_header
from offhook.runs.records import event_queries, transcript_queries
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.tables import Run, RunEvent
from offhook.telephony.tables import PendingTransfer, PhoneNumber, RefusedCall, TelephonyConfiguration
from offhook.voice.events import CALLER_SAID
from offhook.webhooks.tables import WebhookEvent
from tests.campaigns.conftest import MakeCampaign, instant_sandbox
from tests.campaigns.test_engine import until_over
from tests.commands.conftest import Offhook
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import FORMS, NUMBER, find_in_files, find_in_tables

PATH = "/organizations/data-requests"
OTHER = "+14152000008"
# Of rows that are planted into: what they hold is not text, or is what the schema or the code reads.
NOT_PLANTED = {
    ("organizations", "time_zone"),
    ("audit_entries", "action"),
    ("webhook_endpoints", "url"),
    ("run_values", "name"),
    ("run_values", "value"),
    ("refused_calls", "caller_number"),
    ("refused_calls", "called_number"),
    ("runs", "worker_id"),
}


async def ask(client: AsyncClient, headers: dict[str, str], kind: str = "erasure", number: object = NUMBER) -> Response:
    return await client.post(PATH, json={"kind": kind, "phone_number": number}, headers=headers)


async def answer(root: Root, client: AsyncClient, org: OrgFixture, kind: str = "erasure", number: str = NUMBER) -> Any:
    """The receipt of a request, once its job has run."""
    asked = await ask(client, org.owner_headers, kind, number)
    assert asked.status_code == 200, asked.text
    await root.jobs.handlers[JOB]({"organization_id": org.id, "request_id": asked.json()["id"]})
    done = (await client.get(f"{PATH}/{asked.json()['id']}", headers=org.owner_headers)).json()
    assert done["state"] == "done", done
    return done


@pytest.fixture
async def called(root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign) -> Campaign:
    """A campaign that has called the number and another one; its file is stored."""
    await instant_sandbox(root, org.id)
    key = f"campaigns/{org.id}/{'0' * 32}_people.csv"
    path = root.storage.path_for(key)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'name,phone\r\n"Ann, Åse\nof 2 lines",(415) 200-0007\r\nBob,{OTHER}\r\n')
    campaign = await make_campaign(contacts=[NUMBER, OTHER], contacts_file_key=key)
    await campaigns.start(org.id, campaign.id)
    await until_over(root, campaign)
    return campaign


async def run_of(root: Root, number: str) -> Run:
    async with root.db.transaction() as session:
        return (await session.scalars(select(Run).where(Run.phone_number == number))).one()


async def plant_rows(root: Root, client: AsyncClient, org: OrgFixture, workflow_id: int) -> None:
    """Rows about the number in places that a campaign's call does not reach, by the API where it has a way."""
    owner = org.owner_headers
    for path in ("/organizations/do-not-call", "/organizations/blocked-callers"):
        added = await client.post(path, json={"phone_number": NUMBER, "reason": "asked"}, headers=owner)
        assert added.status_code < 300, (path, added.text)
    hook = {"url": "https://example.com/hook", "events": []}
    assert (await client.post("/organizations/webhooks", json=hook, headers=owner)).status_code < 300
    chat = {"initial_context": {"phone": NUMBER}}
    made = await client.post(f"/workflow/{workflow_id}/text-chat/sessions", json=chat, headers=owner)
    assert made.status_code < 300, made.text
    ended = await client.post(f"/workflow/{workflow_id}/text-chat/sessions/{made.json()['id']}/end", headers=owner)
    assert ended.status_code < 300, ended.text
    guide = {"file": ("guide.md", f"# Help\n\nAsk Ann at 415-200-0007, or {OTHER}.\n".encode())}
    uploaded = await client.post("/knowledge-base/", files=guide, headers=owner)
    assert uploaded.status_code < 300, uploaded.text
    other = await run_of(root, OTHER)
    async with root.db.transaction() as session:
        account = (await session.scalars(select(TelephonyConfiguration))).first()
        assert account is not None
        session.add_all(
            [
                PhoneNumber(
                    organization_id=org.id, telephony_configuration_id=account.id, address="+12015550100",
                    address_normalized="+12015550100", address_type="pstn", existing_number=NUMBER,
                ),
                RefusedCall(organization_id=org.id, provider="sandbox", call_id="c1", caller_number=NUMBER, reason="x", message="y"),
                PendingTransfer(
                    transfer_id="t1", organization_id=org.id, run_id=other.id, provider="sandbox", call_id="c2", to_number=NUMBER,
                ),
                WebhookEvent(organization_id=org.id, type="run.completed", key="k1", data={"run_id": other.id, "note": NUMBER}),
            ]
        )  # fmt: skip
        said = [
            NewEvent(other.id, CALLER_SAID, 10, encode_event_data({"text": text}), datetime.now(UTC))
            for text in (*FORMS, f"Call my sister on {NUMBER}.")
        ]
        await event_queries.append_events(session, said)
        await transcript_queries.index_transcripts(session, org.id, [other.id])
        await enqueue(session, "nothing.here", {"organization_id": org.id, "to": NUMBER}, delay_s=3600)
        await write_audit_entry(session, Caller.system(org.id), "phone_number.created", "x", {"number": NUMBER})


async def plant_in_texts(root: Root, org: OrgFixture) -> set[str]:
    """The number in every JSON object and every long text of the organization's rows; returns the tables."""
    planted = set()
    async with root.db.transaction() as session:
        for table in Base.metadata.sorted_tables:
            if table.name in {"do_not_call_entries", "person_data_requests", "campaign_contacts", "phone_numbers"}:
                continue
            owner = table.columns.get("organization_id") if table.name != "organizations" else table.c.id
            for column in table.columns:
                if owner is None or (table.name, column.name) in NOT_PLANTED or not _takes_words(table, column):
                    continue
                value = (
                    column.concat({"planted": "at 415.200.0007"})
                    if isinstance(column.type, JSONB)
                    else column + " 415 200 0007"
                )
                is_object = func.jsonb_typeof(column) == "object" if isinstance(column.type, JSONB) else column != ""
                done = await session.execute(
                    update(table).where(owner == org.id, is_object).values({column.name: value})
                )
                if done.rowcount:  # type: ignore[attr-defined]
                    planted.add(table.name)
        await session.execute(text("UPDATE organizations SET test_phone_number = :number"), {"number": NUMBER})
    return planted


def _takes_words(table: Table, column: Any) -> bool:
    if column.primary_key or column.foreign_keys or column.computed is not None or column.unique:
        return False
    if isinstance(column.type, JSONB):
        return True
    return isinstance(column.type, String) and (column.type.length or 1000) >= 200 and not column.name.endswith("_key")


@pytest.mark.slow
async def test_nothing_is_left_but_the_receipt_and_the_do_not_call_entry(
    client: AsyncClient, root: Root, org: OrgFixture, called: Campaign, workflow_id: int
) -> None:
    run = await run_of(root, NUMBER)
    key = f"recordings/{org.id}/{run.id}.wav"
    root.storage.path_for(key).write_bytes(wav_header(8000, 2, 8) + b"14152000007")
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(recording_key=key))
    await plant_rows(root, client, org, workflow_id)
    await root.jobs.handlers["audit.seal"]({})
    planted = await plant_in_texts(root, org)
    assert planted >= {"runs", "run_events", "audit_entries", "webhook_events", "workflow_versions"}, planted
    before, files_before = await find_in_tables(root), find_in_files(root)
    assert len(before) > 20, before
    assert len(files_before) == 3, files_before

    receipt = await answer(root, client, org)

    kept = {"do_not_call_entries.phone_number": 1}
    assert await find_in_tables(root) == kept
    assert find_in_files(root) == []
    counts = receipt["counts"]
    expected = {"runs": 2, "recordings": 1, "contact_file_rows": 1, "campaign_contacts": 1, "documents": 1, "jobs": 1}
    expected |= {"blocked_callers": 1, "refused_calls": 1, "pending_transfers": 1, "sandbox_calls": 1}
    assert {name: counts.get(name) for name in expected} == expected
    assert receipt["created_by"] == org.user_ids["owner"]
    assert receipt["finished_at"]
    contacts = root.storage.path_for(str(called.contacts_file_key)).read_text()
    assert contacts == f"name,phone\nBob,{OTHER}\n"
    async with root.db.transaction() as session:
        assert [contact.phone_number for contact in await session.scalars(select(Contact))] == [OTHER]
        entry = (await session.scalars(select(DoNotCallEntry))).one()
        said = [
            event.data["text"] for event in await session.scalars(select(RunEvent).where(RunEvent.type == CALLER_SAID))
        ]
    assert entry.phone_number == NUMBER
    assert "Call my sister on [erased]." in said
    assert (await run_of(root, OTHER)).status == "completed"


@pytest.mark.slow
async def test_the_audit_log_is_sealed_again(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    async with root.db.transaction() as session:
        for number in (OTHER, NUMBER, OTHER):
            await write_audit_entry(session, Caller.system(org.id), "phone_number.created", None, {"number": number})
    await root.jobs.handlers["audit.seal"]({})
    receipt = await answer(root, client, org)
    assert receipt["counts"] == {"audit_entries_changed": 1}
    await root.jobs.handlers["audit.seal"]({})
    async with root.db.transaction() as session:
        entries = list(await session.scalars(select(AuditEntry).order_by(AuditEntry.position)))
    numbers = [entry.data["number"] for entry in entries if entry.action == "phone_number.created"]
    assert numbers == [OTHER, "[erased]", OTHER]
    (reopened,) = [entry for entry in entries if entry.action == "audit_log.reopened"]
    assert (reopened.data["from_position"], reopened.data["last_position"]) == (2, 3)
    assert [entry.action for entry in entries][-3:] == [
        "person_data.erasure_requested",
        "audit_log.reopened",
        "person_data.erased",
    ]
    assert all(entry.seal for entry in entries)


@pytest.mark.slow
async def test_other_organizations_keep_theirs(
    client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
) -> None:
    body = {"phone_number": NUMBER}
    for one in (org, other_org):
        added = await client.post("/organizations/blocked-callers", json=body, headers=one.owner_headers)
        assert added.status_code < 300
    first = await answer(root, client, org)
    assert first["counts"] == {"blocked_callers": 1}
    again = await answer(root, client, org)
    assert (again["counts"], again["number_hash"]) == ({}, first["number_hash"])
    assert again["id"] != first["id"]
    assert await find_in_tables(root) == {"blocked_callers.phone_number": 1}
    theirs = await answer(root, client, other_org)
    assert theirs["counts"] == {"blocked_callers": 1}
    assert theirs["number_hash"] != first["number_hash"]


async def test_who_may_and_bad_input(client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
    asked = (await ask(client, org.key_headers)).json()
    one = f"{PATH}/{asked['id']}"
    paths = (PATH, one, f"{one}/archive")
    assert (await ask(client, {})).status_code == 401
    assert {(await client.get(path)).status_code for path in paths} == {401}
    for role in ("viewer", "member"):
        headers = org.headers_for(role)
        assert (await ask(client, headers)).status_code == 403
        assert {(await client.get(path, headers=headers)).status_code for path in paths} == {403}
    for path in paths[1:]:
        answered = await client.get(path, headers=other_org.owner_headers)
        assert (answered.status_code, answered.json()["code"]) == (404, "data_request_not_found")
    assert (await client.get(PATH, headers=other_org.owner_headers)).json()["total_count"] == 0
    for kind, number in (
        ("erasure", "4152000007"),
        ("erasure", "+1415"),
        ("erasure", None),
        ("all", NUMBER),
        ("export", 7),
    ):
        assert (await ask(client, org.owner_headers, kind, number)).status_code == 422
    assert (await client.get(f"{one}/archive", headers=org.owner_headers)).json()["code"] == "archive_not_ready"
    assert (await client.get(f"{PATH}/x", headers=org.owner_headers)).status_code == 422


async def test_a_request_that_waits_is_the_same_one(client: AsyncClient, org: OrgFixture) -> None:
    first, second = [
        (await ask(client, org.owner_headers, number=number)).json() for number in (NUMBER, "+1 (415) 200-0007")
    ]
    assert first == second
    listed = await client.get(PATH, params={"phone_number": NUMBER}, headers=org.owner_headers)
    assert [request["id"] for request in listed.json()["requests"]] == [first["id"]]
    other = await client.get(PATH, params={"phone_number": OTHER}, headers=org.owner_headers)
    assert other.json()["requests"] == []


async def test_an_own_number_and_a_live_call_are_refused(
    client: AsyncClient, root: Root, org: OrgFixture, called: Campaign
) -> None:
    account_id = await instant_sandbox(root, org.id, own=True)
    async with root.db.transaction() as session:
        number = PhoneNumber(
            organization_id=org.id, telephony_configuration_id=account_id, address=OTHER, address_normalized=OTHER,
            address_type="pstn",
        )  # fmt: skip
        session.add(number)
    refused = await ask(client, org.owner_headers, number=OTHER)
    assert (refused.status_code, refused.json()["code"]) == (409, "number_is_own")
    run = await run_of(root, NUMBER)
    asked = await ask(client, org.owner_headers)
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(status="in_progress"))
    # A call that began after the request: the job waits for its end.
    payload = {"organization_id": org.id, "request_id": asked.json()["id"]}
    await root.jobs.handlers[JOB](payload)
    waiting = (await client.get(f"{PATH}/{asked.json()['id']}", headers=org.owner_headers)).json()
    assert (waiting["state"], waiting["finished_at"]) == ("waiting", None)
    async with root.db.transaction() as session:
        await runs.apply_status(session, org.id, run.id, "completed")
        await session.execute(update(Run).where(Run.id == run.id).values(status="completed"))
    await root.jobs.handlers[JOB](payload)
    done = (await client.get(f"{PATH}/{asked.json()['id']}", headers=org.owner_headers)).json()
    assert (done["state"], done["counts"]["runs"]) == ("done", 1)
    async with root.db.transaction() as session:
        await session.execute(update(Run).values(status="in_progress", phone_number="+14152000009"))
    busy = await ask(client, org.owner_headers, number="+14152000009")
    assert (busy.status_code, busy.json()["code"]) == (409, "number_in_call")


async def test_an_export_has_what_an_erasure_deletes(
    client: AsyncClient, root: Root, org: OrgFixture, called: Campaign, workflow_id: int, shifted_clock: Any
) -> None:
    run = await run_of(root, NUMBER)
    sound = wav_header(8000, 2, 8) + bytes(8)
    key = f"recordings/{org.id}/{run.id}.wav"
    root.storage.path_for(key).write_bytes(sound)
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(recording_key=key))
    await plant_rows(root, client, org, workflow_id)
    receipt = await answer(root, client, org, "export")
    archive = await client.get(f"{PATH}/{receipt['id']}/archive", headers=org.owner_headers)
    assert (archive.status_code, archive.headers["content-type"]) == (200, "application/zip")
    with zipfile.ZipFile(io.BytesIO(archive.content)) as file:
        person = json.loads(file.read("person.json"))
        assert file.read(f"recordings/{run.id}.wav") == sound
    assert person["phone_number"] == NUMBER
    assert run.id in [row["id"] for row in person["runs"]]
    assert len(person["runs"]) == receipt["counts"]["runs"] == 2
    assert {row["run_id"] for row in person["run_events"]} <= {row["id"] for row in person["runs"]}
    for name in ("campaign_contacts", "do_not_call_entries", "blocked_callers", "refused_calls", "sandbox_calls"):
        assert len(person[name]) == 1, name
    other = await run_of(root, OTHER)
    mentions = [row for row in person["mentions"] if row["table"] == "run_events"]
    assert {row["run_id"] for row in mentions} == {other.id}
    assert "sister" not in json.dumps(person)
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    assert [entry["action"] for entry in log if entry["action"] == "data_archive.read"] == ["data_archive.read"]
    shifted_clock.advance(minutes=8 * 1440)
    await root.jobs.handlers["privacy.sweep_requests"]({})
    assert not list((root.settings.data_dir / "files" / "exports").rglob("*.zip"))
    gone = await client.get(f"{PATH}/{receipt['id']}/archive", headers=org.key_headers)
    assert (gone.status_code, gone.json()["code"]) == (409, "archive_not_ready")


@pytest.mark.slow
async def test_by_the_command_line(
    root: Root, org: OrgFixture, called: Campaign, database_url: str, offhook: Offhook, tmp_path: Any
) -> None:
    output = tmp_path / "person.zip"
    settings = {"OFFHOOK_DATABASE_URL": database_url}
    exported = await asyncio.to_thread(
        offhook.run, "privacy", "export", NUMBER, "--org", str(org.id), "--output", str(output), **settings
    )
    assert exported.returncode == 0, exported.stderr
    assert json.loads(zipfile.ZipFile(output).read("person.json"))["phone_number"] == NUMBER
    erased = await asyncio.to_thread(offhook.run, "privacy", "erase", NUMBER, "--yes", "--org", str(org.id), **settings)
    assert erased.returncode == 0, erased.stderr
    assert json.loads(erased.stdout)["counts"]["runs"] == 1
    assert await find_in_tables(root) == {}
    deletions = await asyncio.to_thread(offhook.run, "privacy", "deletions", **settings)
    assert (deletions.returncode, json.loads(deletions.stdout)) == (0, [])
    wrong = await asyncio.to_thread(offhook.run, "privacy", "erase", "12", "--yes", "--org", str(org.id), **settings)
    assert (wrong.returncode, wrong.stderr.startswith("offhook: ")) == (1, True)
