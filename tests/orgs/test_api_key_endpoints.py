"""API keys: what is shown, what they may do, and that an archived one opens nothing."""

import asyncio
import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, update

from offhook.orgs.api_keys.keys import create_key_by_command
from offhook.orgs.services import OrganizationServices
from offhook.orgs.sign_in.authentication import Authenticator
from offhook.orgs.tables import ApiKey
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.orgs.clocks import StoppedClock

KEYS = "/organizations/api-keys"
RECORD = {
    "id", "name", "prefix", "role", "scopes", "networks", "expires_at", "created_by",
    "created_at", "last_used_at", "archived_at",
}  # fmt: skip


async def create(client: AsyncClient, org: OrgFixture, **body: object) -> dict[str, Any]:
    response = await client.post(KEYS, json={"name": "CI", **body}, headers=org.owner_headers)
    assert response.status_code == 200, response.text
    made: dict[str, Any] = response.json()
    return made


class TestCreate:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.post(KEYS, json={"name": "CI"})).status_code == 401

    @pytest.mark.parametrize("role", ["member", "viewer"])
    async def test_needs_admin(self, client: AsyncClient, org: OrgFixture, role: str) -> None:
        response = await client.post(KEYS, json={"name": "CI"}, headers=org.headers_for(role))
        assert (response.status_code, response.json()["code"]) == (403, "forbidden")

    @pytest.mark.parametrize(
        "body",
        [{}, {"name": ""}, {"name": "   "}, {"name": "x" * 201}, {"name": 5}, {"name": "a", "role": "owner"}, []],
    )
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, body: object) -> None:
        assert (await client.post(KEYS, json=body, headers=org.owner_headers)).status_code == 422

    async def test_valid(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        made = await create(client, org)
        assert set(made) == RECORD | {"key"}
        assert re.fullmatch(r"ohk_[A-Za-z0-9_-]{43}", made["key"])
        assert made["prefix"] == made["key"][:12]
        assert (made["name"], made["role"], made["last_used_at"]) == ("CI", "admin", None)
        async with root.db.transaction() as session:
            record = await session.get(ApiKey, made["id"])
        assert record is not None
        assert len(record.key_sha256) == 32
        assert (await client.get("/auth/me", headers={"X-API-Key": made["key"]})).json()["organization_id"] == org.id

    async def test_one_made_in_the_shell_is_in_the_log(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            new = await create_key_by_command(session, org.id, "CI", "viewer")
        assert (await client.get("/auth/me", headers={"X-API-Key": new.key})).json()["role"] == "viewer"
        (entry,) = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
        assert (entry["action"], entry["data"]["by"]) == ("api_key.created", "command line")
        assert new.key not in str(entry)

    async def test_not_by_a_key(self, client: AsyncClient, org: OrgFixture) -> None:
        for path in (KEYS, "/user/api-keys"):
            answer = await client.post(path, json={"name": "CI"}, headers=org.key_headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "person_required")

    async def test_role(self, client: AsyncClient, org: OrgFixture) -> None:
        viewer = {"X-API-Key": (await create(client, org, role="viewer"))["key"]}
        assert (await client.get("/organizations/current", headers=viewer)).status_code == 200
        assert (await client.post(KEYS, json={"name": "mine"}, headers=viewer)).status_code == 403


class TestList:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.get(KEYS)).status_code == 401

    async def test_other_organization(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        await create(client, org)
        listed = (await client.get(KEYS, headers=other_org.owner_headers)).json()["api_keys"]
        assert [key["id"] for key in listed] == [other_org.key_id]

    async def test_bad_input(self, client: AsyncClient, org: OrgFixture) -> None:
        response = await client.get(KEYS, params={"include_archived": "perhaps"}, headers=org.owner_headers)
        assert response.status_code == 422

    async def test_valid(self, client: AsyncClient, org: OrgFixture) -> None:
        made = await create(client, org)
        await client.delete(f"{KEYS}/{made['id']}", headers=org.owner_headers)
        active = (await client.get(KEYS, headers=org.owner_headers)).json()
        assert [key["id"] for key in active["api_keys"]] == [org.key_id]
        everything = (await client.get(KEYS, params={"include_archived": "true"}, headers=org.owner_headers)).json()
        assert [key["id"] for key in everything["api_keys"]] == [made["id"], org.key_id]
        assert all(set(key) == RECORD for key in everything["api_keys"])
        assert made["key"] not in str(everything)


class TestArchiveAndReactivate:
    async def test_anonymous(self, client: AsyncClient, org: OrgFixture) -> None:
        assert (await client.delete(f"{KEYS}/{org.key_id}")).status_code == 401
        assert (await client.put(f"{KEYS}/{org.key_id}/reactivate")).status_code == 401

    async def test_other_organization(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        headers = other_org.owner_headers
        answers = [
            await client.delete(f"{KEYS}/{org.key_id}", headers=headers),
            await client.put(f"{KEYS}/{org.key_id}/reactivate", headers=headers),
        ]
        assert [(a.status_code, a.json()["code"]) for a in answers] == [(404, "api_key_not_found")] * 2
        assert (await client.get("/auth/me", headers=org.key_headers)).status_code == 200

    @pytest.mark.parametrize(
        ("key_id", "status"),
        [("0", 404), ("-1", 404), ("2147483648", 404), ("9" * 30, 404), ("9" * 5000, 404), ("abc", 422), ("1.5", 422)],
    )
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, key_id: str, status: int) -> None:
        assert (await client.delete(f"{KEYS}/{key_id}", headers=org.owner_headers)).status_code == status

    async def test_valid(self, client: AsyncClient, org: OrgFixture) -> None:
        made = await create(client, org)
        headers = {"X-API-Key": made["key"]}
        assert (await client.get("/auth/me", headers=headers)).status_code == 200

        first = await client.delete(f"{KEYS}/{made['id']}", headers=org.owner_headers)
        again = await client.delete(f"{KEYS}/{made['id']}", headers=org.owner_headers)
        assert first.status_code == again.status_code == 200
        assert first.json() == again.json()
        assert set(first.json()) == RECORD
        assert first.json()["archived_at"] is not None
        refused = await client.get("/auth/me", headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (401, "invalid_api_key")

        for _ in range(2):
            restored = await client.put(f"{KEYS}/{made['id']}/reactivate", headers=org.owner_headers)
            assert (restored.status_code, restored.json()["archived_at"]) == (200, None)
        assert (await client.get("/auth/me", headers=headers)).status_code == 200

    async def test_audit_log_has_each_change_once(self, client: AsyncClient, org: OrgFixture) -> None:
        made = await create(client, org)
        for _ in range(2):
            await client.delete(f"{KEYS}/{made['id']}", headers=org.owner_headers)
        for _ in range(2):
            await client.put(f"{KEYS}/{made['id']}/reactivate", headers=org.headers_for("admin"))
        log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
        assert [entry["action"] for entry in log] == ["api_key.reactivated", "api_key.archived", "api_key.created"]
        assert {entry["target"] for entry in log} == {f"api_key:{made['id']}"}
        assert (log[0]["actor_key_id"], log[0]["actor_user_id"]) == (None, org.user_ids["admin"])
        assert (log[1]["actor_key_id"], log[1]["actor_user_id"]) == (None, org.user_ids["owner"])


class TestUse:
    async def test_key_decides_beside_a_token(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        both = other_org.owner_headers | org.key_headers
        assert (await client.get("/auth/me", headers=both)).json()["organization_id"] == org.id

    @pytest.mark.parametrize("key", ["", "ohk_wrong", "x" * 4000, "ohk_" + "A" * 43])
    async def test_bad_key_beside_a_good_token(self, client: AsyncClient, org: OrgFixture, key: str) -> None:
        response = await client.get("/auth/me", headers=org.owner_headers | {"X-API-Key": key})
        assert response.status_code == 401

    async def test_key_of_a_superuser_is_not_one(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            await session.execute(update(ApiKey).values(created_by=org.user_ids["owner"]))
        assert (await client.get("/auth/me", headers=org.key_headers)).json()["is_superuser"] is False

    async def last_used(self, root: Root, org: OrgFixture) -> object:
        async with root.db.transaction() as session:
            return await session.scalar(select(ApiKey.last_used_at).where(ApiKey.id == org.key_id))

    async def test_last_used_at_on_first_use_then_once_a_minute(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        assert await self.last_used(root, org) is None
        answers = await asyncio.gather(*(client.get("/auth/me", headers=org.key_headers) for _ in range(20)))
        assert {a.status_code for a in answers} == {200}
        first = await self.last_used(root, org)
        assert first is not None
        await client.get("/auth/me", headers=org.key_headers)
        assert await self.last_used(root, org) == first
        async with root.db.transaction() as session:
            await session.execute(update(ApiKey).values(last_used_at=ApiKey.last_used_at - timedelta(seconds=61)))
        await client.get("/auth/me", headers=org.key_headers)
        assert await self.last_used(root, org) > first  # type: ignore[operator]

    async def test_a_locked_row_holds_nobody_up(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            await session.execute(select(ApiKey).with_for_update())
            async with asyncio.timeout(60):
                response = await client.get("/auth/me", headers=org.key_headers)
        assert response.status_code == 200

    async def test_many_unknown_keys_are_limited_and_good_ones_are_not(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        authenticator = Authenticator(root.db, StoppedClock(root.clock.now()))
        root.provide(OrganizationServices, replace(root.get(OrganizationServices), authenticator=authenticator))
        statuses = [(await client.get("/auth/me", headers={"X-API-Key": f"ohk_{n}"})).status_code for n in range(302)]
        assert statuses == [401] * 300 + [429] * 2
        assert (await client.get("/auth/me", headers=org.key_headers)).status_code == 200
