"""Signing in with an organization's identity provider, and what a hostile provider or browser tries on the way."""

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import httpx2
import oidc_provider_mock
import pytest
from httpx2 import AsyncClient
from sqlalchemy import select

from offhook.orgs.identity_provider.provider_sign_in import MAX_ATTEMPTS
from offhook.orgs.tables import IdentityProvider, ProviderSignInAttempt
from offhook.orgs.tasks import delete_expired_credentials
from offhook.root import Root
from offhook.settings import Settings
from tests.fakes.clock import ShiftedClock
from tests.fakes.web import Reply
from tests.fixtures_orgs import OrgFixture
from tests.orgs.identity_providers import (
    ScriptedProvider,
    entries,
    finish,
    provider,
    ready,
    set_up,
    sign_in_by,
    start,
    told,
)

__all__ = ["provider", "ready"]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"egress_allow": "127.0.0.1/32, localhost"})


class TestPackagedProvider:
    """A server of others (the package oidc-provider-mock): discovery, keys, code and a token that it signs with RS256."""

    @pytest.fixture
    def server_port(self) -> Iterator[int]:
        claims = {"email": "member@acme.example", "email_verified": True, "name": "Ann"}
        user = oidc_provider_mock.User(sub="ann", claims=claims)
        with oidc_provider_mock.run_server_in_thread(require_nonce=True, user_claims=[user]) as server:
            yield server.server_port

    async def test_signs_in(self, client: AsyncClient, root: Root, org: OrgFixture, server_port: int) -> None:
        await set_up(client, org, f"http://localhost:{server_port}")
        url, secret = await start(client)
        async with httpx2.AsyncClient() as browser:
            answer = await browser.post(url, data={"sub": "ann"})
        assert answer.status_code == 302, answer.text
        brought = urlsplit(answer.headers["location"])
        assert brought.path == "/sign-in/callback"
        query = {name: values[0] for name, values in parse_qs(brought.query).items()}
        signed_in = await finish(client, query["code"], query["state"], secret)
        assert signed_in.status_code == 200, signed_in.text
        assert signed_in.json()["user"]["id"] == org.user_ids["member"]
        headers = {"Authorization": f"Bearer {signed_in.json()['token']}"}
        me = (await client.get("/auth/me", headers=headers)).json()
        assert (me["email"], me["role"], me["is_provider_session"]) == ("member@acme.example", "member", True)
        [linked] = await entries(root, "identity.linked")
        assert linked.target == f"user:{org.user_ids['member']}"
        assert len(await entries(root, "user.signed_in_by_provider")) == 1


class TestFlow:
    async def test_the_request_is_bound_to_the_browser(self, client: AsyncClient, ready: ScriptedProvider) -> None:
        url, secret = await start(client)
        ready.open(url)
        assert url.startswith(f"{ready.issuer}/authorization_endpoint?")
        assert ready.asked["response_type"] == "code"
        assert ready.asked["code_challenge_method"] == "S256"
        assert ready.asked["redirect_uri"] == "http://testserver/sign-in/callback"
        assert "openid" in ready.asked["scope"]
        assert secret not in url

    async def test_an_answer_in_another_browser_opens_nothing(
        self, client: AsyncClient, ready: ScriptedProvider
    ) -> None:
        url, _ = await start(client)
        code, state = ready.open(url)
        _, others = await start(client)
        assert told(await finish(client, code, state, others)) == (401, "provider_sign_in_refused")
        assert ready.redeemed == []

    async def test_an_answer_counts_once(self, client: AsyncClient, ready: ScriptedProvider) -> None:
        url, secret = await start(client)
        code, state = ready.open(url)
        assert (await finish(client, code, state, secret)).status_code == 200
        assert told(await finish(client, code, state, secret)) == (401, "provider_sign_in_refused")

    async def test_a_code_that_was_redeemed_opens_nothing(
        self, client: AsyncClient, root: Root, ready: ScriptedProvider
    ) -> None:
        await sign_in_by(client, ready)
        url, secret = await start(client)
        code, state = ready.open(url)
        answer = await finish(client, code, state, secret)
        assert told(answer) == (422, "identity_provider_unusable")
        assert "invalid_grant" in answer.json()["detail"]
        [entry] = await entries(root, "user.sign_in_failed")
        assert entry.data == {"by": "identity provider", "reason": "identity_provider_unusable"}

    async def test_a_code_of_another_sign_in_fails_at_the_nonce(
        self, client: AsyncClient, ready: ScriptedProvider
    ) -> None:
        victims_url, _ = await start(client)
        ready.open(victims_url)
        nonce = ready.asked["nonce"]
        ready.change = lambda claims: {**claims, "nonce": nonce}
        answer = await sign_in_by(client, ready)
        assert told(answer) == (401, "identity_refused")

    async def test_it_ends_after_ten_minutes(
        self, client: AsyncClient, root: Root, ready: ScriptedProvider, shifted_clock: ShiftedClock
    ) -> None:
        url, secret = await start(client)
        code, state = ready.open(url)
        shifted_clock.advance(minutes=10)
        assert told(await finish(client, code, state, secret)) == (401, "provider_sign_in_refused")
        await delete_expired_credentials(root.db, root.clock, {})
        async with root.db.transaction() as session:
            assert (await session.scalars(select(ProviderSignInAttempt))).all() == []

    async def test_a_provider_that_was_replaced_lets_nobody_in(
        self, client: AsyncClient, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        url, secret = await start(client)
        code, state = ready.open(url)
        await set_up(client, org, ready.issuer, client_id="another")
        assert told(await finish(client, code, state, secret)) == (401, "provider_sign_in_refused")

    @pytest.mark.parametrize("announced", [False, True])
    async def test_another_providers_answer_is_not_taken_there(
        self, client: AsyncClient, ready: ScriptedProvider, announced: bool
    ) -> None:
        ready.metadata = {"authorization_response_iss_parameter_supported": announced}
        url, secret = await start(client)
        code, state = ready.open(url)
        more = {} if announced else {"iss": "https://evil.example"}
        assert told(await finish(client, code, state, secret, **more)) == (401, "identity_refused")
        assert ready.redeemed == []
        url, secret = await start(client)
        code, state = ready.open(url)
        assert (await finish(client, code, state, secret, iss=ready.issuer)).status_code == 200

    async def test_the_page_goes_nowhere_but_to_a_provider(
        self, client: AsyncClient, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        for address in ("javascript:alert(1)", "http://evil.example/", "https://u:p@evil.example", "//evil", 7, None):
            ready.metadata = {"authorization_endpoint": address}
            answer = await client.post("/auth/provider/start", json={"sign_in_name": "acme"})
            assert told(answer) == (422, "identity_provider_unusable"), address

    async def test_the_redirect_comes_from_here_alone(self, client: AsyncClient, ready: ScriptedProvider) -> None:
        answer = await client.post(
            "/auth/provider/start",
            json={"sign_in_name": "acme", "redirect_uri": "https://evil.example", "next": "https://evil.example"},
            headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"},
        )
        ready.open(answer.json()["authorization_url"])
        assert ready.asked["redirect_uri"] == "http://testserver/sign-in/callback"
        assert "evil" not in answer.text

    async def test_addresses_of_the_inside_are_not_asked(
        self, client: AsyncClient, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        for address in ("https://169.254.169.254/latest", "https://10.0.0.1/jwks", "https://[::1]/"):
            ready.metadata = {"jwks_uri": address}
            answer = await sign_in_by(client, ready)
            assert told(answer) == (422, "identity_provider_unusable"), address

    async def test_a_redirect_of_the_provider_is_not_followed(
        self, client: AsyncClient, ready: ScriptedProvider
    ) -> None:
        assert ready.server is not None
        ready.server.answers = lambda _: Reply(302, headers={"location": "https://169.254.169.254/"})
        answer = await client.post("/auth/provider/start", json={"sign_in_name": "acme"})
        assert told(answer) == (422, "identity_provider_unusable")

    async def test_a_name_that_nobody_has(self, client: AsyncClient, ready: ScriptedProvider) -> None:
        answer = await client.post("/auth/provider/start", json={"sign_in_name": "initech"})
        assert told(answer) == (404, "identity_provider_not_found")
        for body in ({}, {"sign_in_name": ""}, {"sign_in_name": 1}):
            assert (await client.post("/auth/provider/start", json=body)).status_code == 422

    async def test_strangers_exhaust_their_own_network_only(self, client: AsyncClient, ready: ScriptedProvider) -> None:
        async def try_from(address: str) -> int:
            answer = await client.post(
                "/auth/provider/start", json={"sign_in_name": "initech"}, headers={"X-Forwarded-For": address}
            )
            return answer.status_code

        assert [await try_from("198.51.100.7") for _ in range(MAX_ATTEMPTS + 1)] == [404] * MAX_ATTEMPTS + [429]
        assert await try_from("198.51.100.8") == 404

    async def test_the_secret_at_rest_is_sealed(self, root: Root, org: OrgFixture, ready: ScriptedProvider) -> None:
        async with root.db.transaction() as session:
            stored = await session.get(IdentityProvider, org.id)
        assert stored is not None
        assert stored.sealed_secret is not None
        assert b"s3cret" not in stored.sealed_secret
