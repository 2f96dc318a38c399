"""The superuser's view of the installation: processes, leases, failed jobs."""

from datetime import UTC, datetime, timedelta

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text

from offhook import jobs
from offhook.nodes import superuser_queries as spools
from offhook.nodes.node_beat import NodeBeat, NodeDescription
from offhook.nodes.superuser_queries import WaitingRecordings
from offhook.orgs import service
from offhook.root import Root
from offhook.runs import service as runs
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import make_account, sign_in
from tests.runs.conftest import MakeWorkflow, make_workflow

__all__ = ["make_workflow"]

ROUTES = [
    ("GET", "/superuser/nodes"),
    ("GET", "/superuser/failed-jobs"),
    ("POST", "/superuser/failed-jobs/1/retry"),
    ("POST", "/superuser/failed-jobs/retry"),
    ("DELETE", "/superuser/recording-spools/abc"),
]


@pytest.fixture
async def boss(root: Root, client: AsyncClient) -> dict[str, str]:
    await make_account(root, "boss@hq.example", organization_name="HQ")
    async with root.db.transaction() as session:
        await service.grant_superuser(session, "boss@hq.example")
    return await sign_in(client, "boss@hq.example")


@pytest.mark.parametrize(("method", "path"), ROUTES)
async def test_superusers_only(client: AsyncClient, org: OrgFixture, method: str, path: str) -> None:
    assert (await client.request(method, path)).status_code == 401
    for headers in (org.owner_headers, org.key_headers):
        answer = await client.request(method, path, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "superuser_required")


async def test_nodes_with_their_leases(
    client: AsyncClient, root: Root, boss: dict[str, str], org: OrgFixture, make_workflow: MakeWorkflow
) -> None:
    await NodeBeat(
        root, NodeDescription("serve", address="http://10.0.0.1:1", call_limit=7), count_live=lambda: 2
    ).beat()
    workflow_id = await make_workflow(org.id)
    now = datetime.now(UTC)
    async with root.db.transaction() as session:
        for worker, until in (
            (root.node_id, now + timedelta(hours=1)),
            (root.node_id, now - timedelta(hours=1)),
            ("gone", now),
        ):
            run = await runs.create_run(
                session, organization_id=org.id, workflow_id=workflow_id, mode="browser", direction="inbound",
                use_draft=False,
            )  # fmt: skip
            run.worker_id, run.lease_until = worker, until
        await jobs.enqueue(session, "document.read", {})
    shown = (await client.get("/superuser/nodes", headers=boss)).json()
    (node,) = shown["nodes"]
    assert {name: node[name] for name in ("id", "state", "call_limit", "live_calls", "leases", "expired_leases")} == {
        "id": root.node_id, "state": "up", "call_limit": 7, "live_calls": 2, "leases": 2, "expired_leases": 1,
    }  # fmt: skip
    assert (shown["orphaned_leases"], shown["queued_jobs"]) == (1, 1)


async def test_failed_jobs_are_shown_and_started_again(client: AsyncClient, root: Root, boss: dict[str, str]) -> None:
    async with root.db.transaction() as session:
        made = [await jobs.enqueue(session, "document.read", {"n": n}, delay_s=86_400) for n in range(3)]
        await session.execute(text("UPDATE pgqueuer SET status = 'failed' WHERE id = ANY(:ids)"), {"ids": made})
    shown = (await client.get("/superuser/failed-jobs", headers=boss)).json()["jobs"]
    assert [job["id"] for job in shown] == made[::-1]
    unknown = await client.post("/superuser/failed-jobs/999999/retry", headers=boss)
    assert (unknown.status_code, unknown.json()["code"]) == (404, "failed_job_not_found")
    assert (await client.post("/superuser/failed-jobs/nonsense/retry", headers=boss)).status_code == 422
    assert (await client.get("/superuser/failed-jobs?limit=0", headers=boss)).status_code == 422
    one = await client.post(f"/superuser/failed-jobs/{made[0]}/retry", headers=boss)
    assert one.json() == {"started": 1}
    assert (await client.post("/superuser/failed-jobs/retry", headers=boss)).json() == {"started": 2}
    assert (await client.get("/superuser/failed-jobs", headers=boss)).json()["jobs"] == []


async def test_recordings_that_wait_are_shown_and_those_of_a_machine_that_is_gone_are_removed(
    client: AsyncClient, root: Root, boss: dict[str, str]
) -> None:
    await NodeBeat(root, NodeDescription("serve")).beat()
    at = datetime(2026, 11, 20, 12, tzinfo=UTC)
    waiting = WaitingRecordings(3, 4_000_000, at, "The bucket does not exist.", at)
    async with root.db.transaction() as session:
        await spools.write_spool(session, "tried", node_id=root.node_id, place="a:/data", waiting=waiting)
        gone = WaitingRecordings(1, 7, at - timedelta(days=1), None, None)
        await spools.write_spool(session, "gone", node_id="n-gone", place="b:/data", waiting=gone)
    first, second = (await client.get("/superuser/nodes", headers=boss)).json()["waiting_recordings"]
    assert (first["id"], first["is_tried"], first["files"], first["error"]) == ("gone", False, 1, None)
    assert {name: second[name] for name in ("id", "is_tried", "files", "bytes", "oldest_at", "error", "place")} == {
        "id": "tried", "is_tried": True, "files": 3, "bytes": 4_000_000, "oldest_at": "2026-11-20T12:00:00Z",
        "error": "The bucket does not exist.", "place": "a:/data",
    }  # fmt: skip
    in_use = await client.delete("/superuser/recording-spools/tried", headers=boss)
    assert (in_use.status_code, in_use.json()["code"]) == (409, "recording_spool_in_use")
    removed = await client.delete("/superuser/recording-spools/gone", headers=boss)
    assert (removed.status_code, removed.json()) == (200, {"removed": 1})
    again = await client.delete("/superuser/recording-spools/gone", headers=boss)
    assert (again.status_code, again.json()["code"]) == (404, "recording_spool_not_found")
    (left,) = (await client.get("/superuser/nodes", headers=boss)).json()["waiting_recordings"]
    assert left["id"] == "tried"
