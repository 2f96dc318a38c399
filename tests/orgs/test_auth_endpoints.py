"""Signing up, in and out, and who I am."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from httpx2 import ASGITransport, AsyncClient
from sqlalchemy import select, update

from offhook.kit.clock import Clock
from offhook.orgs import service
from offhook.orgs.services import OrganizationServices
from offhook.orgs.sign_in.sign_in_service import SignIn
from offhook.orgs.tables import AuditEntry, User, UserSession
from offhook.root import Root
from tests.applications import lend_application
from tests.fixtures_orgs import OrgFixture
from tests.orgs.clocks import StoppedClock

PASSWORD = "correct horse battery"


async def sign_up(client: AsyncClient, email: str = "ada@example.com", **more: object) -> dict[str, Any]:
    response = await client.post("/auth/signup", json={"email": email, "password": PASSWORD, **more})
    assert response.status_code == 200, response.text
    made: dict[str, Any] = response.json()
    return made


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


class TestSignup:
    async def test_valid(self, client: AsyncClient) -> None:
        body = await sign_up(client, name="Ada", organization_name="Analytical")
        assert set(body) == {"token", "user"}
        assert body["user"] == {
            "id": body["user"]["id"],
            "email": "ada@example.com",
            "name": "Ada",
            "organization_id": body["user"]["organization_id"],
            "role": "owner",
            "is_superuser": False,
        }
        current = await client.get("/organizations/current", headers=bearer(body["token"]))
        assert current.json() == {"id": body["user"]["organization_id"], "name": "Analytical", "time_zone": "UTC"}

    async def test_email_taken_in_another_case(self, client: AsyncClient) -> None:
        await sign_up(client, "Ada@Example.com")
        response = await client.post("/auth/signup", json={"email": "aDA@example.COM", "password": PASSWORD})
        assert (response.status_code, response.json()["code"]) == (409, "email_taken")

    async def test_same_email_at_once(self, client: AsyncClient) -> None:
        body = {"email": "twin@example.com", "password": PASSWORD}
        answers = await asyncio.gather(*(client.post("/auth/signup", json=body) for _ in range(6)))
        assert sorted(answer.status_code for answer in answers) == [200, 409, 409, 409, 409, 409]

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("password", "1234567"),
            ("password", "x" * 1025),
            ("password", None),
            ("email", "ada"),
            ("email", "ada@@example.com"),
            ("email", "a" * 400 + "@example.com"),
            ("email", 5),
            ("name", ""),
            ("organization_name", "x" * 201),
        ],
    )
    async def test_bad_input(self, client: AsyncClient, field: str, value: object) -> None:
        body = {"email": "ada@example.com", "password": PASSWORD} | {field: value}
        response = await client.post("/auth/signup", json=body)
        assert response.status_code == 422
        assert response.json()["detail"][0]["loc"][:2] == ["body", field]
        assert PASSWORD not in response.text

    async def test_switched_off(self, root: Root) -> None:
        root.settings = root.settings.model_copy(update={"signup_enabled": False})
        closed = service_with_new_settings(root)
        async with closed as client:
            response = await client.post("/auth/signup", json={"email": "ada@example.com", "password": PASSWORD})
        assert (response.status_code, response.json()["code"]) == (403, "signup_disabled")

    async def test_only_a_slow_hash_is_stored(self, client: AsyncClient, root: Root) -> None:
        body = await sign_up(client)
        async with root.db.transaction() as session:
            password_hash = await session.scalar(select(User.password_hash))
            stored = await session.scalar(select(UserSession.token_sha256))
        assert password_hash is not None
        assert password_hash.startswith("$argon2id$v=19$m=19456,t=2,p=1$")
        assert body["token"].encode() not in (stored or b"")
        assert len(stored or b"") == 32


def use_sign_in(root: Root, clock: Clock) -> None:
    """Gives the process a sign-in of its own, with this clock and the root's settings of now."""
    sign_in = SignIn(root.db, clock, root.settings)
    root.provide(OrganizationServices, replace(root.get(OrganizationServices), sign_in=sign_in))


@asynccontextmanager
async def service_with_new_settings(root: Root) -> AsyncIterator[AsyncClient]:
    use_sign_in(root, root.clock)
    with lend_application(root) as app:
        async with AsyncClient(transport=ASGITransport(app=app), base_url="http://testserver/api/v1") as client:
            yield client


class TestLogin:
    async def test_valid(self, client: AsyncClient) -> None:
        made = await sign_up(client, "Ada@example.com")
        response = await client.post("/auth/login", json={"email": " ada@EXAMPLE.com ", "password": PASSWORD})
        assert response.status_code == 200
        assert response.json()["user"] == made["user"]
        assert response.json()["token"] != made["token"]

    async def test_wrong_password_and_unknown_email_look_the_same(self, client: AsyncClient) -> None:
        await sign_up(client)
        wrong = await client.post("/auth/login", json={"email": "ada@example.com", "password": "wrong password"})
        unknown = await client.post("/auth/login", json={"email": "bob@example.com", "password": PASSWORD})
        assert wrong.status_code == unknown.status_code == 401
        assert wrong.json() == unknown.json() == {"detail": "Invalid email or password.", "code": "invalid_credentials"}

    async def test_a_user_without_a_password_cannot(self, client: AsyncClient, org: OrgFixture) -> None:
        response = await client.post("/auth/login", json={"email": org.email("owner"), "password": PASSWORD})
        assert response.status_code == 401

    async def test_guessing_is_limited_per_account(self, client: AsyncClient, root: Root) -> None:
        use_sign_in(root, StoppedClock(root.clock.now()))
        await sign_up(client)
        guesses = [{"email": "ada@example.com", "password": f"guess number {n}"} for n in range(14)]
        answers = await asyncio.gather(*(client.post("/auth/login", json=guess) for guess in guesses))
        assert sorted(a.status_code for a in answers) == [401] * 10 + [429] * 4
        limited = next(a for a in answers if a.status_code == 429)
        assert int(limited.headers["Retry-After"]) >= 1
        assert limited.json()["code"] == "too_many_requests"
        other = await client.post("/auth/login", json={"email": "bob@example.com", "password": PASSWORD})
        assert other.status_code == 401

    async def test_right_passwords_are_not_limited(self, client: AsyncClient) -> None:
        await sign_up(client)
        for _ in range(15):
            response = await client.post("/auth/login", json={"email": "ada@example.com", "password": PASSWORD})
            assert response.status_code == 200

    async def test_bad_input(self, client: AsyncClient) -> None:
        assert (await client.post("/auth/login", json={"email": "ada@example.com"})).status_code == 422
        assert (await client.post("/auth/login", json=[])).status_code == 422


class TestLogout:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.post("/auth/logout")).status_code == 401

    async def test_valid(self, client: AsyncClient) -> None:
        first, second = (
            await sign_up(client),
            await client.post("/auth/login", json={"email": "ada@example.com", "password": PASSWORD}),
        )
        assert (await client.post("/auth/logout", headers=bearer(first["token"]))).json() == {"success": True}
        assert (await client.get("/auth/me", headers=bearer(first["token"]))).status_code == 401
        assert (await client.get("/auth/me", headers=bearer(second.json()["token"]))).status_code == 200


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

    async def test_lives_30_days(self, client: AsyncClient, root: Root) -> None:
        await sign_up(client)
        async with root.db.transaction() as session:
            expires_at = await session.scalar(select(UserSession.expires_at))
        assert expires_at is not None
        assert timedelta(days=29, hours=23) < expires_at - root.clock.now() <= timedelta(days=30)


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


class TestAudit:
    async def test_signing_in_leaves_a_trace(self, client: AsyncClient, root: Root) -> None:
        made = await sign_up(client)
        async with root.db.transaction() as session:
            entry = (await session.scalars(select(AuditEntry))).one()
        assert (entry.action, entry.actor_user_id, entry.ip) == ("user.signed_up", made["user"]["id"], "127.0.0.1")
