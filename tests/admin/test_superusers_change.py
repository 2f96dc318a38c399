"""Superusers are made and unmade on the command line, and the log says so."""

import pytest
from httpx2 import AsyncClient

from offhook.orgs.errors import SuperuserNotFound, UserNotFound
from offhook.orgs.people import superusers
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture


async def test_a_revoked_one_sees_nothing_more(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    async with root.db.transaction() as session:
        await superusers.grant_superuser(session, org.email("owner").upper())
    async with root.db.transaction() as session:
        assert [user.email for user in await superusers.list_superusers(session)] == [org.email("owner")]
    assert (await client.get("/superuser/organizations", headers=org.owner_headers)).status_code == 200
    async with root.db.transaction() as session:
        await superusers.revoke_superuser(session, org.email("owner"), root.clock.now())
    refused = await client.get("/superuser/organizations", headers=org.owner_headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "superuser_required")
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    assert [(entry["action"], entry["actor_user_id"], entry["data"]) for entry in log] == [
        ("user.superuser_revoked", None, {"by": "command line"}),
        ("superuser.read", org.user_ids["owner"], {"path": "/api/v1/superuser/organizations"}),
        ("user.superuser_granted", None, {"by": "command line"}),
    ]


async def test_borrowed_sessions_end_with_it(
    client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
) -> None:
    async with root.db.transaction() as session:
        await superusers.grant_superuser(session, org.email("owner"))
    body = {"user_id": other_org.user_ids["member"]}
    borrowed = (await client.post("/superuser/impersonate", json=body, headers=org.owner_headers)).json()
    headers = {"Authorization": f"Bearer {borrowed['access_token']}"}
    assert (await client.get("/auth/me", headers=headers)).status_code == 200
    async with root.db.transaction() as session:
        await superusers.revoke_superuser(session, org.email("owner"), root.clock.now())
    assert (await client.get("/auth/me", headers=headers)).status_code == 401
    assert (await client.get("/auth/me", headers=org.owner_headers)).status_code == 200


async def test_unknown_addresses(root: Root, org: OrgFixture) -> None:
    async with root.db.transaction() as session:
        with pytest.raises(UserNotFound):
            await superusers.grant_superuser(session, "nobody@example.com")
        for email in ("nobody@example.com", org.email("owner")):
            with pytest.raises(SuperuserNotFound):
                await superusers.revoke_superuser(session, email, root.clock.now())
