"""With enforcement on, an empty balance refuses new calls, and nothing else."""

from decimal import Decimal

import pytest
from httpx2 import AsyncClient

from offhook.root import Root
from offhook.usage import credit, ledger
from offhook.usage.errors import OutOfCredit
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun, MakeWorkflow, make_run, make_workflow, workflow_id
from tests.usage.conftest import Record

__all__ = ["make_run", "make_workflow", "workflow_id"]


async def enforce(root: Root, organization_id: int, *, cents: int = 0, included_minutes: int = 0) -> None:
    async with root.db.transaction() as session:
        if cents:
            await ledger.add_credit(session, organization_id, cents)
        await ledger.set_terms(
            session,
            organization_id,
            platform_cents_per_minute=Decimal(1),
            included_minutes=included_minutes,
            is_enforced=True,
        )


async def may_start(root: Root, organization_id: int) -> bool:
    async with root.db.transaction() as session:
        return await credit.can_spend(session, organization_id)


async def test_it_is_off_by_default(root: Root, org: OrgFixture, record: Record) -> None:
    await record(cost_cents=Decimal(500))
    assert await may_start(root, org.id)


async def test_a_balance_lasts_until_it_is_used_up(
    root: Root, org: OrgFixture, other_org: OrgFixture, record: Record
) -> None:
    await enforce(root, org.id, cents=6)
    assert await may_start(root, org.id)
    await record(duration_ms=0, cost_cents=Decimal(5))
    assert await may_start(root, org.id)
    await record(duration_ms=0, cost_cents=Decimal(1))
    assert not await may_start(root, org.id)
    assert await may_start(root, other_org.id)


async def test_included_minutes_need_no_balance(root: Root, org: OrgFixture, record: Record) -> None:
    await enforce(root, org.id, included_minutes=1)
    assert await may_start(root, org.id)
    await record(duration_ms=60_000, cost_cents=Decimal(0))
    assert not await may_start(root, org.id)


async def test_calls_and_chats_are_refused(root: Root, org: OrgFixture, make_run: MakeRun) -> None:
    await enforce(root, org.id)
    with pytest.raises(OutOfCredit):
        await make_run(mode="browser")
    with pytest.raises(OutOfCredit):
        await make_run(mode="textchat")
    async with root.db.transaction() as session:
        await ledger.add_credit(session, org.id, 1)
    assert (await make_run(mode="browser")).id


@pytest.mark.slow
async def test_over_http_it_is_402(
    client: AsyncClient, root: Root, org: OrgFixture, make_workflow: MakeWorkflow
) -> None:
    number = await make_workflow(org.id)
    await enforce(root, org.id)
    call = {"workflow_id": number, "phone_number": "+15550100001"}
    described = (await client.get("/openapi.json")).json()["paths"]
    for path, named, body in (
        ("/telephony/initiate-call", "/telephony/initiate-call", call),
        (f"/workflow/{number}/runs", "/workflow/{workflow_id}/runs", {"mode": "browser"}),
    ):
        response = await client.post(path, json=body, headers=org.key_headers)
        assert (response.status_code, response.json()["code"]) == (402, "out_of_credit")
        assert "402" in described[f"/api/v1{named}"]["post"]["responses"]
    runs = (await client.get(f"/workflow/{number}/runs", headers=org.key_headers)).json()
    assert runs["total_count"] == 0
