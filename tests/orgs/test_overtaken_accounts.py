"""What lets a person in changes between the check of a request and its write: the later one finds that out."""

import asyncio
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.orgs import service
from offhook.orgs.caller import Caller
from offhook.orgs.errors import AccountJustOpened, InvitationRefused, SignInLinkRefused, SuperuserOnly
from offhook.orgs.people import accounts, members
from offhook.orgs.people import repository as people
from offhook.orgs.people.superusers import revoke_superuser
from offhook.orgs.services import OrganizationServices
from offhook.orgs.sign_in import impersonation, signups
from offhook.orgs.sign_in.impersonation import ImpersonationTarget
from offhook.orgs.sign_in.passwords import PasswordService
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import PASSWORD, make_account, sign_in
from tests.orgs.authenticators import ACCOUNT, AuthenticatorApp, enroll, first_step
from tests.orgs.interleaving import after_admission, after_checking, after_hashing, until_it_waits
from tests.orgs.test_members import MEMBERS, accept, invite, roles

EMAIL = "ann@new.example"
ATTACKERS = "chosen by the attacker"
NEW = "another horse battery"


def bearer(joined: dict[str, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {joined['token']}"}


async def log_in(client: AsyncClient, password: str, email: str = EMAIL) -> int:
    return (await client.post("/auth/login", json={"email": email, "password": password})).status_code


async def make_unused_account(root: Root) -> None:
    """An account that opens nothing, as one of a removed member."""
    hashed = await PasswordService().hash_password("an old password")
    async with root.db.transaction() as session:
        await service.create_user(session, EMAIL, password_hash=hashed)


class TestTwoInvitations:
    """Organization ``org`` is the attacker's, ``other_org`` the one that the person wants to join."""

    @pytest.mark.parametrize("has_account", [True, False])
    async def test_the_account_is_of_who_came_first(
        self,
        client: AsyncClient,
        root: Root,
        org: OrgFixture,
        other_org: OrgFixture,
        monkeypatch: pytest.MonkeyPatch,
        has_account: bool,
    ) -> None:
        if has_account:
            await make_unused_account(root)
        attackers_link, link = [(await invite(client, which, EMAIL))["token"] for which in (org, other_org)]
        joined: list[dict[str, Any]] = []

        async def join() -> None:
            status, body = await accept(client, link, password=PASSWORD)
            assert status == 200
            joined.append(body)
            await enroll(client, bearer(body), root.clock)

        after_hashing(monkeypatch, join)
        status, refused = await accept(client, attackers_link, password=ATTACKERS)
        assert (status, refused["code"]) == (409, "account_just_opened")
        assert EMAIL not in await roles(client, org)
        assert await log_in(client, ATTACKERS) == 401
        me = await client.get("/auth/me", headers=bearer(joined[0]))
        assert me.status_code == 200
        # The second factor is asked for, and the refused link is not spent.
        assert await first_step(client, EMAIL)
        assert (await accept(client, attackers_link, bearer(joined[0])))[0] == 200

    async def test_at_the_service(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await make_unused_account(root)
        first, second = [(await invite(client, which, EMAIL))["token"] for which in (org, other_org)]
        sign_ins = root.get(OrganizationServices).sign_in

        async def join(token: str, password: str) -> int:
            result = await sign_ins.accept_invitation(token, password=password, name=None, caller=None, ip=None)
            return result.organization_id

        after_hashing(monkeypatch, lambda: join(second, PASSWORD))
        with pytest.raises(AccountJustOpened):
            await join(first, ATTACKERS)
        assert await join(first, PASSWORD) == org.id

    @pytest.mark.parametrize("has_account", [True, False])
    async def test_one_person_who_accepts_both_at_once_joins_both(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, has_account: bool
    ) -> None:
        if has_account:
            await make_unused_account(root)
        tokens = [(await invite(client, which, EMAIL))["token"] for which in (org, other_org)]
        answers = await asyncio.gather(*(accept(client, token, password=PASSWORD) for token in tokens))
        for token, (status, body) in zip(tokens, answers, strict=True):
            if status != 200:
                assert body["code"] in {"account_just_opened", "invalid_credentials"}
                assert (await accept(client, token, password=PASSWORD))[0] == 200
        assert await log_in(client, PASSWORD) == 200
        assert [(await roles(client, which))[EMAIL] for which in (org, other_org)] == ["member"] * 2


class TestInviteAcceptLeave:
    """An attacker goes in and out of their own organization until the person accepts another's invitation."""

    @pytest.fixture
    async def attacker(self, client: AsyncClient, org: OrgFixture) -> dict[str, str]:
        """The session of an attacker who accepted the invitation of their own organization."""
        return bearer((await accept(client, (await invite(client, org, EMAIL))["token"], password=ATTACKERS))[1])

    async def leave_to_the_person(self, client: AsyncClient, attacker: dict[str, str], link: str) -> None:
        me = (await client.get("/auth/me", headers=attacker)).json()["user"]["id"]
        assert (await client.delete(f"{MEMBERS}/{me}", headers=attacker)).status_code == 200
        assert (await accept(client, link, password=PASSWORD))[0] == 200

    @pytest.mark.parametrize("how", ["login", "password", "session"])
    async def test_nothing_under_way_opens_the_account(
        self,
        client: AsyncClient,
        attacker: dict[str, str],
        other_org: OrgFixture,
        monkeypatch: pytest.MonkeyPatch,
        how: str,
        root: Root,
    ) -> None:
        async with root.db.transaction() as session:
            third = await service.create_organization(session, "Initech")
            boss = await service.create_user(session, "boss@initech.example")
            await service.add_member(session, third, boss.id, "owner")
            token = await service.start_session(session, organization_id=third, user_id=boss.id, now=root.clock.now())
        invited = await client.post(MEMBERS, json={"email": EMAIL, "role": "member"}, headers=bearer({"token": token}))
        again, link = invited.json()["token"], (await invite(client, other_org, EMAIL))["token"]
        arrange = after_admission if how == "session" else after_checking
        arrange(monkeypatch, lambda: self.leave_to_the_person(client, attacker, link))
        if how == "login":
            assert await log_in(client, ATTACKERS) == 401
        elif how == "password":
            status, body = await accept(client, again, password=ATTACKERS)
            assert (status, body["code"]) == (401, "invalid_credentials")
        else:
            status, body = await accept(client, again, attacker)
            assert (status, body["code"]) == (401, "invalid_token")
        assert await log_in(client, PASSWORD) == 200


class TestWithdrawnInvitation:
    async def test_it_opens_nothing(
        self, client: AsyncClient, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        made = await invite(client, org, EMAIL)
        path = f"/organizations/invitations/{made['id']}"
        after_hashing(monkeypatch, lambda: client.delete(path, headers=org.owner_headers))
        status, body = await accept(client, made["token"], password=PASSWORD)
        assert (status, body["code"]) == (401, "invitation_refused")

    async def test_who_removes_the_inviter_and_who_accepts_do_not_wait_for_each_other(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        by_admin = {"email": EMAIL, "role": "member"}
        token = (await client.post(MEMBERS, json=by_admin, headers=org.headers_for("admin"))).json()["token"]
        owner = Caller(org.id, user_id=org.user_ids["owner"], key_id=None, role="owner", is_superuser=False)
        sign_ins = root.get(OrganizationServices).sign_in
        async with root.db.transaction() as session:
            await people.lock_organization(session, org.id)
            accepting = asyncio.create_task(
                sign_ins.accept_invitation(token, password=PASSWORD, name=None, caller=None, ip=None)
            )
            await until_it_waits(root, accepting)
            await members.remove_member(session, owner, org.user_ids["admin"])
        with pytest.raises(InvitationRefused):
            await accepting


class TestPasswordLinks:
    async def make_link(self, root: Root, user_id: int) -> str:
        async with root.db.transaction() as session:
            membership = await people.organizations_of(session, user_id)
            return await service.create_sign_in_link(
                session,
                organization_id=membership[0][0].id,
                user_id=user_id,
                now=root.clock.now(),
                sets_password=True,
            )

    async def test_of_many_at_once_one_sets_the_password(self, client: AsyncClient, root: Root) -> None:
        token = await self.make_link(root, await make_account(root))
        passwords = [f"{NEW} {number}" for number in range(5)]
        answers = await asyncio.gather(
            *(client.post("/auth/link", json={"token": token, "new_password": word}) for word in passwords)
        )
        assert sorted(answer.status_code for answer in answers) == [200] + [401] * 4
        opens = [await log_in(client, word, "ada@example.com") for word in passwords]
        assert opens == [answer.status_code for answer in answers]

    async def test_an_invitation_is_not_accepted_with_the_password_before(
        self, client: AsyncClient, root: Root, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        link = await self.make_link(root, await make_account(root))
        token = (await invite(client, org, "ada@example.com"))["token"]
        after_checking(monkeypatch, lambda: client.post("/auth/link", json={"token": link, "new_password": NEW}))
        status, body = await accept(client, token, password=PASSWORD)
        assert (status, body["code"]) == (401, "invalid_credentials")
        assert (await accept(client, token, password=NEW))[0] == 200

    async def test_a_new_password_ends_a_link_that_is_being_followed(self, client: AsyncClient, root: Root) -> None:
        user_id = await make_account(root)
        link = await self.make_link(root, user_id)
        sign_ins, now = root.get(OrganizationServices).sign_in, root.clock.now()
        async with root.db.transaction() as session:
            await people.lock_user(session, user_id)
            following = asyncio.create_task(sign_ins.follow_link(link, NEW, None))
            await until_it_waits(root, following)
            await accounts.replace_password(session, user_id, "none", keep_token="", now=now)
        with pytest.raises(SignInLinkRefused):
            await following

    async def test_a_first_password_ends_a_link_that_is_being_made(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        """A superuser opens no account that has a password, also not one that gets it right now."""
        boss = Caller(org.id, user_id=org.user_ids["owner"], key_id=None, role="owner", is_superuser=True)
        async with root.db.transaction() as session:
            made = await signups.create_personal_link(
                session, org.email("viewer"), root.clock.now(), sets_password=True, actor=boss
            )
            request = client.post("/auth/password", json={"new_password": PASSWORD}, headers=org.headers_for("viewer"))
            changing = asyncio.create_task(request)
            await until_it_waits(root, changing)
        assert (await changing).status_code == 200
        answer = await client.post("/auth/link", json={"token": made.token, "new_password": NEW})
        assert (answer.status_code, answer.json()["code"]) == (401, "sign_in_link_refused")


class TestFirstPassword:
    @pytest.mark.parametrize("session", ["the same", "another"])
    async def test_the_second_one_is_refused(
        self, client: AsyncClient, root: Root, org: OrgFixture, monkeypatch: pytest.MonkeyPatch, session: str
    ) -> None:
        here = other = org.owner_headers
        if session == "another":
            async with root.db.transaction() as database:
                token = await service.start_session(
                    database, organization_id=org.id, user_id=org.user_ids["owner"], now=root.clock.now()
                )
            other = bearer({"token": token})
        body = {"new_password": PASSWORD}
        after_hashing(monkeypatch, lambda: client.post("/auth/password", json=body, headers=other))
        answer = await client.post("/auth/password", json={"new_password": ATTACKERS}, headers=here)
        told = (403, "wrong_password") if session == "the same" else (401, "invalid_token")
        assert (answer.status_code, answer.json()["code"]) == told
        assert await log_in(client, PASSWORD, org.email("owner")) == 200

    async def test_a_session_that_ended_sets_none(
        self, client: AsyncClient, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        after_hashing(monkeypatch, lambda: client.post("/auth/logout", headers=org.owner_headers))
        answer = await client.post("/auth/password", json={"new_password": ATTACKERS}, headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
        assert await log_in(client, ATTACKERS, org.email("owner")) == 401


class TestEndedSessions:
    """A new password ends other sessions, also those whose request is under way."""

    async def replace(self, client: AsyncClient, headers: dict[str, str]) -> None:
        body = {"current_password": PASSWORD, "new_password": NEW}
        assert (await client.post("/auth/password", json=body, headers=headers)).status_code == 200

    @pytest.mark.parametrize("path", ["switch", "second-factor/confirmation", "second-factor/enrollment"])
    async def test_they_leave_nothing_behind(
        self, client: AsyncClient, root: Root, monkeypatch: pytest.MonkeyPatch, path: str
    ) -> None:
        await make_account(root)
        here, stolen = await sign_in(client), await sign_in(client)
        organization_id = (await client.get("/auth/me", headers=here)).json()["user"]["organization_id"]
        begun = await client.post(f"{ACCOUNT}/enrollment", json={"current_password": PASSWORD}, headers=stolen)
        bodies = {
            "switch": {"organization_id": organization_id},
            "second-factor/confirmation": {"code": AuthenticatorApp(begun.json()["uri"], root.clock).code()},
            "second-factor/enrollment": {"current_password": PASSWORD},
        }
        assert begun.status_code == 200
        # An enrollment proves the password first: it is overtaken after that.
        arrange = after_checking if path.endswith("enrollment") else after_admission
        arrange(monkeypatch, lambda: self.replace(client, here))
        answer = await client.post(f"/auth/{path}", json=bodies[path], headers=stolen)
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")

    @pytest.mark.parametrize("path", ["recovery-codes", "removal"])
    async def test_a_second_factor_stays(
        self, client: AsyncClient, root: Root, monkeypatch: pytest.MonkeyPatch, path: str
    ) -> None:
        await make_account(root)
        headers = await sign_in(client)
        _, codes = await enroll(client, headers, root.clock)
        after_admission(monkeypatch, lambda: client.post("/auth/logout", headers=headers))
        answer = await client.post(f"{ACCOUNT}/{path}", json={"code": codes[0]}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
        assert await first_step(client)

    async def test_the_account_is_not_deleted(
        self, client: AsyncClient, root: Root, org: OrgFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        token = (await invite(client, org, EMAIL))["token"]
        stolen = bearer((await accept(client, token, password=PASSWORD))[1])
        here = await sign_in(client, EMAIL)
        after_checking(monkeypatch, lambda: self.replace(client, here))
        body = {"email": EMAIL, "current_password": PASSWORD}
        answer = await client.post("/auth/account-deletion", json=body, headers=stolen)
        assert (answer.status_code, answer.json()["code"]) == (401, "invalid_token")
        assert await log_in(client, NEW) == 200

    async def test_a_sign_in_with_the_password_before_starts_none(
        self, client: AsyncClient, root: Root, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await make_account(root)
        here = await sign_in(client)
        after_checking(monkeypatch, lambda: self.replace(client, here))
        assert await log_in(client, PASSWORD, "ada@example.com") == 401


@pytest.mark.parametrize("path", ["login", "link", "switch", "password"])
async def test_who_closes_an_organization_and_who_signs_in_do_not_wait_for_each_other(
    client: AsyncClient, root: Root, path: str
) -> None:
    user_id = await make_account(root)
    here = await sign_in(client)
    link = await TestPasswordLinks().make_link(root, user_id)
    organization_id = (await client.get("/auth/me", headers=here)).json()["user"]["organization_id"]
    bodies = {
        "login": {"email": "ada@example.com", "password": PASSWORD},
        "link": {"token": link, "new_password": NEW},
        "switch": {"organization_id": organization_id},
        "password": {"current_password": PASSWORD, "new_password": NEW},
    }
    async with root.db.transaction() as session:
        await people.lock_organization(session, organization_id)
        request = asyncio.create_task(client.post(f"/auth/{path}", json=bodies[path], headers=here))
        await until_it_waits(root, request)
        await people.lock_user(session, user_id)
    assert (await request).status_code == 200


async def test_a_superuser_whose_access_ended_borrows_no_session(root: Root, org: OrgFixture) -> None:
    async with root.db.transaction() as session:
        await service.grant_superuser(session, org.email("owner"))
    boss = Caller(org.id, user_id=org.user_ids["owner"], key_id=None, role="owner", is_superuser=True)
    async with root.db.transaction() as session:
        await revoke_superuser(session, org.email("owner"), root.clock.now())
    target = ImpersonationTarget(None, org.user_ids["viewer"], None, None)
    async with root.db.transaction() as session:
        with pytest.raises(SuperuserOnly):
            await impersonation.start_impersonation(session, boss, target, root.clock.now())
