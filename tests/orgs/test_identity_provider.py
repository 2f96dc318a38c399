"""Setting an identity provider up, changing and removing it."""

from datetime import timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.root import Root
from offhook.settings import Settings
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.orgs.identity_providers import (
    PROVIDER,
    ScriptedProvider,
    body_for,
    entries,
    provider,
    ready,
    scripted_provider,
    session_by,
    set_up,
    sign_in_by,
    told,
)

__all__ = ["provider", "ready"]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"egress_allow": "127.0.0.1/32, localhost"})


class TestSetup:
    async def test_is_read_back_without_the_secret(
        self, client: AsyncClient, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        state = (await client.get(PROVIDER, headers=org.headers_for("admin"))).json()
        assert state["redirect_uri"] == "http://testserver/sign-in/callback"
        provider = state["provider"]
        assert provider.pop("updated_at")
        expected = {**body_for(ready.issuer), "has_client_secret": True, "joins_as": None, "is_required": False}
        del expected["client_secret"]
        assert provider == expected
        assert "s3cret" not in str(state)

    async def test_the_secret_goes_to_no_other_issuer(
        self, client: AsyncClient, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        await set_up(client, org, ready.issuer, client_secret=None, email_domains=["Acme.example", "@acme.example"])
        assert (await sign_in_by(client, ready)).status_code == 200
        async with scripted_provider() as another:
            body = body_for(another.issuer, client_secret=None)
            answer = await client.put(PROVIDER, json=body, headers=org.owner_headers)
            assert told(answer) == (422, "client_secret_missing")

    async def test_another_issuer_ends_what_the_old_one_opened(
        self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        headers = await session_by(client, ready)
        async with scripted_provider() as another:
            await set_up(client, org, another.issuer)
            assert (await client.get("/auth/me", headers=headers)).status_code == 401
            assert (await client.get("/auth/me", headers=org.headers_for("member"))).status_code == 200
            another.claims = {"sub": "other", "email": org.email("member")}
            assert (await sign_in_by(client, another)).status_code == 200
        saved = await entries(root, "identity_provider.saved")
        assert saved[-1].data["sessions_ended"] == 1
        assert "client_secret" not in saved[-1].data

    async def test_removal(self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider) -> None:
        await set_up(client, org, ready.issuer, is_required=True)
        headers = await session_by(client, ready)
        assert told(await client.delete(PROVIDER, headers=org.headers_for("admin")))[0] == 403
        assert (await client.delete(PROVIDER, headers=org.owner_headers)).status_code == 200
        assert (await client.get("/auth/me", headers=headers)).status_code == 401
        assert (await client.get("/organizations/context", headers=org.headers_for("member"))).status_code == 200
        assert told(await client.delete(PROVIDER, headers=org.owner_headers)) == (404, "identity_provider_not_found")
        assert (await client.get(PROVIDER, headers=org.owner_headers)).json()["provider"] is None

    async def test_unlinking_a_member(
        self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        headers = await session_by(client, ready)
        members = (await client.get("/organizations/members", headers=org.owner_headers)).json()["members"]
        assert [member["role"] for member in members if member["has_identity"]] == ["member"]
        path = f"/organizations/members/{org.user_ids['member']}/identity"
        assert (await client.delete(path)).status_code == 401
        assert told(await client.delete(path, headers=org.headers_for("admin"))) == (403, "owner_required")
        assert (await client.delete(path, headers=org.owner_headers)).status_code == 200
        assert (await client.get("/auth/me", headers=headers)).status_code == 401
        ready.claims = {"sub": "2002", "email": "member@acme.example"}
        assert (await sign_in_by(client, ready)).status_code == 200
        assert len(await entries(root, "identity.unlinked")) == 1

    @pytest.mark.parametrize(
        "changes",
        [
            {"sign_in_name": "no spaces"},
            {"sign_in_name": "-"},
            {"sign_in_name": "x" * 64},
            {"issuer": ""},
            {"issuer": "http://id.example"},
            {"issuer": "ftp://id.example"},
            {"issuer": "https://id.example/?x=1"},
            {"issuer": "https://id.example/#x"},
            {"issuer": "https://user:pass@id.example"},
            {"issuer": "https://[bad"},
            {"issuer": "https://10.0.0.1"},
            {"issuer": "https://nowhere.invalid"},
            {"client_id": ""},
            {"client_id": "a b"},
            {"client_secret": 7},
            {"email_domains": []},
            {"email_domains": ["not a domain"]},
            {"email_domains": ["a.example"] * 51},
            {"joins_as": "owner"},
            {"is_required": None},
            {"more": 1},
        ],
    )
    async def test_bad_input(
        self, client: AsyncClient, org: OrgFixture, provider: ScriptedProvider, changes: dict[str, Any]
    ) -> None:
        answer = await client.put(PROVIDER, json={**body_for(provider.issuer), **changes}, headers=org.owner_headers)
        assert answer.status_code == 422, answer.text
        assert (await client.get(PROVIDER, headers=org.owner_headers)).json()["provider"] is None

    async def test_a_provider_that_is_somebody_else(
        self, client: AsyncClient, org: OrgFixture, provider: ScriptedProvider
    ) -> None:
        provider.metadata = {"issuer": "https://id.acme.example"}
        answer = await client.put(PROVIDER, json=body_for(provider.issuer), headers=org.owner_headers)
        assert told(answer) == (422, "identity_provider_unusable")
        assert "https://id.acme.example" in answer.json()["detail"]

    async def test_sessions_end_as_others_do(
        self, client: AsyncClient, ready: ScriptedProvider, shifted_clock: ShiftedClock
    ) -> None:
        headers = await session_by(client, ready)
        shifted_clock.advance(minutes=timedelta(hours=72) / timedelta(minutes=1))
        assert (await client.get("/auth/me", headers=headers)).status_code == 401
