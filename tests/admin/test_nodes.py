"""The superuser's view of the installation: processes, leases, failed jobs."""

from datetime import UTC, datetime, timedelta

import pytest
from httpx2 import AsyncClient
from sqlalchemy import text

from offhook import jobs
from offhook.nodes.node_beat import NodeBeat, NodeDescription
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
