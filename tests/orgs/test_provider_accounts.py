"""Which account an identity opens, and what a session of a provider cannot reach."""

import pytest
from httpx2 import AsyncClient

from offhook.orgs import repository, service
from offhook.orgs.tables import Member, User
from offhook.root import Root
from offhook.settings import Settings
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import PASSWORD, make_account, sign_in
from tests.orgs.authenticators import enroll, second_step
from tests.orgs.identity_providers import (
    PROVIDER,
    ScriptedProvider,
    body_for,
    entries,
    provider,
    ready,
    session_by,
    set_up,
    sign,
    sign_in_by,
    told,
)
from tests.quick import first_quick

__all__ = ["provider", "ready"]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"egress_allow": "127.0.0.1/32, localhost"})


async def make_known(client: AsyncClient, root: Root, org: OrgFixture, email: str, role: str = "member") -> int:
    """A person with a password and an organization of their own, who is a member of ``org`` too; returns the user's id."""
    user_id = await make_account(root, email, organization_name="Their own")
    async with root.db.transaction() as session:
        await service.add_member(session, org.id, user_id, role)
    return user_id


class TestWhoGetsIn:
    async def test_the_link_stays_with_the_subject(
        self, client: AsyncClient, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        assert (await sign_in_by(client, ready)).status_code == 200
        # The provider gave the person another address, and the old address to somebody else.
        ready.claims = {"sub": "1001", "email": "renamed@acme.example"}
        assert (await sign_in_by(client, ready)).json()["user"]["id"] == org.user_ids["member"]
        ready.claims = {"sub": "2002", "email": "member@acme.example"}
        assert told(await sign_in_by(client, ready)) == (403, "account_linked_differently")

    async def test_addresses_count_only_when_confirmed(self, client: AsyncClient, ready: ScriptedProvider) -> None:
        ready.change = lambda claims: {**claims, "email_verified": False}
        assert told(await sign_in_by(client, ready)) == (403, "email_not_verified")

    @pytest.mark.parametrize(
        "email", ["boss@globex.example", "boss@sub.acme.example", "boss@acme.example.evil.example"]
    )
    async def test_other_domains_stay_out(self, client: AsyncClient, ready: ScriptedProvider, email: str) -> None:
        ready.claims = {"sub": "1", "email": email}
        assert told(await sign_in_by(client, ready)) == (403, "email_domain_not_allowed")

    @pytest.mark.parametrize(
        "email", first_quick(["a@b@acme.example", "", "x", "@acme.example", "a\0@acme.example", "a " * 400])
    )
    async def test_damaged_addresses_stay_out(self, client: AsyncClient, ready: ScriptedProvider, email: str) -> None:
        ready.claims = {"sub": "1", "email": email}
        assert told(await sign_in_by(client, ready)) == (403, "email_not_verified")

    async def test_strangers_join_where_the_owner_said_so(
        self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        ready.claims = {"sub": "3003", "email": "new@acme.example", "name": "New"}
        assert told(await sign_in_by(client, ready)) == (403, "not_invited")
        await set_up(client, org, ready.issuer, joins_as="viewer")
        answer = await sign_in_by(client, ready)
        assert (answer.json()["user"]["role"], answer.json()["user"]["name"]) == ("viewer", "New")
        [joined] = await entries(root, "member.joined")
        assert joined.data == {"by": "identity provider", "role": "viewer", "invitation_id": None}

    async def test_an_invitation_gives_its_role(
        self, client: AsyncClient, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        body = {"email": "New@acme.example", "role": "admin"}
        invited = await client.post("/organizations/members", json=body, headers=org.owner_headers)
        ready.claims = {"sub": "3003", "email": "new@acme.example"}
        assert (await sign_in_by(client, ready)).json()["user"]["role"] == "admin"
        spent = await client.post("/auth/invitations/look", json={"token": invited.json()["token"]})
        assert told(spent) == (401, "invitation_refused")

    async def test_a_removed_member_stays_removed(
        self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        await set_up(client, org, ready.issuer, joins_as="member")
        headers = await session_by(client, ready)
        removed = await client.delete(f"/organizations/members/{org.user_ids['member']}", headers=org.owner_headers)
        assert removed.status_code == 200
        assert (await client.get("/auth/me", headers=headers)).status_code == 401
        assert told(await sign_in_by(client, ready)) == (403, "account_elsewhere")


class TestTakeover:
    """An owner runs a provider that says whatever they want."""

    async def test_accounts_of_others_are_not_linked(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, provider: ScriptedProvider
    ) -> None:
        await set_up(client, org, provider.issuer, email_domains=["globex.example"], joins_as="member")
        body = {"email": "owner@globex.example", "role": "member"}
        await client.post("/organizations/members", json=body, headers=org.owner_headers)
        provider.claims = {"sub": "1", "email": "owner@globex.example"}
        assert told(await sign_in_by(client, provider)) == (403, "account_elsewhere")
        async with root.db.transaction() as session:
            assert await session.get(Member, (org.id, other_org.user_ids["owner"])) is None

    async def test_superusers_are_not_impersonated(
        self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        headers = await session_by(client, ready)
        async with root.db.transaction() as session:
            await service.grant_superuser(session, org.email("member"))
        # neither by a new sign-in nor by a session from before
        assert told(await sign_in_by(client, ready)) == (403, "account_protected")
        assert told(await client.get("/superuser/workflow-runs", headers=headers)) == (403, "superuser_required")
        assert (await client.get("/auth/me", headers=headers)).json()["is_superuser"] is False

    async def test_the_session_opens_this_organization_only(
        self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        user_id = await make_known(client, root, org, "both@acme.example")
        ready.claims = {"sub": "1", "email": "both@acme.example"}
        headers = await session_by(client, ready)
        [membership] = (await client.get("/auth/organizations", headers=headers)).json()
        assert membership["id"] == org.id
        own = await sign_in(client, "both@acme.example")
        memberships = (await client.get("/auth/organizations", headers=own)).json()
        [other] = [row["id"] for row in memberships if row["id"] != org.id]
        for organization_id in (other, org.id):
            answer = await client.post("/auth/switch", json={"organization_id": organization_id}, headers=headers)
            assert told(answer) == (403, "provider_session_refused")
        async with root.db.transaction() as session:
            member = await session.get(Member, (org.id, user_id))
        assert member is not None
        assert member.role == "member"

    async def test_the_account_itself_is_out_of_reach(
        self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        await make_known(client, root, org, "both@acme.example")
        ready.claims = {"sub": "1", "email": "both@acme.example"}
        headers = await session_by(client, ready)
        own = await sign_in(client, "both@acme.example")
        for method, path, body in (
            ("POST", "/auth/password", {"new_password": "another battery", "current_password": PASSWORD}),
            ("POST", "/auth/second-factor/enrollment", {"current_password": PASSWORD}),
            ("POST", "/auth/second-factor/confirmation", {"code": "123456"}),
            ("POST", "/auth/second-factor/recovery-codes", {"code": "123456"}),
            ("POST", "/auth/second-factor/removal", {"code": "123456"}),
        ):
            answer = await client.request(method, path, json=body, headers=headers)
            assert told(answer) == (403, "provider_session_refused"), path
        ours = (await client.get("/auth/sessions", headers=headers)).json()
        assert {session["organization_id"] for session in ours} == {org.id}
        [theirs] = [
            session["id"]
            for session in (await client.get("/auth/sessions", headers=own)).json()
            if session["organization_id"] != org.id
        ]
        assert told(await client.delete(f"/auth/sessions/{theirs}", headers=headers)) == (404, "session_not_found")
        await sign_in(client, "both@acme.example")

    async def test_it_accepts_no_invitation_of_others(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        headers = await session_by(client, ready)
        body = {"email": org.email("member"), "role": "admin"}
        invited = await client.post("/organizations/members", json=body, headers=other_org.owner_headers)
        answer = await client.post("/auth/invitations/accept", json={"token": invited.json()["token"]}, headers=headers)
        assert told(answer) == (403, "provider_session_refused")

    async def test_only_owners_name_the_provider(
        self, client: AsyncClient, org: OrgFixture, provider: ScriptedProvider
    ) -> None:
        body = body_for(provider.issuer)
        assert (await client.put(PROVIDER, json=body)).status_code == 401
        assert told(await client.put(PROVIDER, json=body, headers=org.headers_for("admin"))) == (403, "owner_required")
        assert told(await client.put(PROVIDER, json=body, headers=org.key_headers)) == (403, "person_required")

    async def test_other_organizations_names_and_identities_stay_theirs(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        answer = await client.put(PROVIDER, json=body_for(ready.issuer), headers=other_org.owner_headers)
        assert told(answer) == (409, "sign_in_name_taken")
        await set_up(client, other_org, ready.issuer, sign_in_name="globex", email_domains=["acme.example"])
        await session_by(client, ready)
        # The same subject of the same issuer is nobody in the other organization.
        assert told(await sign_in_by(client, ready, "globex")) == (403, "account_elsewhere")
        path = f"/organizations/members/{org.user_ids['member']}/identity"
        assert told(await client.delete(path, headers=other_org.owner_headers)) == (404, "identity_not_found")

    async def test_a_second_factor_of_the_account_is_asked_for(
        self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        await make_known(client, root, org, "both@acme.example")
        own = await sign_in(client, "both@acme.example")
        app, _ = await enroll(client, own, root.clock)
        ready.claims = {"sub": "1", "email": "both@acme.example"}
        answer = await sign_in_by(client, ready)
        assert set(answer.json()) == {"challenge", "expires_at"}
        signed_in = await second_step(client, answer.json()["challenge"], app.code(1))
        headers = {"Authorization": f"Bearer {signed_in.json()['token']}"}
        assert (await client.get("/auth/me", headers=headers)).json()["is_provider_session"] is True
        answer = await client.post("/auth/switch", json={"organization_id": org.id}, headers=headers)
        assert told(answer) == (403, "provider_session_refused")


class TestDemand:
    async def test_members_get_in_by_the_provider_only(
        self, client: AsyncClient, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        await set_up(client, org, ready.issuer, is_required=True)
        for role in ("viewer", "member", "admin"):
            answer = await client.get("/organizations/context", headers=org.headers_for(role))
            assert told(answer) == (403, "provider_sign_in_required")
            me = (await client.get("/auth/me", headers=org.headers_for(role))).json()
            assert me["provider_sign_in_name"] == "acme"
        headers = await session_by(client, ready)
        assert (await client.get("/organizations/context", headers=headers)).status_code == 200
        assert (await client.get("/auth/me", headers=headers)).json()["provider_sign_in_name"] is None
        # Owners keep a door of their own: without it a broken provider would lock everybody out.
        assert (await client.get("/organizations/context", headers=org.owner_headers)).status_code == 200
        assert (await client.get("/workflow/fetch", headers=org.key_headers)).status_code == 200

    async def test_it_asks_for_the_second_factor_itself(
        self, client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
    ) -> None:
        await enroll(client, org.owner_headers, root.clock, password=None)
        due = {"due_at": root.clock.now().isoformat()}
        await client.put("/organizations/second-factor-demand", json=due, headers=org.owner_headers)
        headers = await session_by(client, ready)
        assert (await client.get("/organizations/context", headers=headers)).status_code == 200
        answer = await client.get("/organizations/context", headers=org.headers_for("member"))
        assert told(answer) == (403, "second_factor_required")


async def test_accounts_made_by_a_provider_have_no_password(
    client: AsyncClient, root: Root, org: OrgFixture, ready: ScriptedProvider
) -> None:
    await set_up(client, org, ready.issuer, joins_as="member")
    ready.claims = {"sub": "3003", "email": "new@acme.example"}
    ready.token = sign
    await session_by(client, ready)
    async with root.db.transaction() as session:
        user = await repository.user_by_email(session, "new@acme.example")
    assert isinstance(user, User)
    assert user.password_hash is None
    answer = await client.post("/auth/login", json={"email": "new@acme.example", "password": "anything at all"})
    assert told(answer) == (401, "invalid_credentials")
