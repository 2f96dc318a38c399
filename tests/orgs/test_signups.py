"""Asking for an account, and the links by which people get in."""

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient
from sqlalchemy import func, select

from offhook.orgs import service
from offhook.orgs.sign_in.signups import create_personal_link, list_requests
from offhook.orgs.tables import Organization, SignupRequest, User
from offhook.root import Root
from offhook.settings import Settings
from tests.conftest import client_at
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import PASSWORD, make_account, sign_in
from tests.orgs.test_auth_endpoints import bearer, service_with_new_settings


class TestSignup:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"signup_enabled": True, "signups_per_network": 3, "signups_per_hour": 7})

    async def test_one_answer_for_taken_and_free_addresses(self, client: AsyncClient, org: OrgFixture) -> None:
        free = await client.post("/auth/signup", json={"email": "new@example.com"})
        taken = await client.post("/auth/signup", json={"email": org.email("owner").upper()})
        assert free.status_code == taken.status_code == 200
        assert free.json() == taken.json()
        assert free.json()["status"] == "pending"

    async def test_it_writes_as_much_for_both(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        """Time must not tell them apart either; the superuser sees only addresses without an account."""
        for email in ("new@example.com", org.email("owner")):
            await client.post("/auth/signup", json={"email": email})
        async with root.db.transaction() as session:
            assert await session.scalar(select(func.count()).select_from(SignupRequest)) == 2
            assert [row.email for row in await list_requests(session)] == ["new@example.com"]

    async def test_a_request_alone_makes_nothing(self, client: AsyncClient, root: Root) -> None:
        for _ in range(2):
            body = {"email": "newhire@victim.example", "password": PASSWORD}
            assert (await client.post("/auth/signup", json=body)).status_code == 200
        async with root.db.transaction() as session:
            assert await session.scalar(select(func.count()).select_from(User)) == 0
            assert await session.scalar(select(func.count()).select_from(Organization)) == 0
        body = {"email": "newhire@victim.example", "password": PASSWORD}
        assert (await client.post("/auth/login", json=body)).status_code == 401

    async def test_limited_by_network(self, app: FastAPI, client: AsyncClient) -> None:
        flood = [f"a{n}@flood.example" for n in range(5)]
        statuses = [(await client.post("/auth/signup", json={"email": email})).status_code for email in flood]
        assert statuses == [200] * 3 + [429] * 2
        for address, expected in (("2001:db8:1:2::1", 200), ("2001:db8:1:2:ffff::9", 200), ("2001:db8:1:2::7", 200),
                                  ("2001:db8:1:2:3::1", 429), ("2001:db8:1:3::1", 200)):  # fmt: skip
            async with client_at(app, address) as other:
                answer = await other.post("/auth/signup", json={"email": f"b@{address.replace(':', '')}.example"})
            assert answer.status_code == expected, address

    async def test_limited_in_all(self, app: FastAPI, client: AsyncClient) -> None:
        statuses = []
        for n in range(9):
            async with client_at(app, f"203.0.113.{n}") as other:
                answer = await other.post("/auth/signup", json={"email": f"a{n}@flood.example"})
            statuses.append(answer.status_code)
        assert statuses == [200] * 7 + [429] * 2

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("email", "ada"),
            ("email", "ada@@example.com"),
            ("email", "a" * 400 + "@example.com"),
            ("email", 5),
            ("name", ""),
            ("organization_name", "x" * 201),
        ],
    )
    async def test_bad_input(self, client: AsyncClient, field: str, value: object) -> None:
        body = {"email": "ada@example.com"} | {field: value}
        response = await client.post("/auth/signup", json=body)
        assert response.status_code == 422
        assert response.json()["detail"][0]["loc"][:2] == ["body", field]

    async def test_off_unless_the_operator_turns_it_on(self, root: Root) -> None:
        assert Settings().signup_enabled is False
        root.settings = root.settings.model_copy(update={"signup_enabled": False})
        closed = service_with_new_settings(root)
        async with closed as client:
            response = await client.post("/auth/signup", json={"email": "ada@example.com"})
        assert (response.status_code, response.json()["code"]) == (403, "signup_disabled")


class TestSignupRequests:
    """The superuser lets somebody in, who then chooses a password."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        return settings.model_copy(update={"signup_enabled": True})

    @pytest.fixture
    async def boss(self, root: Root, org: OrgFixture) -> dict[str, str]:
        async with root.db.transaction() as session:
            await service.grant_superuser(session, org.email("owner"))
        return org.owner_headers

    async def test_superusers_only(self, client: AsyncClient, org: OrgFixture) -> None:
        for method, path, body in (
            ("GET", "/superuser/signup-requests", None),
            ("DELETE", "/superuser/signup-requests/1", None),
            ("POST", "/superuser/sign-in-links", {"email": "ada@example.com"}),
        ):
            assert (await client.request(method, path, json=body)).status_code == 401
            for headers in (org.owner_headers, org.key_headers):
                assert (await client.request(method, path, json=body, headers=headers)).status_code == 403

    async def test_from_the_request_to_the_session(self, client: AsyncClient, boss: dict[str, str]) -> None:
        body = {"email": "Ada@example.com", "name": "Ada", "organization_name": "Analytical"}
        await client.post("/auth/signup", json=body)
        waiting = (await client.get("/superuser/signup-requests", headers=boss)).json()["requests"]
        assert [(row["email"], row["name"], row["ip"]) for row in waiting] == [("Ada@example.com", "Ada", "127.0.0.1")]

        made = await client.post("/superuser/sign-in-links", json={"email": "ada@example.com"}, headers=boss)
        assert made.status_code == 200
        token = made.json()["token"]
        assert made.json()["url"] == f"http://testserver/sign-in?token={token}"
        without = await client.post("/auth/link", json={"token": token})
        assert (without.status_code, without.json()["code"]) == (422, "password_missing")
        weak = await client.post("/auth/link", json={"token": token, "new_password": "password1"})
        assert (weak.status_code, weak.json()["code"]) == (422, "password_too_common")
        done = await client.post("/auth/link", json={"token": token, "new_password": PASSWORD})
        assert done.status_code == 200
        assert (done.json()["user"]["email"], done.json()["user"]["role"]) == ("Ada@example.com", "owner")
        current = await client.get("/organizations/current", headers=bearer(done.json()["token"]))
        assert current.json()["name"] == "Analytical"
        assert await sign_in(client, "ada@example.com")
        assert (await client.get("/superuser/signup-requests", headers=boss)).json() == {"requests": []}
        entries = (await client.get("/organizations/audit-log", headers=bearer(done.json()["token"]))).json()["entries"]
        assert [entry["action"] for entry in entries if "link" in entry["action"]] == [
            "user.followed_link", "sign_in_link.created",
        ]  # fmt: skip

    async def test_refused(self, client: AsyncClient, boss: dict[str, str]) -> None:
        await client.post("/auth/signup", json={"email": "ada@example.com"})
        (waiting,) = (await client.get("/superuser/signup-requests", headers=boss)).json()["requests"]
        path = f"/superuser/signup-requests/{waiting['id']}"
        assert (await client.delete(path, headers=boss)).status_code == 200
        assert (await client.delete(path, headers=boss)).status_code == 404
        unknown = await client.post("/superuser/sign-in-links", json={"email": "ada@example.com"}, headers=boss)
        assert (unknown.status_code, unknown.json()["code"]) == (404, "user_not_found")

    async def test_a_superuser_opens_no_account_in_use(
        self, client: AsyncClient, root: Root, boss: dict[str, str]
    ) -> None:
        await make_account(root, "ada@example.com")
        answer = await client.post("/superuser/sign-in-links", json={"email": "ada@example.com"}, headers=boss)
        assert (answer.status_code, answer.json()["code"]) == (409, "account_in_use")

    async def test_a_link_that_was_lost_is_replaced(self, client: AsyncClient, boss: dict[str, str]) -> None:
        await client.post("/auth/signup", json={"email": "ada@example.com"})
        body = {"email": "ada@example.com"}
        lost, new = [(await client.post("/superuser/sign-in-links", json=body, headers=boss)).json() for _ in "ab"]
        for made, status in ((lost, 401), (new, 200)):
            answer = await client.post("/auth/link", json={"token": made["token"], "new_password": PASSWORD})
            assert answer.status_code == status

    async def test_bad_input(self, client: AsyncClient, boss: dict[str, str]) -> None:
        answer = await client.post("/superuser/sign-in-links", json={"email": "nobody"}, headers=boss)
        assert answer.status_code == 422

    async def test_requests_end_after_two_weeks(
        self, client: AsyncClient, root: Root, boss: dict[str, str], shifted_clock: ShiftedClock
    ) -> None:
        await client.post("/auth/signup", json={"email": "ada@example.com"})
        shifted_clock.advance(minutes=15 * 24 * 60)
        await root.jobs.handlers["credentials.sweep"]({})
        async with root.db.transaction() as session:
            assert await session.scalar(select(func.count()).select_from(SignupRequest)) == 0


class TestLinksEnd:
    """A link from an old log opens nothing."""

    async def test_by_a_newer_link_and_by_a_new_password(self, client: AsyncClient, root: Root) -> None:
        user_id = await make_account(root)
        headers = await sign_in(client)
        me = (await client.get("/auth/me", headers=headers)).json()

        async def new_link() -> str:
            async with root.db.transaction() as session:
                return await service.create_sign_in_link(
                    session, organization_id=me["organization_id"], user_id=user_id, now=root.clock.now()
                )

        old, newer = await new_link(), await new_link()
        assert (await client.post("/auth/link", json={"token": old})).status_code == 401
        body = {"current_password": PASSWORD, "new_password": "another good phrase"}
        assert (await client.post("/auth/password", json=body, headers=headers)).status_code == 200
        assert (await client.post("/auth/link", json={"token": newer})).status_code == 401

    async def test_a_reset_ends_other_sessions_and_the_old_password(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        headers = await sign_in(client)
        async with root.db.transaction() as session:
            link = await create_personal_link(session, "ada@example.com", root.clock.now(), sets_password=True)
        body = {"token": link.token, "new_password": "another good phrase"}
        done = await client.post("/auth/link", json=body)
        assert done.status_code == 200
        assert (await client.get("/auth/me", headers=headers)).status_code == 401
        assert (await client.get("/auth/me", headers=bearer(done.json()["token"]))).status_code == 200
        old = await client.post("/auth/login", json={"email": "ada@example.com", "password": PASSWORD})
        assert old.status_code == 401
        assert await sign_in(client, password="another good phrase")
