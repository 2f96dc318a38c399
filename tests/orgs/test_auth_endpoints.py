"""Signing up, in and out, and who I am."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta

import pytest
from fastapi import FastAPI
from httpx2 import ASGITransport, AsyncClient
from sqlalchemy import select, update

from offhook.kit.clock import Clock
from offhook.orgs import service
from offhook.orgs.services import OrganizationServices
from offhook.orgs.sign_in.sign_in_service import SignIn
from offhook.orgs.sign_in.signups import SignupDesk
from offhook.orgs.tables import AuditEntry, User, UserSession
from offhook.root import Root
from tests.applications import lend_application
from tests.conftest import client_at
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import PASSWORD, make_account, sign_in
from tests.orgs.clocks import StoppedClock


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class TestPasswords:
    @pytest.mark.parametrize(
        "password", ["password", "12345678", "aaaaaaaa", "        ", "Qwertyuiop", "ada@example.com", "ADA@example.COM"]
    )
    async def test_easy_ones_are_refused(self, client: AsyncClient, root: Root, password: str) -> None:
        await make_account(root)
        headers = await sign_in(client)
        body = {"current_password": PASSWORD, "new_password": password}
        answer = await client.post("/auth/password", json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "password_too_common")

    async def test_only_a_slow_hash_is_stored(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        headers = await sign_in(client)
        async with root.db.transaction() as session:
            password_hash = await session.scalar(select(User.password_hash))
            stored = await session.scalar(select(UserSession.token_sha256))
        assert password_hash is not None
        assert password_hash.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
        assert headers["Authorization"].removeprefix("Bearer ").encode() not in (stored or b"")
        assert len(stored or b"") == 32


def use_sign_in(root: Root, clock: Clock) -> None:
    """Gives the process a sign-in of its own, with this clock and the root's settings of now."""
    services = root.get(OrganizationServices)
    signups = SignupDesk(root.db, clock, root.settings)
    root.provide(
        OrganizationServices, replace(services, sign_in=SignIn(root.db, clock, services.steps), signups=signups)
    )


@asynccontextmanager
async def service_with_new_settings(root: Root) -> AsyncIterator[AsyncClient]:
    use_sign_in(root, root.clock)
    with lend_application(root) as app:
        async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver/api/v1") as client:
            yield client


class TestLogin:
    async def test_valid(self, client: AsyncClient, root: Root) -> None:
        user_id = await make_account(root, "Ada@example.com")
        response = await client.post("/auth/login", json={"email": " ada@EXAMPLE.com ", "password": PASSWORD})
        assert response.status_code == 200
        assert response.json()["user"]["id"] == user_id
        assert response.json()["user"]["email"] == "Ada@example.com"

    async def test_wrong_password_and_unknown_email_look_the_same(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        wrong = await client.post("/auth/login", json={"email": "ada@example.com", "password": "wrong password"})
        unknown = await client.post("/auth/login", json={"email": "bob@example.com", "password": PASSWORD})
        assert wrong.status_code == unknown.status_code == 401
        assert wrong.json() == unknown.json() == {"detail": "Invalid email or password.", "code": "invalid_credentials"}

    async def test_a_user_without_a_password_cannot(self, client: AsyncClient, org: OrgFixture) -> None:
        response = await client.post("/auth/login", json={"email": org.email("owner"), "password": PASSWORD})
        assert response.status_code == 401

    async def test_guessing_is_limited_per_account(self, client: AsyncClient, root: Root) -> None:
        use_sign_in(root, StoppedClock(root.clock.now()))
        await make_account(root)
        guesses = [{"email": "ada@example.com", "password": f"guess number {n}"} for n in range(14)]
        answers = await asyncio.gather(*(client.post("/auth/login", json=guess) for guess in guesses))
        assert sorted(a.status_code for a in answers) == [401] * 10 + [429] * 4
        limited = next(a for a in answers if a.status_code == 429)
        assert int(limited.headers["Retry-After"]) >= 1
        assert limited.json()["code"] == "too_many_requests"
        other = await client.post("/auth/login", json={"email": "bob@example.com", "password": PASSWORD})
        assert other.status_code == 401

    async def test_right_passwords_are_not_limited(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        for _ in range(15):
            response = await client.post("/auth/login", json={"email": "ada@example.com", "password": PASSWORD})
            assert response.status_code == 200

    async def test_bad_input(self, client: AsyncClient) -> None:
        assert (await client.post("/auth/login", json={"email": "ada@example.com"})).status_code == 422
        assert (await client.post("/auth/login", json=[])).status_code == 422


class TestLogout:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.post("/auth/logout")).status_code == 401

    async def test_valid(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        first, second = await sign_in(client), await sign_in(client)
        assert (await client.post("/auth/logout", headers=first)).json() == {"success": True}
        assert (await client.get("/auth/me", headers=first)).status_code == 401
        assert (await client.get("/auth/me", headers=second)).status_code == 200


class TestMe:
    async def test_anonymous(self, client: AsyncClient) -> None:
        response = await client.get("/auth/me")
        assert response.status_code == 401
        assert response.headers["WWW-Authenticate"] == "Bearer"

    @pytest.mark.parametrize("form", ["Bearer {}", "bearer {}", "BEARER   {}", "{}"])
    async def test_valid(self, client: AsyncClient, org: OrgFixture, form: str) -> None:
        response = await client.get("/auth/me", headers={"Authorization": form.format(org.tokens["member"])})
        assert response.status_code == 200
        body = response.json()
        assert body["user"]["email"] == body["email"] == org.email("member")
        assert (body["role"], body["organization_id"], body["impersonated"]) == ("member", org.id, False)

    @pytest.mark.parametrize(
        "value",
        [b"Bearer", b"Bearer ", b"Bearer x", b"Basic YTpi", b"nonsense", b"Bearer " + b"x" * 5000, "\u00e9".encode()],
    )
    async def test_bad_token(self, client: AsyncClient, value: bytes) -> None:
        assert (await client.get("/auth/me", headers={b"Authorization": value})).status_code == 401

    async def test_by_key(self, client: AsyncClient, org: OrgFixture) -> None:
        body = (await client.get("/auth/me", headers=org.key_headers)).json()
        assert (body["user"], body["role"], body["organization_id"]) == (None, "admin", org.id)
        assert body["is_superuser"] is False

    async def test_expired(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            await session.execute(update(UserSession).values(expires_at=root.clock.now() - timedelta(seconds=1)))
        assert (await client.get("/auth/me", headers=org.owner_headers)).status_code == 401

    async def test_lives_72_hours_without_use(self, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        await sign_in(client)
        async with root.db.transaction() as session:
            expires_at = await session.scalar(select(UserSession.expires_at))
        assert expires_at is not None
        assert timedelta(hours=71) < expires_at - root.clock.now() <= timedelta(hours=72)


class TestLink:
    async def new_link(self, root: Root, org: OrgFixture) -> str:
        async with root.db.transaction() as session:
            return await service.create_sign_in_link(
                session, organization_id=org.id, user_id=org.user_ids["owner"], now=root.clock.now()
            )

    async def test_valid_once(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        token = await self.new_link(root, org)
        answers = await asyncio.gather(*(client.post("/auth/link", json={"token": token}) for _ in range(5)))
        assert sorted(a.status_code for a in answers) == [200, 401, 401, 401, 401]
        signed_in = next(a for a in answers if a.status_code == 200).json()
        assert signed_in["user"]["id"] == org.user_ids["owner"]
        assert (await client.get("/auth/me", headers=bearer(signed_in["token"]))).status_code == 200

    async def test_lives_24_hours(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            token = await service.create_sign_in_link(
                session,
                organization_id=org.id,
                user_id=org.user_ids["owner"],
                now=root.clock.now() - timedelta(hours=24, seconds=1),
            )
        response = await client.post("/auth/link", json={"token": token})
        assert (response.status_code, response.json()["code"]) == (401, "sign_in_link_refused")

    async def test_bad_input(self, client: AsyncClient) -> None:
        assert (await client.post("/auth/link", json={})).status_code == 422
        assert (await client.post("/auth/link", json={"token": "guess"})).status_code == 401

    async def test_guessing_is_limited(self, client: AsyncClient, root: Root) -> None:
        use_sign_in(root, StoppedClock(root.clock.now()))
        statuses = [(await client.post("/auth/link", json={"token": f"guess{n}"})).status_code for n in range(102)]
        assert statuses == [401] * 100 + [429] * 2


class TestLockOut:
    async def test_a_stranger_locks_out_only_his_own_network(
        self, app: FastAPI, client: AsyncClient, root: Root
    ) -> None:
        await make_account(root)
        async with client_at(app, "198.51.100.7") as stranger:
            for n in range(12):
                body = {"email": "ada@example.com", "password": f"guess number {n}"}
                last = await stranger.post("/auth/login", json=body)
            assert last.status_code == 429
        assert await sign_in(client)

    async def test_an_ipv6_subscriber_is_one_network(self, app: FastAPI, client: AsyncClient, root: Root) -> None:
        await make_account(root)
        statuses = []
        for n in range(12):
            async with client_at(app, f"2001:db8:5:5::{n + 1:x}") as stranger:
                body = {"email": "ada@example.com", "password": f"guess number {n}"}
                statuses.append((await stranger.post("/auth/login", json=body)).status_code)
        assert statuses[-2:] == [429, 429]


class TestAudit:
    async def test_signing_in_leaves_a_trace(self, client: AsyncClient, root: Root) -> None:
        user_id = await make_account(root)
        await sign_in(client)
        async with root.db.transaction() as session:
            entry = (await session.scalars(select(AuditEntry))).one()
        assert (entry.action, entry.actor_user_id, entry.ip) == ("user.logged_in", user_id, "127.0.0.1")

    async def test_failing_leaves_a_trace(self, client: AsyncClient, root: Root) -> None:
        user_id = await make_account(root)
        await client.post("/auth/login", json={"email": "ada@example.com", "password": "wrong password"})
        await client.post("/auth/login", json={"email": "nobody@example.com", "password": "wrong password"})
        await root.get(OrganizationServices).sign_in.finish()
        async with root.db.transaction() as session:
            entry = (await session.scalars(select(AuditEntry))).one()
        assert (entry.action, entry.target, entry.ip) == ("user.sign_in_failed", f"user:{user_id}", "127.0.0.1")
        assert entry.organization_id is not None
