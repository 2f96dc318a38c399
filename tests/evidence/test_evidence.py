"""The evidence of a call: what is known about it in one file, and in so many words what is not."""

import asyncio
import hashlib
import json
from datetime import UTC, datetime
from typing import Any

import pytest
from httpx2 import AsyncClient, Response
from sqlalchemy import select, update

from offhook.campaigns import CampaignService
from offhook.campaigns.rules.hours import WEEKDAYS
from offhook.evidence.schemas import compute_digest
from offhook.root import Root
from offhook.runs import RunServices, service
from offhook.runs.finishing.do_not_call_event import DO_NOT_CALL_REQUESTED
from offhook.runs.recording_files.wav import wav_header
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.tables import Run
from offhook.voice.events import (
    AGENT_SAID,
    DISCLOSURE_MISSED,
    DISCLOSURE_PLAYED,
    RECORDING_DISCARDED,
    RECORDING_STARTED,
)
from tests.campaigns.conftest import MakeCampaign, instant_sandbox
from tests.campaigns.test_engine import until_over
from tests.commands.conftest import Offhook
from tests.fixtures_orgs import OrgFixture
from tests.telephony.fakecom import OURS, THEIRS, Account

ALL_WEEK = {
    "timezone": "America/New_York",
    "in_callee_zone": True,
    "slots": [{"day": day, "start": "00:00", "end": "00:00"} for day in WEEKDAYS],
}


async def ask(client: AsyncClient, run: Run, headers: dict[str, str]) -> Response:
    return await client.get(f"/workflow/{run.workflow_id}/runs/{run.id}/evidence", headers=headers)


async def collect(client: AsyncClient, org: OrgFixture, run: Run) -> dict[str, Any]:
    answer = await ask(client, run, org.owner_headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-disposition"] == f'attachment; filename="run_{run.id}_evidence.json"'
    file: dict[str, Any] = answer.json()
    return file


async def finish(root: Root, org: OrgFixture, run_id: int, **values: Any) -> Run:
    """The carrier reports the end of the call; ``values`` are set besides."""
    async with root.db.transaction() as session:
        await service.apply_status(session, org.id, run_id, "in_progress")
        await service.apply_status(session, org.id, run_id, "completed")
        if values:
            await session.execute(update(Run).where(Run.id == run_id).values(**values))
        return await service.get_run(session, org.id, run_id)


async def say(root: Root, run_id: int, kind: str, **data: object) -> None:
    async with root.db.transaction() as session:
        said = NewEvent(run_id, kind, 1500, encode_event_data(data), datetime.now(UTC))
        await event_queries.append_events(session, [said])


async def test_a_call_of_a_campaign(
    client: AsyncClient, root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    await instant_sandbox(root, org.id)
    campaign = await make_campaign(contacts=["+14152000000"], calling_hours=ALL_WEEK)
    await campaigns.start(org.id, campaign.id)
    await until_over(root, campaign)
    async with root.db.transaction() as session:
        run = (await session.scalars(select(Run))).one()
    file = await collect(client, org, run)
    placement = file["placement"]
    assert (placement["placed_by"], placement["do_not_call"], placement["destination"]) == (
        "campaign",
        "not_listed",
        "allowed",
    )
    assert placement["calling_window"] == {
        "is_open": True,
        "schedule_zone": "America/New_York",
        "in_callee_zone": True,
        "callee_zones": ["America/Los_Angeles"],
        "closes_at": placement["calling_window"]["closes_at"],
    }
    assert file["campaign"]["id"] == campaign.id
    assert (file["campaign"]["contact_row"], file["campaign"]["contact_variables"]) == (1, {"name": "Person 1"})
    assert file["campaign"]["dial"] == 1
    assert file["carrier"]["provider"] == "sandbox"
    assert file["carrier"]["statuses"]
    assert set(file["not_recorded"]) >= {"consent", "disclosure"}
    assert "campaign" not in file["not_recorded"]


async def test_a_call_over_the_api(account: Account) -> None:
    root, org, client = account.root, account.org, account.client
    body = {"workflow_id": account.workflow_id, "phone_number": THEIRS, "telephony_configuration_id": account.id}
    dialed = await client.post("/telephony/initiate-call", json=body, headers=org.key_headers)
    run_id = dialed.json()["workflow_run_id"]
    await say(root, run_id, AGENT_SAID, text="Hello, this call is recorded.", start_s=0.4, end_s=2.0, interrupted=False)
    await say(root, run_id, DO_NOT_CALL_REQUESTED, text="Do not call me again.")
    sound = wav_header(8000, 2, 32_000) + bytes(32_000)
    path = root.get(RunServices).storage.path_for("recordings/evidence.wav")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sound)
    async with root.db.transaction() as session:
        await service.put_on_do_not_call_list(session, await service.get_run(session, org.id, run_id))
    bill = {"billed_s": "60", "cost": "0.014", "currency": "USD"}
    run = await finish(root, org, run_id, recording_key="recordings/evidence.wav", carrier_bill=bill)
    await root.jobs.handlers["audit.seal"]({})
    file = await collect(client, org, run)
    assert (file["placement"]["placed_by"], file["placement"]["api_key_id"]) == ("request", org.key_id)
    assert file["placement"]["user_id"] is None
    assert "single call" in file["not_recorded"]["placement.calling_window"]
    assert file["first_words"]["text"] == "Hello, this call is recorded."
    assert [request["text"] for request in file["opt_out"]["requests"]] == ["Do not call me again."]
    assert [listed["phone_number"] for listed in file["opt_out"]["listed"]] == [THEIRS]
    assert file["recording"] == {
        "sha256": hashlib.sha256(sound).hexdigest(),
        "size_bytes": 32_044,
        "duration_seconds": 1.0,
    }
    assert [report["data"]["status"] for report in file["carrier"]["statuses"]] == ["in_progress", "completed"]
    assert (file["carrier"]["call_id"], file["carrier"]["bill"]) == (run.call_id, bill)
    assert [(entry["action"], entry["position"] is not None) for entry in file["audit_entries"]] == [
        ("do_not_call.added", True)
    ]
    digest = file.pop("sha256")
    assert digest == compute_digest(json.loads(json.dumps(file)))
    assert digest != compute_digest(file | {"made_at": "2026-01-01T00:00:00Z"})


async def test_a_disclosure_that_was_heard(account: Account) -> None:
    root, org = account.root, account.org
    run = await account.run(await account.dial())
    await say(root, run.id, AGENT_SAID, text="This call is recorded.", start_s=0.4, end_s=1.4)
    await say(root, run.id, DISCLOSURE_PLAYED, start_s=0.4, end_s=1.4, proof="mark")
    await say(root, run.id, RECORDING_STARTED, because="disclosure_played")
    await say(root, run.id, RECORDING_DISCARDED)
    run = await finish(root, org, run.id)
    file = await collect(account.client, org, run)
    assert file["disclosure"] == {
        "text": "This call is recorded.",
        "start_s": 0.4,
        "end_s": 1.4,
        "proof": "mark",
        "recording_began_s": 1.5,
    }
    assert file["consent"] == {"basis": "stayed_after_disclosure", "stayed_s": 0.1, "objected_s": 1.5}
    assert not {"disclosure", "consent"} & set(file["not_recorded"])


async def test_a_disclosure_that_was_not_heard(account: Account) -> None:
    run = await account.run(await account.dial())
    await say(account.root, run.id, DISCLOSURE_MISSED, reason="not_confirmed")
    file = await collect(account.client, account.org, await finish(account.root, account.org, run.id))
    assert (file["disclosure"], file["consent"]) == (None, None)
    assert "did not report" in file["not_recorded"]["disclosure"]


async def test_a_call_by_a_trigger_names_it(account: Account) -> None:
    body = {"phone_number": THEIRS, "telephony_configuration_id": account.id}
    answer = await account.client.post("/public/agent/front-desk", json=body, headers=account.org.key_headers)
    assert answer.status_code == 200, answer.text
    run = await finish(account.root, account.org, answer.json()["workflow_run_id"])
    placement = (await collect(account.client, account.org, run))["placement"]
    assert (placement["placed_by"], placement["trigger"]) == ("trigger", "front-desk")
    assert placement["api_key_id"] == account.org.key_id


async def test_a_call_from_outside(account: Account) -> None:
    await account.calls_in("IN1")
    (listed,) = await account.runs()
    run = await finish(account.root, account.org, listed["id"])
    file = await collect(account.client, account.org, run)
    assert (file["run"]["direction"], file["run"]["caller_number"], file["run"]["called_number"]) == (
        "inbound",
        THEIRS,
        OURS,
    )
    assert (file["placement"], file["campaign"], file["recording"], file["carrier"]["bill"]) == (None,) * 4
    assert file["opt_out"] == {"requests": [], "listed": []}
    assert "did not place" in file["not_recorded"]["placement"]
    assert file["not_recorded"]["recording"] == "The run was not recorded."
    assert set(file["not_recorded"]) == {
        "consent",
        "disclosure",
        "placement",
        "campaign",
        "recording",
        "first_words",
        "carrier.bill",
    }


async def test_who_may_and_who_did(account: Account, other_org: OrgFixture) -> None:
    client, org = account.client, account.org
    run = await account.run(await account.dial())
    live = await ask(client, run, org.owner_headers)
    assert (live.status_code, live.json()["code"]) == (409, "run_in_progress")
    run = await finish(account.root, org, run.id)
    assert (await ask(client, run, {})).status_code == 401
    assert (await ask(client, run, other_org.owner_headers)).status_code == 404
    for role in ("viewer", "member"):
        assert (await ask(client, run, org.headers_for(role))).status_code == 403
    for path in ("/workflow/1/runs/x/evidence", f"/workflow/{run.workflow_id}/runs/0/evidence"):
        assert (await client.get(path, headers=org.owner_headers)).status_code in {404, 422}
    assert (await ask(client, run, org.owner_headers)).status_code == 200
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    assert [entry["target"] for entry in log if entry["action"] == "run_evidence.exported"] == [f"run:{run.id}"]


@pytest.mark.slow
async def test_by_the_command_line(account: Account, database_url: str, offhook: Offhook) -> None:
    run = await finish(account.root, account.org, await account.dial())
    done = await asyncio.to_thread(offhook.run, "evidence", str(run.id), OFFHOOK_DATABASE_URL=database_url)
    assert done.returncode == 0, done.stderr
    file = json.loads(done.stdout)
    digest = file.pop("sha256")
    assert (file["run"]["id"], digest) == (run.id, compute_digest(file))
    again = await collect(account.client, account.org, run)
    assert [entry["action"] for entry in again["audit_entries"]] == ["run_evidence.exported"]
    unknown = await asyncio.to_thread(offhook.run, "evidence", "999999", OFFHOOK_DATABASE_URL=database_url)
    assert (unknown.returncode, unknown.stderr.startswith("offhook: ")) == (1, True)
