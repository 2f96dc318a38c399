"""Sign-ins with a second factor or an identity provider, in the same moment as what they depend on."""

import asyncio

import pytest
from httpx2 import AsyncClient, Response

from offhook.orgs.caller import Caller
from offhook.orgs.identity_provider import repository as identity_providers
from offhook.orgs.identity_provider.errors import NotInvited
from offhook.orgs.identity_provider.id_tokens import Identity
from offhook.orgs.identity_provider.linking import LinkedMember, resolve_member
from offhook.orgs.people import members
from offhook.orgs.people import repository as people
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import PASSWORD, make_account, sign_in
from tests.orgs.authenticators import enroll, second_step
from tests.orgs.interleaving import after_hashing, run_after, until_it_waits
from tests.orgs.test_account import name_provider
from tests.orgs.test_members import MEMBERS, accept, invite, roles

EMAIL = "ann@new.example"


async def sign_in_by_provider(root: Root, org: OrgFixture) -> LinkedMember:
    async with root.db.transaction() as session:
        provider = await identity_providers.find_provider(session, org.id)
        assert provider is not None
        return await resolve_member(session, provider, Identity("1001", EMAIL, None), root.clock.now(), None)


async def test_a_sign_in_while_the_second_factor_is_turned_on_waits_for_it(
    client: AsyncClient, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    await make_account(root)
    here = await sign_in(client)
    signing_in: list[asyncio.Task[Response]] = []

    async def begin() -> None:
        body = {"email": "ada@example.com", "password": PASSWORD}
        signing_in.append(asyncio.create_task(client.post("/auth/login", json=body)))
        await until_it_waits(root, signing_in[0])

    # All other sessions have just been ended, and the factor is not committed yet.
    run_after(monkeypatch, people, "revoke_other_sessions", begin)
    app, _ = await enroll(client, here, root.clock)
    answer = await signing_in[0]
    assert set(answer.json()) == {"challenge", "expires_at"}
    assert (await second_step(client, answer.json()["challenge"], app.code(1))).status_code == 200


class TestProviders:
    async def test_an_account_that_a_provider_made_just_now_is_not_taken_over(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await name_provider(root, other_org.id, "new.example")
        await invite(client, other_org, EMAIL)
        token = (await invite(client, org, EMAIL))["token"]
        after_hashing(monkeypatch, lambda: sign_in_by_provider(root, other_org))
        status, body = await accept(client, token, password="chosen by the attacker")
        assert (status, body["code"]) == (409, "account_just_opened")
        assert EMAIL not in await roles(client, org)
        assert EMAIL in await roles(client, other_org)

    async def test_who_removes_the_inviter_and_who_joins_do_not_wait_for_each_other(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        await name_provider(root, org.id, "new.example")
        by_admin = {"email": EMAIL, "role": "member"}
        assert (await client.post(MEMBERS, json=by_admin, headers=org.headers_for("admin"))).status_code == 200
        owner = Caller(org.id, user_id=org.user_ids["owner"], key_id=None, role="owner", is_superuser=False)
        async with root.db.transaction() as session:
            await people.lock_organization(session, org.id)
            joining = asyncio.create_task(sign_in_by_provider(root, org))
            await until_it_waits(root, joining)
            await members.remove_member(session, owner, org.user_ids["admin"])
        with pytest.raises(NotInvited):
            await joining
