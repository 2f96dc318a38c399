"""The organization, its members and its audit log."""

import pytest
from httpx2 import AsyncClient

from offhook.orgs import Caller, write_audit_entry
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture


class TestCurrent:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.get("/organizations/current")).status_code == 401

    async def test_valid(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        for mine in (org, other_org):
            response = await client.get("/organizations/current", headers=mine.headers_for("viewer"))
            assert response.json() == {"id": mine.id, "name": mine.name, "time_zone": "UTC"}


class TestMembers:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.get("/organizations/members")).status_code == 401

    @pytest.mark.parametrize("role", ["member", "viewer"])
    async def test_needs_admin(self, client: AsyncClient, org: OrgFixture, role: str) -> None:
        assert (await client.get("/organizations/members", headers=org.headers_for(role))).status_code == 403

    async def test_other_organization_is_not_seen(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        listed = (await client.get("/organizations/members", headers=org.owner_headers)).json()["members"]
        assert {member["user_id"]: member["role"] for member in listed} == {
            user_id: role for role, user_id in org.user_ids.items()
        }
        assert {member["email"] for member in listed}.isdisjoint({other_org.email(role) for role in other_org.user_ids})


class TestAuditLog:
    async def write(self, root: Root, org: OrgFixture, count: int) -> None:
        caller = Caller(org.id, org.user_ids["owner"], None, "owner", is_superuser=False, ip="192.0.2.7")
        async with root.db.transaction() as session:
            for number in range(count):
                await write_audit_entry(session, caller, "thing.changed", f"thing:{number}", {"number": number})

    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.get("/organizations/audit-log")).status_code == 401

    @pytest.mark.parametrize("role", ["member", "viewer"])
    async def test_needs_admin(self, client: AsyncClient, org: OrgFixture, role: str) -> None:
        assert (await client.get("/organizations/audit-log", headers=org.headers_for(role))).status_code == 403

    @pytest.mark.parametrize("query", ["page=0", "page=-1", "page=x", "page=" + "9" * 40, "limit=0", "limit=101"])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, query: str) -> None:
        response = await client.get(f"/organizations/audit-log?{query}", headers=org.owner_headers)
        assert response.status_code == 422

    async def test_other_organization_is_not_seen(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        await self.write(root, org, 1)
        body = (await client.get("/organizations/audit-log", headers=other_org.owner_headers)).json()
        assert (body["entries"], body["total_count"], body["total_pages"]) == ([], 0, 0)

    async def test_pages_newest_first(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await self.write(root, org, 5)
        seen = []
        for page in (1, 2, 3, 4):
            body = (await client.get(f"/organizations/audit-log?page={page}&limit=2", headers=org.key_headers)).json()
            assert (body["total_count"], body["page"], body["limit"], body["total_pages"]) == (5, page, 2, 3)
            seen += [entry["data"]["number"] for entry in body["entries"]]
        assert seen == [4, 3, 2, 1, 0]
        assert body["entries"] == []

    async def test_an_undone_change_leaves_no_entry(self, root: Root, client: AsyncClient, org: OrgFixture) -> None:
        caller = Caller(org.id, None, org.key_id, "admin", is_superuser=False)
        async with root.db.transaction() as session:
            await write_audit_entry(session, caller, "thing.changed")
            await session.rollback()
        body = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()
        assert body["total_count"] == 0
