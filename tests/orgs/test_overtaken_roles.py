"""People who are demoted or removed while their request is under way: what it makes would outlive their role."""

import asyncio
from typing import Any, Final

import pytest
from httpx2 import AsyncClient, Response
from sqlalchemy import text

from offhook.orgs import repository
from offhook.orgs.caller import Caller
from offhook.orgs.people import invitations
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.orgs.interleaving import after_admission, run_after, until_it_waits
from tests.orgs.test_members import INVITATIONS, MEMBERS, invite, roles

KEYS = "/organizations/api-keys"
SECRET = {"token": "t0ken"}
PERIODS = {"recordings_days": 30, "transcripts_days": 30, "runs_days": 30}
OWN_PRICE = {
    "kind": "llm",
    "provider": "openai",
    "model": "gpt-4.1",
    "valid_from": "2026-01-01",
    "prompt_million": "1.5",
    "completion_million": 6,
}


async def change_role(client: AsyncClient, org: OrgFixture, role: str, to: str | None) -> Response:
    """The owner demotes the member with this role, or removes them."""
    path = f"{MEMBERS}/{org.user_ids[role]}"
    if to is None:
        answer = await client.delete(path, headers=org.owner_headers)
    else:
        answer = await client.patch(path, json={"role": to}, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    return answer


class TestAdminsWhoAreNone:
    @pytest.mark.parametrize(("to", "told"), [("member", (403, "forbidden")), (None, (401, "invalid_token"))])
    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("POST", KEYS, {"name": "Kept"}),
            ("POST", "/user/api-keys", {"name": "Kept"}),
            ("POST", MEMBERS, {"email": "sock@puppet.example", "role": "admin"}),
            ("PATCH", f"{MEMBERS}/{{viewer}}", {"role": "admin"}),
            ("POST", f"{MEMBERS}/{{viewer}}/password-link", None),
        ],
    )
    async def test_they_let_nobody_in(
        self,
        client: AsyncClient,
        org: OrgFixture,
        monkeypatch: pytest.MonkeyPatch,
        to: str | None,
        told: tuple[int, str],
        method: str,
        path: str,
        body: dict[str, Any] | None,
    ) -> None:
        after_admission(monkeypatch, lambda: change_role(client, org, "admin", to))
        path = path.replace("{viewer}", str(org.user_ids["viewer"]))
        answer = await client.request(method, path, json=body, headers=org.headers_for("admin"))
        assert (answer.status_code, answer.json()["code"]) == told
        assert (await roles(client, org))[org.email("viewer")] == "viewer"

    async def test_they_remove_nobody(
        self, client: AsyncClient, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        after_admission(monkeypatch, lambda: change_role(client, org, "admin", "member"))
        path = f"{MEMBERS}/{org.user_ids['viewer']}"
        answer = await client.delete(path, headers=org.headers_for("admin"))
        assert (answer.status_code, answer.json()["code"]) == (403, "owner_required")
        assert org.email("viewer") in await roles(client, org)

    async def test_they_reactivate_no_key(
        self, client: AsyncClient, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await client.delete(f"{KEYS}/{org.key_id}", headers=org.owner_headers)
        after_admission(monkeypatch, lambda: change_role(client, org, "admin", "member"))
        answer = await client.put(f"{KEYS}/{org.key_id}/reactivate", headers=org.headers_for("admin"))
        assert (answer.status_code, answer.json()["code"]) == (403, "forbidden")
        assert (await client.get("/auth/me", headers=org.key_headers)).status_code == 401


class TestOwnersWhoAreNone:
    @pytest.mark.parametrize(
        ("method", "path"),
        [
            ("DELETE", f"{MEMBERS}/{{viewer}}/second-factor"),
            ("DELETE", "/organizations/identity-provider"),
            ("DELETE", f"{MEMBERS}/{{viewer}}/identity"),
        ],
    )
    async def test_they_decide_nothing(
        self, client: AsyncClient, org: OrgFixture, monkeypatch: pytest.MonkeyPatch, method: str, path: str
    ) -> None:
        await change_role(client, org, "member", "owner")
        after_admission(monkeypatch, lambda: change_role(client, org, "member", "admin"))
        path = path.replace("{viewer}", str(org.user_ids["viewer"]))
        answer = await client.request(method, path, headers=org.headers_for("member"))
        assert (answer.status_code, answer.json()["code"]) == (403, "owner_required")

    async def test_of_two_who_demote_each_other_one_does(
        self, client: AsyncClient, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await change_role(client, org, "member", "owner")
        after_admission(monkeypatch, lambda: change_role(client, org, "member", "admin"))
        path = f"{MEMBERS}/{org.user_ids['owner']}"
        answer = await client.patch(path, json={"role": "viewer"}, headers=org.headers_for("member"))
        assert (answer.status_code, answer.json()["code"]) == (403, "owner_required")
        assert (await roles(client, org))[org.email("owner")] == "owner"


class TestInOtherDomains:
    """Requests that wait for a carrier, a vendor or their turn before they write."""

    CHANGES: Final = (
        (
            "POST",
            "/credentials/",
            {"json": {"name": "A", "credential_type": "bearer_token", "credential_data": SECRET}},
        ),
        ("POST", "/organizations/webhooks", {"json": {"url": "https://shop.test/hooks"}}),
        ("PUT", "/organizations/usage/spend-limit", {"json": {"own_limit_cents": 100}}),
        ("PUT", "/organizations/usage/prices", {"json": OWN_PRICE}),
        ("PUT", "/organizations/second-factor-demand", {"json": {"due_at": "2026-01-01T00:00:00Z"}}),
        ("POST", "/organizations/blocked-callers", {"json": {"phone_number": "+12015550100"}}),
        ("PUT", "/organizations/retention", {"json": PERIODS}),
        ("POST", "/knowledge-base/", {"files": {"file": ("guide.md", b"# Guide\n\nWe open at nine.")}}),
    )

    @pytest.mark.parametrize(("to", "told"), [("viewer", (403, "forbidden")), (None, (401, "invalid_token"))])
    @pytest.mark.parametrize(("method", "path", "more"), CHANGES)
    async def test_those_demoted_since_change_nothing(
        self,
        client: AsyncClient,
        org: OrgFixture,
        monkeypatch: pytest.MonkeyPatch,
        to: str | None,
        told: tuple[int, str],
        method: str,
        path: str,
        more: dict[str, Any],
    ) -> None:
        after_admission(monkeypatch, lambda: change_role(client, org, "admin", to))
        answer = await client.request(method, path, headers=org.headers_for("admin"), **more)
        assert (answer.status_code, answer.json().get("code")) == told, answer.text

    @pytest.mark.parametrize(("method", "path", "more"), CHANGES)
    async def test_those_with_their_role_do(
        self, client: AsyncClient, org: OrgFixture, method: str, path: str, more: dict[str, Any]
    ) -> None:
        answer = await client.request(method, path, headers=org.headers_for("admin"), **more)
        assert answer.is_success, answer.text

    async def test_a_key_archived_since_changes_nothing(
        self, client: AsyncClient, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        after_admission(monkeypatch, lambda: client.delete(f"{KEYS}/{org.key_id}", headers=org.owner_headers))
        answer = await client.put(
            "/organizations/usage/spend-limit", json={"own_limit_cents": 100}, headers=org.key_headers
        )
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_api_key")
        limit = await client.get("/organizations/usage/spend-limit", headers=org.owner_headers)
        assert limit.json()["own_limit_cents"] is None

    async def test_a_key_archived_since_removes_nobody(
        self, client: AsyncClient, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        after_admission(monkeypatch, lambda: client.delete(f"{KEYS}/{org.key_id}", headers=org.owner_headers))
        answer = await client.delete(f"{MEMBERS}/{org.user_ids['viewer']}", headers=org.key_headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_api_key")
        assert "viewer" in (await roles(client, org)).values()

    @pytest.mark.parametrize("table", ["api_keys", "user_sessions"])
    async def test_what_has_expired_since_changes_nothing(
        self, client: AsyncClient, root: Root, org: OrgFixture, monkeypatch: pytest.MonkeyPatch, table: str
    ) -> None:
        """An upload or a carrier may keep a request waiting for minutes."""

        async def expire() -> None:
            async with root.db.transaction() as session:
                await session.execute(text(f"UPDATE {table} SET expires_at = now() - interval '1 second'"))

        after_admission(monkeypatch, expire)
        headers = org.key_headers if table == "api_keys" else org.headers_for("admin")
        answer = await client.put("/organizations/usage/spend-limit", json={"own_limit_cents": 100}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) in {(401, "invalid_api_key"), (401, "invalid_token")}
        async with root.db.transaction() as session:
            assert not await session.scalar(text("SELECT count(*) FROM audit_entries WHERE action LIKE '%limit%'"))


class TestInTwoTransactions:
    def caller(self, root: Root, org: OrgFixture, role: str) -> Caller:
        return Caller(org.id, user_id=org.user_ids[role], key_id=None, role=role, is_superuser=False)

    async def test_a_key_that_is_being_reactivated_ends_with_its_maker(
        self, client: AsyncClient, root: Root, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = (await client.post(KEYS, json={"name": "CI"}, headers=org.headers_for("admin"))).json()
        await client.delete(f"{KEYS}/{made['id']}", headers=org.owner_headers)
        demoting: list[asyncio.Task[Response]] = []

        async def demote() -> None:
            demoting.append(asyncio.create_task(change_role(client, org, "admin", "viewer")))
            await until_it_waits(root, demoting[0])

        run_after(monkeypatch, repository, "find_membership", demote)
        await client.put(f"{KEYS}/{made['id']}/reactivate", headers=org.owner_headers)
        assert (await demoting[0]).json()["ended_keys"] == ["CI"]
        assert (await client.get("/auth/me", headers={"X-API-Key": made["key"]})).status_code == 401

    async def test_of_two_invitations_of_an_address_at_once_one_is_open(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        async with root.db.transaction() as session:
            await invitations.create_invitation(
                session,
                self.caller(root, org, "admin"),
                email="ann@new.example",
                name=None,
                role="admin",
                now=root.clock.now(),
            )
            inviting = asyncio.create_task(invite(client, org, role="viewer"))
            await until_it_waits(root, inviting)
        await inviting
        listed = (await client.get(INVITATIONS, headers=org.owner_headers)).json()["invitations"]
        assert [entry["role"] for entry in listed] == ["viewer"]
