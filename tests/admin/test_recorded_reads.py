"""Who read what was said on a call, who took an export, and what superusers looked at: the audit log has it."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import update

from offhook.orgs import service
from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs.artifacts.links import RunLinks
from offhook.runs.tables import Run
from tests.campaigns.conftest import MakeCampaign, desk, make_campaign
from tests.campaigns.desk import Desk
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.clock import ShiftedClock
from tests.fakes.scripted import says
from tests.fixtures_orgs import OrgFixture, borrow_session
from tests.runs.conftest import make_run, make_workflow, run, workflow_id

__all__ = ["desk", "make_campaign", "make_run", "make_workflow", "run", "workflow_id"]

Log = Callable[..., Awaitable[list[dict[str, Any]]]]


@pytest.fixture
def log(client: AsyncClient, org: OrgFixture) -> Log:
    """The entries of an organization's log, oldest first."""

    async def load(of: OrgFixture = org) -> list[dict[str, Any]]:
        answer = await client.get("/organizations/audit-log", headers=of.owner_headers)
        entries: list[dict[str, Any]] = answer.json()["entries"]
        return entries[::-1]

    return load


@pytest.fixture
def paths(run: Run) -> dict[str, str]:
    base = f"/workflow/{run.workflow_id}/runs/{run.id}"
    return {"run.read": base, "transcript.read": f"{base}/transcript", "run_events.read": f"{base}/events"}


async def test_reads_of_a_call_have_their_reader(
    client: AsyncClient, org: OrgFixture, run: Run, paths: dict[str, str], log: Log
) -> None:
    for action in ("run.read", "transcript.read"):
        assert (await client.get(paths[action], headers=org.headers_for("viewer"))).status_code == 200
    entries = await log()
    assert [(entry["action"], entry["target"]) for entry in entries] == [
        ("run.read", f"run:{run.id}"),
        ("transcript.read", f"run:{run.id}"),
    ]
    assert {entry["actor_email"] for entry in entries} == {org.email("viewer")}
    assert {entry["ip"] for entry in entries} == {"127.0.0.1"}


async def test_the_same_read_has_one_entry_in_ten_minutes(
    client: AsyncClient, org: OrgFixture, paths: dict[str, str], log: Log, shifted_clock: ShiftedClock
) -> None:
    for headers in (org.key_headers, org.key_headers, org.owner_headers):
        await client.get(paths["transcript.read"], headers=headers)
    assert [entry["actor_key_id"] for entry in await log()] == [org.key_id, None]
    shifted_clock.advance(minutes=11)
    await client.get(paths["transcript.read"], headers=org.key_headers)
    assert [entry["actor_key_id"] for entry in await log()] == [org.key_id, None, org.key_id]


async def test_what_was_refused_was_not_read(
    client: AsyncClient, org: OrgFixture, other_org: OrgFixture, paths: dict[str, str], log: Log
) -> None:
    for path in paths.values():
        assert (await client.get(path)).status_code == 401
        assert (await client.get(path, headers=other_org.owner_headers)).status_code == 404
        assert (await client.get(f"{path}9999", headers=org.owner_headers)).status_code == 404
    assert await log() == []
    assert await log(other_org) == []


@pytest.mark.slow
async def test_the_holder_of_a_link_leaves_an_address(
    client: AsyncClient, root: Root, org: OrgFixture, run: Run, paths: dict[str, str], log: Log
) -> None:
    services = root.get(RunServices)
    links = RunLinks("http://testserver", services.keyring, services.clock)
    path = links.sign_artifact_link("transcript", run.workflow_id, run.id).partition("/api/v1")[2]
    assert (await client.get(path)).status_code == 200
    assert (await client.get(f"{paths['transcript.read']}?link=forged")).status_code == 401
    (entry,) = await log()
    assert (entry["action"], entry["target"]) == ("transcript.read", f"run:{run.id}")
    assert (entry["actor_user_id"], entry["ip"], entry["data"]) == (None, "127.0.0.1", {"by": "signed_link"})


async def test_a_read_that_failed_is_not_remembered(
    client: AsyncClient, root: Root, org: OrgFixture, run: Run, log: Log
) -> None:
    services = root.get(RunServices)
    links = RunLinks("http://testserver", services.keyring, services.clock)
    path = links.sign_artifact_link("recording", run.workflow_id, run.id).partition("/api/v1")[2]
    assert (await client.get(path)).status_code == 404
    assert await log() == []
    key = f"recordings/{org.id}/{run.id}.wav"
    root.storage.path_for(key).write_bytes(b"RIFF")
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(recording_key=key))
    assert (await client.get(path)).status_code == 200
    assert [entry["action"] for entry in await log()] == ["recording.read"]


async def test_a_contact_file_has_who_asked_for_its_link_and_who_followed_it(desk: Desk, log: Log) -> None:
    campaign = await desk.made()
    link = (await desk.get(f"/{campaign['id']}/source-download-url"))["download_url"]
    assert (await desk.client.get(link)).status_code == 200
    entries = [entry for entry in await log() if entry["action"] == "contact_file.read"]
    assert [(entry["target"], entry["data"]) for entry in entries] == [
        (f"campaign:{campaign['id']}", {"path": f"/api/v1/campaign/{campaign['id']}/source-download-url"}),
        ("contact_file:contacts.csv", {"by": "signed_link"}),
    ]


async def test_a_text_chat_has_its_reader(
    client: AsyncClient, root: Root, org: OrgFixture, workflow_id: int, log: Log
) -> None:
    use_fakes(root, FixedModels([says("We are open until six.")]))
    base = f"/workflow/{workflow_id}/text-chat/sessions"
    chat = (await client.post(base, json={}, headers=org.owner_headers)).json()
    assert (await client.get(f"{base}/{chat['id']}", headers=org.headers_for("viewer"))).status_code == 200
    entries = [entry for entry in await log() if entry["action"] == "text_chat.read"]
    assert [(entry["target"], entry["actor_email"]) for entry in entries] == [
        (f"run:{chat['id']}", org.email("viewer"))
    ]


async def test_a_search_in_transcripts_has_its_reader_and_not_its_words(
    client: AsyncClient, org: OrgFixture, log: Log
) -> None:
    path = "/organizations/usage/runs"
    for params in ({}, {"search": ""}, {"search": "marzipan"}, {"search": "quillon"}):
        assert (await client.get(path, params=params, headers=org.headers_for("viewer"))).status_code == 200
    (entry,) = await log()
    assert (entry["action"], entry["actor_email"]) == ("transcripts.searched", org.email("viewer"))
    assert entry["data"] == {"path": f"/api/v1{path}"}


async def test_exports_have_their_reader(
    client: AsyncClient, org: OrgFixture, run: Run, make_campaign: MakeCampaign, log: Log
) -> None:
    campaign = await make_campaign(contacts=1)
    for path in (
        f"/workflow/{run.workflow_id}/report",
        "/organizations/usage/runs/report",
        f"/campaign/{campaign.id}/report",
    ):
        assert (await client.get(path, headers=org.key_headers)).status_code == 200
    assert [(entry["action"], entry["target"]) for entry in await log()] == [
        ("workflow_report.exported", f"workflow:{run.workflow_id}"),
        ("usage_report.exported", None),
        ("campaign_report.exported", f"campaign:{campaign.id}"),
    ]


async def test_superusers_leave_what_they_looked_for(
    client: AsyncClient, root: Root, other_org: OrgFixture, log: Log
) -> None:
    async with root.db.transaction() as session:
        await service.grant_superuser(session, other_org.email("owner"))
    for query in ("?page=1", "?page=2"):
        answer = await client.get(f"/superuser/workflow-runs{query}", headers=other_org.owner_headers)
        assert answer.status_code == 200
    entries = [entry for entry in await log(other_org) if entry["action"] == "superuser.read"]
    assert [entry["data"]["query"] for entry in entries] == ["page=1", "page=2"]
    assert {entry["data"]["path"] for entry in entries} == {"/api/v1/superuser/workflow-runs"}


async def test_a_borrowed_session_leaves_everything_it_reads(
    client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, paths: dict[str, str], log: Log
) -> None:
    async with root.db.transaction() as session:
        await service.grant_superuser(session, other_org.email("owner"))
    borrowed = await borrow_session(root, org, other_org.user_ids["owner"])
    for path in (paths["run.read"], "/workflow/fetch", "/organizations/telephony-configs"):
        assert (await client.get(path, headers=borrowed)).status_code == 200
    entries = [entry for entry in await log() if entry["impersonator_id"] == other_org.user_ids["owner"]]
    assert [entry["action"] for entry in entries] == ["run.read", "support.read", "support.read"]
    assert entries[1]["data"] == {"path": "/api/v1/workflow/fetch"}
