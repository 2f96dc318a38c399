"""Deleting one run, and an agent that has runs: who may, and what is left."""

from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import func, select, update

from offhook.root import Root
from offhook.runs import service
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.tables import Run, RunEvent
from offhook.voice.events import CALLER_SAID, VoiceEvent
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun


def url(run: Run) -> str:
    return f"/workflow/{run.workflow_id}/runs/{run.id}"


async def end(root: Root, run: Run) -> None:
    async with root.db.transaction() as session:
        await service.apply_status(session, run.organization_id, run.id, "completed", outcome="answered")


@pytest.fixture
async def talk(root: Root, run: Run) -> Run:
    """A run that is over, with a recording and what its caller said."""
    writer = EventWriter(root.db)
    writer.create_sink(run.id).emit(VoiceEvent(CALLER_SAID, 0.5, {"text": "My number is 7."}))
    await writer.flush()
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    root.storage.path_for(key).write_bytes(b"RIFF")
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(recording_key=key))
    await end(root, run)
    return run


async def stored(root: Root, run: Run) -> tuple[int, int, bool]:
    """How many rows the run and its events have, and whether its recording is there."""
    async with root.db.transaction() as session:
        runs = await session.scalar(select(func.count()).select_from(Run).where(Run.id == run.id))
        events = await session.scalar(select(func.count()).select_from(RunEvent).where(RunEvent.run_id == run.id))
    path = root.storage.path_for(f"recordings/{run.organization_id}/{run.id}.wav")
    return runs or 0, events or 0, path.exists()


async def test_who_may_not(client: AsyncClient, root: Root, talk: Run, org: OrgFixture, other_org: OrgFixture) -> None:
    assert (await client.delete(url(talk))).status_code == 401
    for role in ("viewer", "member"):
        assert (await client.delete(url(talk), headers=org.headers_for(role))).status_code == 403
    answer = await client.delete(url(talk), headers=other_org.owner_headers)
    assert (answer.status_code, answer.json()["code"]) == (404, "run_not_found")
    assert await stored(root, talk) == (1, 2, True)


@pytest.mark.parametrize("path", ["/workflow/{0}/runs/999999", "/workflow/999999/runs/{1}", "/workflow/{0}/runs/x"])
async def test_bad_input(client: AsyncClient, root: Root, talk: Run, org: OrgFixture, path: str) -> None:
    answer = await client.delete(path.format(talk.workflow_id, talk.id), headers=org.owner_headers)
    assert answer.status_code == (422 if path.endswith("x") else 404)
    assert await stored(root, talk) == (1, 2, True)


async def test_a_live_run_stays(client: AsyncClient, run: Run, org: OrgFixture) -> None:
    answer = await client.delete(url(run), headers=org.owner_headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "run_in_progress")


async def test_nothing_is_left_but_the_receipt(
    client: AsyncClient, root: Root, talk: Run, make_run: MakeRun, org: OrgFixture
) -> None:
    kept = await make_run()
    await end(root, kept)
    answer = await client.delete(url(talk), headers=org.headers_for("admin"))
    assert answer.status_code == 200, answer.text
    receipt: dict[str, Any] = answer.json()
    assert receipt | {"deleted_at": ""} == {
        "workflow_run_id": talk.id, "events": 2, "has_recording": True, "deleted_at": "",
    }  # fmt: skip
    assert await stored(root, talk) == (0, 0, False)
    assert (await client.get(url(talk), headers=org.owner_headers)).status_code == 404
    assert (await client.delete(url(talk), headers=org.owner_headers)).status_code == 404
    assert (await stored(root, kept))[0] == 1
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    (entry,) = [entry for entry in log if entry["action"] == "run.deleted"]
    assert (entry["target"], entry["actor_email"]) == (f"run:{talk.id}", org.email("admin"))
    assert entry["data"] == {"workflow_id": talk.workflow_id, "events": 2, "has_recording": True}


async def test_an_agent_with_runs_takes_an_admin(
    client: AsyncClient, root: Root, talk: Run, org: OrgFixture, workflow_id: int
) -> None:
    answer = await client.delete(f"/workflow/{workflow_id}", headers=org.headers_for("member"))
    assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
    assert await stored(root, talk) == (1, 2, True)
    assert (await client.delete(url(talk), headers=org.owner_headers)).status_code == 200
    assert (await client.delete(f"/workflow/{workflow_id}", headers=org.headers_for("member"))).status_code == 200


async def test_an_admin_deletes_an_agent_with_its_runs(
    client: AsyncClient, talk: Run, org: OrgFixture, workflow_id: int
) -> None:
    assert (await client.delete(f"/workflow/{workflow_id}", headers=org.headers_for("admin"))).status_code == 200
