"""A person's own account: switching organizations, the password, the sessions."""

from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.orgs import service
from offhook.orgs.identity_provider import repository as identity_providers
from offhook.root import Root
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture, borrow_session
from tests.orgs.accounts import PASSWORD, make_account, sign_in
from tests.orgs.authenticators import enroll


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def name_provider(root: Root, organization_id: int, domain: str, member: int | None = None) -> None:
    """Gives the organization an identity provider for a domain, which knows ``member`` by an earlier sign-in."""
    issuer = f"https://{domain}"
    async with root.db.transaction() as session:
        values: dict[str, object] = {
            "sign_in_name": domain,
            "issuer": issuer,
            "client_id": "x",
            "email_domains": [domain],
        }
        await identity_providers.store_provider(session, organization_id, values)
        if member is not None:
            now = root.clock.now()
            await identity_providers.link_identity(session, organization_id, member, issuer, "1001", now)


async def refused_first_password(client: AsyncClient, headers: dict[str, str], clock: ShiftedClock) -> None:
    """Makes sure that a first password is refused after ten minutes, and not before."""
    clock.advance(minutes=11)
    body = {"new_password": PASSWORD}
    answer = await client.post("/auth/password", json=body, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (403, "fresh_sign_in_needed")
    clock.advance(minutes=-11)
    assert (await client.post("/auth/password", json=body, headers=headers)).status_code == 200


async def sign_up(client: AsyncClient, root: Root, email: str = "ann@new.example") -> dict[str, str]:
    await make_account(root, email)
    return await sign_in(client, email)


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("GET", "/auth/organizations", None),
        ("POST", "/auth/switch", {"organization_id": 1}),
        ("PATCH", "/auth/me", {"name": "Ann"}),
        ("POST", "/auth/password", {"new_password": PASSWORD}),
        ("GET", "/auth/sessions", None),
        ("DELETE", "/auth/sessions/1", None),
    ],
)
async def test_people_only(
    client: AsyncClient, root: Root, org: OrgFixture, method: str, path: str, body: dict[str, Any] | None
) -> None:
    assert (await client.request(method, path, json=body)).status_code == 401
    for headers in (org.key_headers, await borrow_session(root, org, org.user_ids["admin"])):
        answer = await client.request(method, path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "person_required")


class TestSwitch:
    async def test_valid(self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            await service.add_member(session, other_org.id, org.user_ids["owner"], "viewer")
        mine = (await client.get("/auth/organizations", headers=org.owner_headers)).json()
        assert [(o["name"], o["role"], o["is_current"]) for o in mine] == [
            (org.name, "owner", True),
            (other_org.name, "viewer", False),
        ]
        answer = await client.post("/auth/switch", json={"organization_id": other_org.id}, headers=org.owner_headers)
        assert (answer.status_code, answer.json()["user"]["role"]) == (200, "viewer")
        there = bearer(answer.json()["token"])
        assert (await client.get("/organizations/current", headers=there)).json()["id"] == other_org.id
        assert (await client.get("/organizations/members", headers=there)).status_code == 403
        assert (await client.get("/auth/me", headers=org.owner_headers)).status_code == 401

    @pytest.mark.parametrize(("wanted", "status"), [(0, 422), (2**31, 422), ("x", 422), (2**31 - 1, 404)])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, wanted: object, status: int) -> None:
        answer = await client.post("/auth/switch", json={"organization_id": wanted}, headers=org.owner_headers)
        assert answer.status_code == status

    async def test_other_organization(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        answer = await client.post("/auth/switch", json={"organization_id": other_org.id}, headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (404, "organization_not_found")
        assert (await client.get("/auth/me", headers=org.owner_headers)).status_code == 200


class TestName:
    async def test_it_is_what_members_see(self, client: AsyncClient, org: OrgFixture) -> None:
        headers = org.headers_for("viewer")
        answer = await client.request("PATCH", "/auth/me", json={"name": "  Ann Example "}, headers=headers)
        assert (answer.status_code, answer.json()["name"]) == (200, "Ann Example")
        me = (await client.get("/auth/me", headers=headers)).json()
        assert (me["name"], me["email"], me["role"]) == ("Ann Example", org.email("viewer"), "viewer")
        members = (await client.get("/organizations/members", headers=org.owner_headers)).json()["members"]
        assert "Ann Example" in [member["name"] for member in members]
        (entry, *_) = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
        assert (entry["action"], entry["target"]) == ("user.renamed", f"user:{org.user_ids['viewer']}")
        assert "Ann" not in str(entry["data"])

    @pytest.mark.parametrize("name", ["", "   ", "x" * 201, None, 7])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, name: object) -> None:
        answer = await client.request("PATCH", "/auth/me", json={"name": name}, headers=org.owner_headers)
        assert answer.status_code == 422


class TestPassword:
    async def test_change_ends_the_other_sessions(self, client: AsyncClient, root: Root) -> None:
        here = await sign_up(client, root)
        login = await client.post("/auth/login", json={"email": "ann@new.example", "password": PASSWORD})
        elsewhere = bearer(login.json()["token"])
        body = {"current_password": PASSWORD, "new_password": "another horse"}
        assert (await client.post("/auth/password", json=body, headers=here)).status_code == 200
        assert (await client.get("/auth/me", headers=here)).status_code == 200
        assert (await client.get("/auth/me", headers=elsewhere)).status_code == 401
        for password, status in ((PASSWORD, 401), ("another horse", 200)):
            answer = await client.post("/auth/login", json={"email": "ann@new.example", "password": password})
            assert answer.status_code == status

    @pytest.mark.parametrize("current", [None, "", "wrong password"])
    async def test_wrong_password(self, client: AsyncClient, root: Root, current: str | None) -> None:
        here = await sign_up(client, root)
        body = {"current_password": current, "new_password": "another horse"}
        answer = await client.post("/auth/password", json=body, headers=here)
        assert (answer.status_code, answer.json()["code"]) == (403, "wrong_password")

    async def test_guesses_are_limited(self, client: AsyncClient, root: Root) -> None:
        here = await sign_up(client, root)
        body = {"current_password": "wrong password", "new_password": "another horse"}
        statuses = [(await client.post("/auth/password", json=body, headers=here)).status_code for _ in range(12)]
        assert statuses[-1] == 429

    async def test_too_short(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await client.post("/auth/password", json={"new_password": "short"}, headers=org.owner_headers)
        assert answer.status_code == 422

    async def test_the_first_one_of_an_account_that_signs_in_by_link(
        self, client: AsyncClient, org: OrgFixture
    ) -> None:
        answer = await client.post("/auth/password", json={"new_password": PASSWORD}, headers=org.owner_headers)
        assert answer.status_code == 200
        login = await client.post("/auth/login", json={"email": org.email("owner"), "password": PASSWORD})
        assert login.status_code == 200

    async def test_an_old_session_from_a_link_sets_the_first_one(
        self, client: AsyncClient, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        """The link is spent, and nothing else opens the account: the session is all that its owner has."""
        assert (await client.get("/auth/me", headers=org.owner_headers)).json()["has_password"] is False
        shifted_clock.advance(minutes=40 * 60)
        answer = await client.post("/auth/password", json={"new_password": PASSWORD}, headers=org.owner_headers)
        assert answer.status_code == 200, answer.text
        assert (await client.get("/auth/me", headers=org.owner_headers)).json()["has_password"] is True
        login = await client.post("/auth/login", json={"email": org.email("owner"), "password": PASSWORD})
        assert login.status_code == 200

    async def test_an_old_session_does_not_replace_one(
        self, client: AsyncClient, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        body = {"new_password": PASSWORD}
        assert (await client.post("/auth/password", json=body, headers=org.owner_headers)).status_code == 200
        shifted_clock.advance(minutes=11)
        answer = await client.post("/auth/password", json={"new_password": "another horse"}, headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "wrong_password")

    async def test_an_old_session_adds_none_to_a_second_factor(
        self, client: AsyncClient, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        await enroll(client, org.owner_headers, shifted_clock, password=None)
        await refused_first_password(client, org.owner_headers, shifted_clock)

    @pytest.mark.parametrize(("domain", "is_linked"), [("acme.example", False), ("elsewhere.example", True)])
    async def test_an_old_session_adds_none_to_an_identity_provider(
        self,
        client: AsyncClient,
        root: Root,
        org: OrgFixture,
        shifted_clock: ShiftedClock,
        domain: str,
        is_linked: bool,
    ) -> None:
        await name_provider(root, org.id, domain, org.user_ids["member"] if is_linked else None)
        await refused_first_password(client, org.headers_for("member"), shifted_clock)

    async def test_a_provider_that_signs_the_person_in_nowhere_does_not_count(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        await name_provider(root, org.id, "elsewhere.example")
        await name_provider(root, other_org.id, "acme.example")
        shifted_clock.advance(minutes=11)
        answer = await client.post("/auth/password", json={"new_password": PASSWORD}, headers=org.headers_for("member"))
        assert answer.status_code == 200, answer.text

    async def test_an_old_session_chooses_no_other_proof(
        self, client: AsyncClient, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        """Neither a link to itself nor an authenticator app, both of which would lock its owner out."""
        shifted_clock.advance(minutes=11)
        own_link = f"/organizations/members/{org.user_ids['owner']}/password-link"
        for path in ("/auth/second-factor/enrollment", own_link):
            answer = await client.post(path, json={}, headers=org.owner_headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "fresh_sign_in_needed"), path
        theirs = f"/organizations/members/{org.user_ids['member']}/password-link"
        assert (await client.post(theirs, headers=org.owner_headers)).status_code == 200


class TestSessions:
    async def test_list_and_end(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        here = await sign_up(client, root)
        login = await client.post("/auth/login", json={"email": "ann@new.example", "password": PASSWORD})
        sessions = (await client.get("/auth/sessions", headers=here)).json()
        assert [s["is_current"] for s in sessions] == [False, True]
        other = sessions[0]["id"]
        stranger = await client.delete(f"/auth/sessions/{other}", headers=org.owner_headers)
        assert (stranger.status_code, stranger.json()["code"]) == (404, "session_not_found")
        assert (await client.delete(f"/auth/sessions/{other}", headers=here)).status_code == 200
        assert (await client.get("/auth/me", headers=bearer(login.json()["token"]))).status_code == 401
        assert (await client.delete(f"/auth/sessions/{other}", headers=here)).status_code == 404
        assert (await client.delete("/auth/sessions/x", headers=here)).status_code == 422
