"""The superuser's endpoints: for superusers only, across organizations, and in other people's names under both."""

import json
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import func, text, update

from offhook.campaigns.tables import Campaign
from offhook.orgs import service
from offhook.orgs.services import OrganizationServices
from offhook.orgs.sign_in.authentication import Authenticator
from offhook.root import Root
from offhook.runs import service as runs
from offhook.runs.tables import Run
from offhook.usage import queries
from offhook.workflows.tables import Workflow
from tests.fakes.clock import SetClock
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import make_account, sign_in
from tests.runs.conftest import MakeWorkflow, make_workflow

__all__ = ["make_workflow"]

Headers = dict[str, str]
ROUTES = [
    ("GET", "/superuser/organizations", None),
    ("GET", "/superuser/workflows", None),
    ("GET", "/superuser/campaigns", None),
    ("GET", "/superuser/workflow-runs", None),
    ("POST", "/superuser/impersonate", {"user_id": 1}),
]


@pytest.fixture
async def boss(root: Root, client: AsyncClient) -> Headers:
    """A superuser with an organization of his own."""
    await make_account(root, "boss@hq.example", organization_name="HQ")
    async with root.db.transaction() as session:
        await service.grant_superuser(session, "boss@hq.example")
    return await sign_in(client, "boss@hq.example")


@pytest.fixture
async def two(root: Root, org: OrgFixture, other_org: OrgFixture, make_workflow: MakeWorkflow) -> tuple[int, int]:
    """A workflow in each of two organizations; the first one has two runs, the second one one."""
    ids = (await make_workflow(org.id, name="Mine"), await make_workflow(other_org.id, name="Theirs"))
    for organization_id, workflow_id, durations in ((org.id, ids[0], (5, 60)), (other_org.id, ids[1], (30,))):
        for duration in durations:
            async with root.db.transaction() as session:
                run = await runs.create_run(
                    session,
                    organization_id=organization_id,
                    workflow_id=workflow_id,
                    mode="twilio",
                    direction="outbound",
                    use_draft=False,
                )
                await session.execute(update(Run).where(Run.id == run.id).values(duration=duration))
    return ids


@pytest.mark.parametrize(("method", "path", "body"), ROUTES)
async def test_superusers_only(
    client: AsyncClient, org: OrgFixture, method: str, path: str, body: dict[str, Any] | None
) -> None:
    assert (await client.request(method, path, json=body)).status_code == 401
    for headers in (org.owner_headers, org.headers_for("viewer"), org.key_headers):
        answer = await client.request(method, path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "superuser_required")


async def test_a_key_of_a_superusers_organization_is_none(client: AsyncClient, boss: Headers) -> None:
    key = (await client.post("/organizations/api-keys", json={"name": "x"}, headers=boss)).json()["key"]
    answer = await client.get("/superuser/organizations", headers={"X-API-Key": key})
    assert answer.status_code == 403


class TestOrganizations:
    async def test_valid(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, two: Any, boss: Headers
    ) -> None:
        caller_id = (await client.get("/auth/me", headers=boss)).json()["id"]
        body = {"cents": 1250, "note": "hello"}
        await client.post(f"/superuser/organizations/{org.id}/credits", json=body, headers=boss)
        answer = await client.get("/superuser/organizations", headers=boss)
        assert (answer.status_code, answer.headers["X-Total-Count"]) == (200, "3")
        found = {item.pop("name"): item for item in answer.json()}
        assert set(found["Acme"]) == {
            "id", "created_at", "member_count", "workflow_count", "run_count", "balance_cents",
        }  # fmt: skip
        mine = found[org.name]
        assert (mine["id"], mine["member_count"], mine["workflow_count"], mine["run_count"]) == (org.id, 4, 1, 2)
        assert mine["balance_cents"] == 1250
        assert (found["HQ"]["member_count"], found["HQ"]["run_count"]) == (1, 0)
        assert caller_id is not None
        async with root.db.transaction() as session:
            assert await queries.load_balances(session, [other_org.id]) == {}

    async def test_part(self, client: AsyncClient, two: Any, boss: Headers) -> None:
        answer = await client.get("/superuser/organizations?limit=1&offset=1", headers=boss)
        assert (len(answer.json()), answer.headers["X-Total-Count"]) == (1, "3")


class TestWorkflows:
    async def test_of_all_and_of_one(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, two: Any, boss: Headers
    ) -> None:
        everything = (await client.get("/superuser/workflows", headers=boss)).json()
        assert [(w["name"], w["organization_name"], w["total_runs"]) for w in everything] == [
            ("Theirs", other_org.name, 1),
            ("Mine", org.name, 2),
        ]
        one = (await client.get(f"/superuser/workflows?organization_id={org.id}", headers=boss)).json()
        assert [w["name"] for w in one] == ["Mine"]
        assert (await client.get("/superuser/workflows?status=archived", headers=boss)).json() == []
        both = await client.get("/superuser/workflows?status=active,archived", headers=boss)
        assert len(both.json()) == 2

    async def test_a_deleted_one_is_gone_while_its_history_is_removed(
        self, client: AsyncClient, root: Root, org: OrgFixture, two: Any, boss: Headers
    ) -> None:
        async with root.db.transaction() as session:
            session.add(Workflow(organization_id=org.id, name="Gone", status="deleted"))
        everything = await client.get("/superuser/workflows", headers=boss)
        assert ([w["name"] for w in everything.json()], everything.headers["X-Total-Count"]) == (
            ["Theirs", "Mine"],
            "2",
        )
        found = (await client.get("/superuser/organizations", headers=boss)).json()
        assert [item["workflow_count"] for item in found if item["id"] == org.id] == [1]

    @pytest.mark.parametrize(
        "query", ["organization_id=0", "organization_id=x", "status=asleep", "limit=0", "offset=-1"]
    )
    async def test_bad_input(self, client: AsyncClient, boss: Headers, query: str) -> None:
        assert (await client.get(f"/superuser/workflows?{query}", headers=boss)).status_code == 422


class TestCampaigns:
    async def test_of_all_and_of_one(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, two: Any, boss: Headers
    ) -> None:
        async with root.db.transaction() as session:
            for mine, workflow_id, name in ((org, two[0], "Spring"), (other_org, two[1], "Autumn")):
                session.add(Campaign(organization_id=mine.id, workflow_id=workflow_id, name=name, max_concurrency=2))
                await session.flush()
        everything = await client.get("/superuser/campaigns", headers=boss)
        shown = [(c["name"], c["status"], c["organization_name"], c["workflow_name"]) for c in everything.json()]
        assert shown == [("Autumn", "draft", other_org.name, "Theirs"), ("Spring", "draft", org.name, "Mine")]
        one = await client.get(f"/superuser/campaigns?organization_id={org.id}", headers=boss)
        assert ([c["name"] for c in one.json()], one.headers["X-Total-Count"]) == (["Spring"], "1")

    @pytest.mark.parametrize("query", ["organization_id=0", "organization_id=x", "limit=0", "offset=-1"])
    async def test_bad_input(self, client: AsyncClient, boss: Headers, query: str) -> None:
        assert (await client.get(f"/superuser/campaigns?{query}", headers=boss)).status_code == 422


class TestRuns:
    async def test_pages(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, two: Any, boss: Headers
    ) -> None:
        body = (await client.get("/superuser/workflow-runs", headers=boss)).json()
        assert (body["total_count"], body["page"], body["limit"], body["total_pages"]) == (3, 1, 50, 1)
        assert [run["organization_name"] for run in body["runs"]] == [other_org.name, org.name, org.name]
        assert [run["workflow_name"] for run in body["runs"]] == ["Theirs", "Mine", "Mine"]
        assert body["workflow_runs"] == body["runs"]
        second = (await client.get("/superuser/workflow-runs?page=2&limit=2", headers=boss)).json()
        assert (len(second["runs"]), second["total_pages"]) == (1, 2)

    async def test_sorted(self, client: AsyncClient, two: Any, boss: Headers) -> None:
        for order, durations in (("desc", [60, 30, 5]), ("asc", [5, 30, 60])):
            query = f"sort_by=duration&sort_order={order}"
            body = (await client.get(f"/superuser/workflow-runs?{query}", headers=boss)).json()
            assert [run["duration"] for run in body["runs"]] == durations

    async def test_filtered(self, client: AsyncClient, org: OrgFixture, two: Any, boss: Headers) -> None:
        filters = [{"field": "organization_id", "type": "number", "value": org.id}]
        filters.append({"attribute": "duration", "type": "number", "value": {"min": 10}})
        answer = await client.get("/superuser/workflow-runs", params={"filters": json.dumps(filters)}, headers=boss)
        assert [run["duration"] for run in answer.json()["runs"]] == [60]

    @pytest.mark.slow
    async def test_filters_look_at_the_newest_runs_of_all_and_say_so(
        self, client: AsyncClient, root: Root, two: Any, boss: Headers
    ) -> None:
        async def found(field: str, value: str) -> tuple[int, str | None]:
            filters = json.dumps([{"field": field, "type": "text", "value": value}])
            answer = await client.get("/superuser/workflow-runs", params={"filters": filters}, headers=boss)
            return answer.json()["total_count"], answer.headers.get("X-Filter-Window")

        async with root.db.transaction() as session:
            await session.execute(update(Run).values(call_id=func.concat("CAmine", Run.id)))
        assert await found("call_id", "aMIN") == (3, None)
        assert await found("call_id", "_") == (0, None)
        columns = "organization_id, workflow_id, version_id, version_number, name, mode, direction"
        copies = f"INSERT INTO runs (id, {columns}) SELECT 1000 + n, {columns} FROM generate_series(1, 25000) n, runs WHERE runs.id = 1"
        async with root.db.transaction() as session:
            await session.execute(text(copies))
        assert await found("call_id", "aMIN") == (0, "25000")
        assert await found("mode", "wil") == (25000, "25000")

    async def test_filtered_by_values_page_by_page(
        self, client: AsyncClient, root: Root, two: Any, boss: Headers
    ) -> None:
        async with root.db.transaction() as session:
            await session.execute(update(Run).where(Run.duration > 5).values(initial_context={"plan": "gold"}))
        gold = [{"field": "context.plan", "type": "select", "value": "gold"}]

        async def ask(filters: list[dict[str, Any]], **query: Any) -> tuple[list[float], int]:
            asked = {"filters": json.dumps(filters), "sort_by": "duration", **query}
            body = (await client.get("/superuser/workflow-runs", params=asked, headers=boss)).json()
            return [run["duration"] for run in body["runs"]], body["total_count"]

        assert await ask(gold) == ([60, 30], 2)
        assert await ask(gold, sort_order="asc", limit=1) == ([30], 2)
        assert await ask(gold, limit=1, page=2) == ([30], 2)
        assert await ask(gold, page=2) == ([], 2)
        assert await ask([*gold, {"field": "duration", "type": "number", "value": {"max": 40}}]) == ([30], 1)
        assert await ask([gold[0] | {"value": "tin"}]) == ([], 0)

    @pytest.mark.parametrize(
        "query",
        [
            "page=0", "page=-1", "limit=0", "limit=101", "limit=x", "sort_by=secret", "sort_order=up",
            "filters={}", "filters=[1]", 'filters=[{"field":"nothing","type":"text","value":"x"}]',
        ],
    )  # fmt: skip
    async def test_bad_input(self, client: AsyncClient, boss: Headers, query: str) -> None:
        assert (await client.get(f"/superuser/workflow-runs?{query}", headers=boss)).status_code == 422

    @pytest.mark.parametrize("query", ["limit=1", "limit=100", "page=1000"])
    async def test_edges(self, client: AsyncClient, boss: Headers, query: str) -> None:
        assert (await client.get(f"/superuser/workflow-runs?{query}", headers=boss)).status_code == 200


class TestImpersonate:
    async def borrow(self, client: AsyncClient, boss: Headers, **body: Any) -> tuple[int, dict[str, Any]]:
        answer = await client.post("/superuser/impersonate", json=body, headers=boss)
        return answer.status_code, answer.json()

    async def test_valid(self, client: AsyncClient, root: Root, org: OrgFixture, boss: Headers) -> None:
        member = org.user_ids["member"]
        status, body = await self.borrow(client, boss, user_id=member)
        assert status == 200
        assert (body["user"]["id"], body["user"]["organization_id"], body["user"]["role"]) == (member, org.id, "member")
        assert body["refresh_token"] == body["access_token"]
        left = datetime.fromisoformat(body["expires_at"]) - root.clock.now()
        assert timedelta(minutes=59) < left <= timedelta(hours=1)
        borrowed = {"Authorization": f"Bearer {body['access_token']}"}
        me = (await client.get("/auth/me", headers=borrowed)).json()
        assert (me["id"], me["impersonated"]) == (member, True)
        # With the member's rights, and no more.
        assert (await client.get("/organizations/members", headers=borrowed)).status_code == 403
        zone = {"timezone": "Asia/Tokyo"}
        refused = await client.put("/organizations/preferences", json=zone, headers=borrowed)
        assert (refused.status_code, refused.json()["code"]) == (403, "borrowed_session_read_only")
        allowed = await client.put("/organizations/support-access", json={"may_write": True}, headers=org.owner_headers)
        assert allowed.json() == {"may_write": True}
        changed = await client.put("/organizations/preferences", json=zone, headers=borrowed)
        assert changed.status_code == 200
        boss_id = (await client.get("/auth/me", headers=boss)).json()["id"]
        log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
        assert [(e["action"], e["actor_user_id"], e["impersonator_id"]) for e in log] == [
            ("preferences.updated", member, boss_id),
            ("support_access.changed", org.user_ids["owner"], None),
            ("support.read", member, boss_id),
            ("user.impersonated", member, boss_id),
        ]
        assert log[0]["impersonator_email"] == "boss@hq.example"

    async def test_a_borrowed_session_opens_no_superuser_endpoint(
        self, client: AsyncClient, root: Root, org: OrgFixture, boss: Headers
    ) -> None:
        async with root.db.transaction() as session:
            await service.grant_superuser(session, org.email("owner"))
        _, body = await self.borrow(client, boss, email=org.email("owner").upper())
        borrowed = {"Authorization": f"Bearer {body['access_token']}"}
        for method, path, sent in ROUTES:
            answer = await client.request(method, path, json=sent, headers=borrowed)
            assert (answer.status_code, answer.json()["code"]) == (403, "superuser_required")

    async def test_it_ends_after_an_hour(self, client: AsyncClient, root: Root, org: OrgFixture, boss: Headers) -> None:
        _, body = await self.borrow(client, boss, email=org.email("viewer"))
        borrowed = {"Authorization": f"Bearer {body['access_token']}"}
        clock = SetClock(root.clock.now())
        later = Authenticator(root.db, clock)
        root.provide(OrganizationServices, replace(root.get(OrganizationServices), authenticator=later))
        clock.advance(3590)
        assert (await client.get("/auth/me", headers=borrowed)).status_code == 200
        clock.advance(20)
        assert (await client.get("/auth/me", headers=borrowed)).status_code == 401
        await later.close()

    async def test_who_is_named_first_counts(self, client: AsyncClient, org: OrgFixture, boss: Headers) -> None:
        ids = org.user_ids
        _, body = await self.borrow(
            client, boss, provider_user_id=str(ids["admin"]), user_id=ids["viewer"], email=org.email("owner")
        )
        assert body["user"]["id"] == ids["admin"]
        _, body = await self.borrow(client, boss, user_id=ids["viewer"], email=org.email("owner"))
        assert body["user"]["id"] == ids["viewer"]

    async def test_in_a_chosen_organization(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, boss: Headers
    ) -> None:
        async with root.db.transaction() as session:
            await service.add_member(session, other_org.id, org.user_ids["owner"], "viewer")
        _, body = await self.borrow(client, boss, email=org.email("owner"), organization_id=other_org.id)
        assert (body["user"]["organization_id"], body["user"]["role"]) == (other_org.id, "viewer")
        status, body = await self.borrow(client, boss, email=org.email("viewer"), organization_id=other_org.id)
        assert (status, body["code"]) == (404, "organization_not_found")

    @pytest.mark.parametrize(
        ("body", "status"),
        [
            ({}, 422),
            ({"user_id": 0}, 422),
            ({"user_id": "x"}, 422),
            ({"email": ""}, 422),
            ({"user_id": None, "email": None}, 422),
            ({"user_id": 2**31 - 1}, 404),
            ({"email": "nobody@nowhere.example"}, 404),
            ({"provider_user_id": "auth0|9"}, 404),
            ({"provider_user_id": "9" * 60}, 404),
        ],
    )
    async def test_bad_input(self, client: AsyncClient, boss: Headers, body: dict[str, Any], status: int) -> None:
        assert (await self.borrow(client, boss, **body))[0] == status

    async def test_someone_without_an_organization(self, client: AsyncClient, root: Root, boss: Headers) -> None:
        async with root.db.transaction() as session:
            await service.create_user(session, "lonely@nowhere.example")
        status, body = await self.borrow(client, boss, email="lonely@nowhere.example")
        assert (status, body["code"]) == (409, "user_without_organization")
