"""Members, their roles and the invitations by which they come."""

import asyncio
from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from httpx2 import AsyncClient
from sqlalchemy import update

from offhook.orgs import service
from offhook.orgs.sign_in.passwords import PasswordService
from offhook.orgs.tables import Invitation
from offhook.root import Root
from tests.fixtures_orgs import MakeOrg, OrgFixture
from tests.orgs.accounts import PASSWORD, make_account, sign_in

MEMBERS = "/organizations/members"
INVITATIONS = "/organizations/invitations"


async def invite(
    client: AsyncClient, org: OrgFixture, email: str = "ann@new.example", role: str = "member"
) -> dict[str, Any]:
    answer = await client.post(MEMBERS, json={"email": email, "role": role}, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    made: dict[str, Any] = answer.json()
    return made


async def accept(
    client: AsyncClient, token: str, headers: dict[str, str] | None = None, **body: object
) -> tuple[int, Any]:
    answer = await client.post("/auth/invitations/accept", json={"token": token, **body}, headers=headers or {})
    return answer.status_code, answer.json()


async def roles(client: AsyncClient, org: OrgFixture) -> dict[str, str]:
    members = (await client.get(MEMBERS, headers=org.owner_headers)).json()["members"]
    return {member["email"]: member["role"] for member in members}


async def actions(client: AsyncClient, org: OrgFixture) -> list[str]:
    answer = await client.get("/organizations/audit-log", headers=org.owner_headers)
    return [entry["action"] for entry in answer.json()["entries"]]


class TestWhoMay:
    @pytest.mark.parametrize(
        ("method", "path", "body"),
        [
            ("GET", MEMBERS, None),
            ("POST", MEMBERS, {"email": "a@b.example"}),
            ("PATCH", f"{MEMBERS}/1", {"role": "viewer"}),
            ("DELETE", f"{MEMBERS}/1", None),
            ("GET", INVITATIONS, None),
            ("DELETE", f"{INVITATIONS}/1", None),
        ],
    )
    async def test_admins_only(
        self, client: AsyncClient, org: OrgFixture, method: str, path: str, body: dict[str, Any] | None
    ) -> None:
        anonymous = await client.request(method, path, json=body)
        assert anonymous.status_code == 401
        path = path.replace("/members/1", f"/members/{org.user_ids['owner']}")
        for role in ("member", "viewer"):
            answer = await client.request(method, path, json=body, headers=org.headers_for(role))
            assert answer.status_code == 403, role

    async def test_other_organization(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        invitation = await invite(client, org)
        headers = other_org.owner_headers
        theirs = f"{MEMBERS}/{org.user_ids['member']}"
        answers = [
            await client.patch(theirs, json={"role": "viewer"}, headers=headers),
            await client.delete(theirs, headers=headers),
            await client.delete(f"{INVITATIONS}/{invitation['id']}", headers=headers),
        ]
        assert [a.status_code for a in answers] == [404] * 3
        assert (await client.get(INVITATIONS, headers=headers)).json() == {"invitations": []}

    @pytest.mark.parametrize("body", [{}, {"role": "king"}, {"role": None}, []])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, body: object) -> None:
        path = f"{MEMBERS}/{org.user_ids['member']}"
        assert (await client.patch(path, json=body, headers=org.owner_headers)).status_code == 422

    @pytest.mark.parametrize("body", [{}, {"email": "no address"}, {"email": "a@b.example", "role": "king"}])
    async def test_bad_invitation(self, client: AsyncClient, org: OrgFixture, body: dict[str, Any]) -> None:
        assert (await client.post(MEMBERS, json=body, headers=org.owner_headers)).status_code == 422


class TestRoles:
    async def test_change_holds_from_the_next_request_on(self, client: AsyncClient, org: OrgFixture) -> None:
        path = f"{MEMBERS}/{org.user_ids['viewer']}"
        assert (await client.get(MEMBERS, headers=org.headers_for("viewer"))).status_code == 403
        answer = await client.patch(path, json={"role": "admin"}, headers=org.headers_for("admin"))
        assert (answer.status_code, answer.json()["role"]) == (200, "admin")
        assert (await client.get(MEMBERS, headers=org.headers_for("viewer"))).status_code == 200
        await client.patch(path, json={"role": "admin"}, headers=org.headers_for("admin"))
        assert await actions(client, org) == ["member.role_changed"]

    async def test_only_owners_make_and_unmake_owners(self, client: AsyncClient, org: OrgFixture) -> None:
        headers = org.headers_for("admin")
        owner, member = f"{MEMBERS}/{org.user_ids['owner']}", f"{MEMBERS}/{org.user_ids['member']}"
        answers = [
            await client.patch(member, json={"role": "owner"}, headers=headers),
            await client.patch(owner, json={"role": "viewer"}, headers=headers),
            await client.delete(owner, headers=headers),
            await client.post(MEMBERS, json={"email": "x@y.example", "role": "owner"}, headers=headers),
        ]
        assert [(a.status_code, a.json()["code"]) for a in answers] == [(403, "owner_required")] * 4

    async def test_keys_make_no_members(self, client: AsyncClient, org: OrgFixture) -> None:
        answers = [
            await client.post(MEMBERS, json={"email": "x@y.example", "role": "admin"}, headers=org.key_headers),
            await client.patch(f"{MEMBERS}/{org.user_ids['viewer']}", json={"role": "admin"}, headers=org.key_headers),
            await client.post(f"{MEMBERS}/{org.user_ids['viewer']}/password-link", headers=org.key_headers),
        ]
        assert [(a.status_code, a.json()["code"]) for a in answers] == [(403, "person_required")] * 3

    async def test_the_last_owner_stays(self, client: AsyncClient, org: OrgFixture) -> None:
        path = f"{MEMBERS}/{org.user_ids['owner']}"
        answers = [
            await client.patch(path, json={"role": "admin"}, headers=org.owner_headers),
            await client.delete(path, headers=org.owner_headers),
        ]
        assert [(a.status_code, a.json()["code"]) for a in answers] == [(409, "last_owner")] * 2
        await client.patch(f"{MEMBERS}/{org.user_ids['admin']}", json={"role": "owner"}, headers=org.owner_headers)
        assert (await client.delete(path, headers=org.owner_headers)).status_code == 200
        assert (await client.get("/auth/me", headers=org.owner_headers)).status_code == 401

    async def test_of_two_owners_who_leave_at_once_one_stays(self, client: AsyncClient, org: OrgFixture) -> None:
        await client.patch(f"{MEMBERS}/{org.user_ids['admin']}", json={"role": "owner"}, headers=org.owner_headers)
        answers = await asyncio.gather(
            *(
                client.delete(f"{MEMBERS}/{org.user_ids[who]}", headers=org.headers_for(who))
                for who in ("owner", "admin")
            )
        )
        assert sorted(a.status_code for a in answers) == [200, 409]

    @pytest.mark.parametrize("role", ["viewer", "member", "admin"])
    async def test_anyone_may_leave(self, client: AsyncClient, org: OrgFixture, role: str) -> None:
        path = f"{MEMBERS}/{org.user_ids[role]}"
        assert (await client.delete(path, headers=org.headers_for(role))).json()["role"] == role
        assert (await client.get("/auth/me", headers=org.headers_for(role))).status_code == 401
        assert org.email(role) not in await roles(client, org)
        assert await actions(client, org) == ["member.left"]


class TestInvitations:
    async def test_a_new_person_joins(self, client: AsyncClient, org: OrgFixture) -> None:
        made = await invite(client, org, role="viewer")
        assert parse_qs(urlsplit(made["url"]).query) == {"token": [made["token"]]}
        listed = (await client.get(INVITATIONS, headers=org.owner_headers)).json()["invitations"]
        assert [entry["email"] for entry in listed] == ["ann@new.example"]
        assert made["token"] not in str(listed)
        look = (await client.post("/auth/invitations/look", json={"token": made["token"]})).json()
        assert (look["organization_name"], look["role"], look["has_account"]) == (org.name, "viewer", False)

        assert await accept(client, made["token"]) == (422, {"detail": "Choose a password of at least 8 characters.", "code": "password_missing"})  # fmt: skip
        status, joined = await accept(client, made["token"], password=PASSWORD, name="Ann")
        assert (status, joined["user"]["role"], joined["user"]["organization_id"]) == (200, "viewer", org.id)
        assert (await roles(client, org))["ann@new.example"] == "viewer"
        assert await actions(client, org) == ["member.joined", "invitation.created"]
        assert (await client.get(INVITATIONS, headers=org.owner_headers)).json() == {"invitations": []}
        login = await client.post("/auth/login", json={"email": "ann@new.example", "password": PASSWORD})
        assert login.status_code == 200

    async def test_a_link_works_once(self, client: AsyncClient, org: OrgFixture) -> None:
        token = (await invite(client, org))["token"]
        answers = await asyncio.gather(*(accept(client, token, password=PASSWORD) for _ in range(5)))
        assert min(status for status, _ in answers) == 200
        assert [status for status, _ in answers].count(200) == 1
        assert {body["code"] for status, body in answers if status != 200} <= {
            "invitation_refused", "email_taken", "invalid_credentials",
        }  # fmt: skip
        assert (await accept(client, token, password=PASSWORD))[1]["code"] == "invitation_refused"

    async def test_a_link_of_a_removed_admin_opens_nothing(self, client: AsyncClient, org: OrgFixture) -> None:
        by_admin = {"email": "sock@puppet.example", "role": "admin"}
        answer = await client.post(MEMBERS, json=by_admin, headers=org.headers_for("admin"))
        kept = await invite(client, org)
        (admin,) = [
            member["user_id"]
            for member in (await client.get(MEMBERS, headers=org.owner_headers)).json()["members"]
            if member["role"] == "admin"
        ]
        assert (await client.delete(f"{MEMBERS}/{admin}", headers=org.owner_headers)).status_code == 200
        status, refused = await accept(client, answer.json()["token"], password=PASSWORD)
        assert (status, refused["code"]) == (401, "invitation_refused")
        assert (await accept(client, kept["token"], password=PASSWORD))[0] == 200

    async def test_revoked_replaced_expired_and_unknown(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        revoked = await invite(client, org, "a@new.example")
        for _ in range(2):
            answer = await client.delete(f"{INVITATIONS}/{revoked['id']}", headers=org.owner_headers)
            assert (answer.status_code, answer.json()["revoked_at"] is None) == (200, False)
        replaced = await invite(client, org, "b@new.example")
        await invite(client, org, "B@new.example")
        expired = await invite(client, org, "c@new.example")
        async with root.db.transaction() as session:
            late = update(Invitation).where(Invitation.id == expired["id"])
            await session.execute(late.values(expires_at=root.clock.now() - timedelta(seconds=1)))
        for token in (revoked["token"], replaced["token"], expired["token"], "unknown"):
            status, body = await accept(client, token, password=PASSWORD)
            assert (status, body["code"]) == (401, "invitation_refused")
            assert (await client.post("/auth/invitations/look", json={"token": token})).status_code == 401
        listed = (await client.get(INVITATIONS, headers=org.owner_headers)).json()["invitations"]
        assert [entry["email"] for entry in listed] == ["B@new.example"]

    async def test_someone_with_an_account_joins_signed_in(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        token = (await invite(client, org, other_org.email("member"), role="admin"))["token"]
        wrong = await accept(client, token, other_org.headers_for("viewer"))
        assert (wrong[0], wrong[1]["code"]) == (403, "invitation_for_someone_else")
        by_key = await accept(client, token, other_org.key_headers)
        assert by_key[0] == 403

        status, joined = await accept(client, token, other_org.headers_for("member"))
        assert (status, joined["user"]["organization_id"], joined["user"]["role"]) == (200, org.id, "admin")
        assert (await roles(client, org))[other_org.email("member")] == "admin"

    async def test_someone_with_an_account_proves_it_by_password(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        await make_account(root, "bob@new.example")
        token = (await invite(client, org, "Bob@new.example"))["token"]
        assert (await accept(client, token))[1]["code"] == "invalid_credentials"
        assert (await accept(client, token, password="something else"))[1]["code"] == "invalid_credentials"
        status, joined = await accept(client, token, password=PASSWORD)
        assert (status, joined["user"]["email"]) == (200, "bob@new.example")

    async def test_a_member_is_not_invited_again(self, client: AsyncClient, org: OrgFixture) -> None:
        answer = await client.post(MEMBERS, json={"email": org.email("viewer").upper()}, headers=org.owner_headers)
        assert (answer.status_code, answer.json()["code"]) == (409, "already_member")

    async def test_one_who_joined_meanwhile(
        self, client: AsyncClient, root: Root, org: OrgFixture, make_org: MakeOrg
    ) -> None:
        third = await make_org("Initech")
        token = (await invite(client, org, third.email("owner")))["token"]
        async with root.db.transaction() as session:
            await service.add_member(session, org.id, third.user_ids["owner"], "viewer")
        status, body = await accept(client, token, third.owner_headers)
        assert (status, body["code"]) == (409, "already_member")


class TestKeysOfMembers:
    """Who loses the right to make keys loses the keys."""

    async def make_key(self, client: AsyncClient, org: OrgFixture, name: str) -> dict[str, str]:
        answer = await client.post("/organizations/api-keys", json={"name": name}, headers=org.headers_for("admin"))
        return {"X-API-Key": answer.json()["key"]}

    async def test_they_end_with_removal_and_are_named(self, client: AsyncClient, org: OrgFixture) -> None:
        keys = [await self.make_key(client, org, name) for name in ("CI", "Backup")]
        listed = (await client.get(MEMBERS, headers=org.owner_headers)).json()["members"]
        assert [m["api_keys"] for m in listed if m["role"] == "admin"] == [["CI", "Backup"]]
        removed = await client.delete(f"{MEMBERS}/{org.user_ids['admin']}", headers=org.owner_headers)
        assert removed.json()["ended_keys"] == ["Backup", "CI"]
        for key in keys:
            assert (await client.get("/auth/me", headers=key)).status_code == 401
        assert (await client.get("/auth/me", headers=org.key_headers)).status_code == 200
        log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
        assert log[0]["data"] == {"role": "admin", "ended_keys": ["Backup", "CI"]}

    async def test_they_end_with_demotion(self, client: AsyncClient, org: OrgFixture) -> None:
        key = await self.make_key(client, org, "CI")
        path = f"{MEMBERS}/{org.user_ids['admin']}"
        promoted = await client.patch(path, json={"role": "owner"}, headers=org.owner_headers)
        assert promoted.json()["ended_keys"] == []
        assert (await client.get("/auth/me", headers=key)).status_code == 200
        demoted = await client.patch(path, json={"role": "member"}, headers=org.owner_headers)
        assert (demoted.json()["ended_keys"], demoted.json()["api_keys"]) == (["CI"], [])
        assert (await client.get("/auth/me", headers=key)).status_code == 401

    async def test_a_key_of_one_who_is_gone_is_not_reactivated(self, client: AsyncClient, org: OrgFixture) -> None:
        key = await self.make_key(client, org, "CI")
        await client.delete(f"{MEMBERS}/{org.user_ids['admin']}", headers=org.owner_headers)
        listed = await client.get("/organizations/api-keys?include_archived=true", headers=org.owner_headers)
        (key_id,) = [row["id"] for row in listed.json()["api_keys"] if row["name"] == "CI"]
        for path in ("/organizations/api-keys", "/user/api-keys"):
            answer = await client.put(f"{path}/{key_id}/reactivate", headers=org.owner_headers)
            assert (answer.status_code, answer.json()["code"]) == (409, "api_key_maker_not_admin")
        assert (await client.get("/auth/me", headers=key)).status_code == 401


class TestDemotion:
    """What a person prepared while they had a higher role does not bring it back."""

    @pytest.mark.parametrize("how", ["demoted", "removed"])
    async def test_invitations_and_links_end(self, client: AsyncClient, org: OrgFixture, how: str) -> None:
        admin = org.headers_for("admin")
        invited = await client.post(MEMBERS, json={"email": "sock@puppet.example", "role": "admin"}, headers=admin)
        linked = await client.post(f"{MEMBERS}/{org.user_ids['viewer']}/password-link", headers=admin)
        path = f"{MEMBERS}/{org.user_ids['admin']}"
        if how == "demoted":
            changed = await client.patch(path, json={"role": "viewer"}, headers=org.owner_headers)
        else:
            changed = await client.delete(path, headers=org.owner_headers)
        assert changed.status_code == 200
        assert (await accept(client, invited.json()["token"], password=PASSWORD))[0] == 401
        body = {"token": linked.json()["token"], "new_password": PASSWORD}
        assert (await client.post("/auth/link", json=body)).status_code == 401

    async def test_a_promotion_ends_nothing(self, client: AsyncClient, org: OrgFixture) -> None:
        by_admin = {"email": "ann@new.example", "role": "member"}
        invited = await client.post(MEMBERS, json=by_admin, headers=org.headers_for("admin"))
        path = f"{MEMBERS}/{org.user_ids['admin']}"
        assert (await client.patch(path, json={"role": "owner"}, headers=org.owner_headers)).status_code == 200
        assert (await accept(client, invited.json()["token"], password=PASSWORD))[0] == 200


class TestPasswordLink:
    def path(self, org: OrgFixture, role: str) -> str:
        return f"{MEMBERS}/{org.user_ids[role]}/password-link"

    async def test_who_may(self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture) -> None:
        assert (await client.post(self.path(org, "viewer"))).status_code == 401
        for role in ("member", "viewer"):
            answer = await client.post(self.path(org, "viewer"), headers=org.headers_for(role))
            assert answer.status_code == 403
        elsewhere = await client.post(self.path(org, "viewer"), headers=other_org.owner_headers)
        assert (elsewhere.status_code, elsewhere.json()["code"]) == (404, "member_not_found")
        owners = await client.post(self.path(org, "owner"), headers=org.headers_for("admin"))
        assert (owners.status_code, owners.json()["code"]) == (403, "owner_required")

    async def test_valid(self, client: AsyncClient, org: OrgFixture) -> None:
        made = (await client.post(self.path(org, "viewer"), headers=org.headers_for("admin"))).json()
        assert made["url"] == f"http://testserver/sign-in?token={made['token']}"
        body = {"token": made["token"], "new_password": PASSWORD}
        assert (await client.post("/auth/link", json=body)).status_code == 200
        assert (await client.get("/auth/me", headers=org.headers_for("viewer"))).status_code == 401
        assert await sign_in(client, org.email("viewer"))
        assert (await client.post("/auth/link", json=body)).status_code == 401

    async def test_it_opens_no_other_organization(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        """An admin must not become somebody who is more than a member of theirs, now or later."""
        before = (await client.post(self.path(org, "viewer"), headers=org.owner_headers)).json()["token"]
        invitation = await invite(client, other_org, org.email("viewer"), role="admin")
        assert (await accept(client, invitation["token"], org.headers_for("viewer")))[0] == 200
        spent = await client.post("/auth/link", json={"token": before, "new_password": PASSWORD})
        assert spent.status_code == 401
        refused = await client.post(self.path(org, "viewer"), headers=org.owner_headers)
        assert (refused.status_code, refused.json()["code"]) == (409, "password_link_refused")


class TestSquatters:
    async def test_an_account_without_an_organization_does_not_hold_an_address(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        squatters = await PasswordService().hash_password("the squatter's own")
        async with root.db.transaction() as session:
            await service.create_user(session, "newhire@victim.example", password_hash=squatters)
        token = (await invite(client, org, "newhire@victim.example"))["token"]
        status, _ = await accept(client, token, password=PASSWORD)
        assert status == 200
        assert await sign_in(client, "newhire@victim.example")
        body = {"email": "newhire@victim.example", "password": "the squatter's own"}
        assert (await client.post("/auth/login", json=body)).status_code == 401

    async def test_an_invitation_does_not_open_a_superuser(
        self, client: AsyncClient, root: Root, org: OrgFixture
    ) -> None:
        """Even one who belongs to no organization: who holds the link must not become the superuser."""
        hashed = await PasswordService().hash_password(PASSWORD)
        async with root.db.transaction() as session:
            await service.create_user(session, "boss@hq.example", password_hash=hashed)
            await service.grant_superuser(session, "boss@hq.example")
        token = (await invite(client, org, "boss@hq.example"))["token"]
        look = (await client.post("/auth/invitations/look", json={"token": token})).json()
        assert look["has_account"] is True
        assert (await accept(client, token, password="chosen by the inviter"))[0] == 401
        assert (await accept(client, token, password=PASSWORD))[0] == 200
