"""A person deletes their account: what ends with it, what stays, and who cannot."""

import asyncio

import pytest
from httpx2 import AsyncClient
from sqlalchemy import func, select, update

from offhook.orgs import service
from offhook.orgs.tables import AuditEntry, Member, User
from offhook.root import Root
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture, borrow_session
from tests.orgs.accounts import PASSWORD, make_account, sign_in
from tests.orgs.authenticators import enroll

Headers = dict[str, str]
PATH = "/auth/account-deletion"
ADDRESS = "bob@example.com"


async def join(root: Root, org: OrgFixture, role: str = "admin") -> int:
    """Bob, with a password, in the organization and in none of his own."""
    user_id = await make_account(root, ADDRESS)
    async with root.db.transaction() as session:
        for member in await session.scalars(select(Member).where(Member.user_id == user_id)):
            await session.delete(member)
        await service.add_member(session, org.id, user_id, role)
    return user_id


def confirm(**changes: str) -> dict[str, str]:
    return {"email": ADDRESS, "current_password": PASSWORD, **changes}


async def test_everything_of_the_person_ends(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    user_id = await join(root, org)
    headers, other = await sign_in(client, ADDRESS), await sign_in(client, ADDRESS)
    key = (await client.post("/organizations/api-keys", json={"name": "Mine"}, headers=headers)).json()["key"]
    answer = await client.post(PATH, json=confirm(email="BOB@example.com"), headers=headers)
    assert (answer.status_code, answer.json()) == (200, {"organizations": 1, "ended_keys": 1})
    for credential in (headers, other, {"X-API-Key": key}):
        assert (await client.get("/workflow/fetch", headers=credential)).status_code == 401
    again = await client.post("/auth/login", json={"email": ADDRESS, "password": PASSWORD})
    assert again.status_code == 401
    async with root.db.transaction() as session:
        assert await session.get(User, user_id) is None
        entry = await session.scalar(select(AuditEntry).where(AuditEntry.action == "account.deleted"))
        assert entry is not None
        assert (entry.organization_id, entry.actor_user_id, entry.target) == (org.id, user_id, f"user:{user_id}")
        assert (entry.ip, entry.data) == (None, {"role": "admin", "ended_keys": 1})


async def test_an_admin_does_not_bring_a_key_of_theirs_back(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    await join(root, org)
    headers = await sign_in(client, ADDRESS)
    made = (await client.post("/organizations/api-keys", json={"name": "Mine"}, headers=headers)).json()
    assert (await client.post(PATH, json=confirm(), headers=headers)).status_code == 200
    path = f"/organizations/api-keys/{made['id']}/reactivate"
    await client.put(path, headers=org.owner_headers)
    assert (await client.get("/workflow/fetch", headers={"X-API-Key": made["key"]})).status_code == 401


async def test_the_preview_names_what_ends_and_what_is_asked(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    await join(root, org)
    headers = await sign_in(client, ADDRESS)
    await client.post("/organizations/api-keys", json={"name": "Mine"}, headers=headers)
    name = (await client.get("/organizations/current", headers=headers)).json()["name"]
    acme = {"id": org.id, "name": name, "role": "admin", "is_only_owner": False, "api_keys": 1}
    preview = {"organizations": [acme], "needs_password": True, "needs_code": False, "refusal": None}
    assert (await client.get(PATH, headers=headers)).json() == preview
    await enroll(client, headers, root.clock)
    assert (await client.get(PATH, headers=headers)).json() == {**preview, "needs_code": True}


async def test_anonymous_keys_and_borrowed_sessions_are_refused(
    client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
) -> None:
    borrowed = await borrow_session(root, org, other_org.user_ids["owner"])
    body = {"email": org.email("owner")}
    assert (await client.post(PATH, json=body)).status_code == 401
    assert (await client.get(PATH)).status_code == 401
    for headers in (org.key_headers, borrowed):
        for answer in (await client.post(PATH, json=body, headers=headers), await client.get(PATH, headers=headers)):
            assert answer.status_code == 403, answer.text


@pytest.mark.parametrize(
    ("changes", "status", "code"),
    [
        ({"current_password": "something else"}, 403, "wrong_password"),
        ({"email": "ada@example.com"}, 422, "confirmation_wrong"),
        ({"email": ""}, 422, None),
    ],
)
async def test_a_wrong_confirmation_deletes_nothing(
    client: AsyncClient, root: Root, org: OrgFixture, changes: dict[str, str], status: int, code: str | None
) -> None:
    user_id = await join(root, org)
    answer = await client.post(PATH, json=confirm(**changes), headers=await sign_in(client, ADDRESS))
    assert answer.status_code == status, answer.text
    assert code is None or answer.json()["code"] == code
    async with root.db.transaction() as session:
        assert await session.get(User, user_id) is not None
        assert await session.scalar(select(func.count()).where(Member.user_id == user_id)) == 1


async def test_the_only_owner_stays_and_is_told_of_which(client: AsyncClient, root: Root) -> None:
    user_id = await make_account(root, ADDRESS, organization_name="Bakery")
    async with root.db.transaction() as session:
        await service.add_member(session, await service.create_organization(session, "Mill"), user_id, "owner")
    headers = await sign_in(client, ADDRESS)
    answer = await client.post(PATH, json=confirm(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "only_owner")
    assert "Bakery, Mill" in answer.text
    preview = (await client.get(PATH, headers=headers)).json()
    assert preview["refusal"] == "only_owner"
    assert [(one["name"], one["is_only_owner"]) for one in preview["organizations"]] == [
        ("Bakery", True),
        ("Mill", True),
    ]


async def test_of_the_last_two_owners_who_leave_at_once_one_stays(
    client: AsyncClient, root: Root, org: OrgFixture
) -> None:
    await join(root, org, "owner")
    both = [
        client.post(PATH, json=confirm(), headers=await sign_in(client, ADDRESS)),
        client.post(PATH, json={"email": org.email("owner")}, headers=org.owner_headers),
    ]
    answers = await asyncio.gather(*both)
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    async with root.db.transaction() as session:
        owners = select(func.count()).where(Member.organization_id == org.id, Member.role == "owner")
        assert await session.scalar(owners) == 1


async def test_the_same_request_twice_at_once_deletes_once(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    await join(root, org)
    headers = await sign_in(client, ADDRESS)
    answers = await asyncio.gather(*(client.post(PATH, json=confirm(), headers=headers) for _ in range(2)))
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses[0] == 200
    assert statuses[1] in (401, 404)
    async with root.db.transaction() as session:
        assert await session.scalar(select(func.count()).where(AuditEntry.action == "account.deleted")) == 1


async def test_a_second_factor_is_asked_for(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    await join(root, org)
    headers = await sign_in(client, ADDRESS)
    app, recovery_codes = await enroll(client, headers, root.clock)
    for body in (confirm(), confirm(code=app.wrong_code())):
        answer = await client.post(PATH, json=body, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "wrong_code")
    answer = await client.post(PATH, json=confirm(code=recovery_codes[0]), headers=headers)
    assert answer.status_code == 200, answer.text


async def test_a_superuser_ends_that_access_first(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    user_id = await join(root, org)
    async with root.db.transaction() as session:
        await session.execute(update(User).where(User.id == user_id).values(is_superuser=True))
    headers = await sign_in(client, ADDRESS)
    answer = await client.post(PATH, json=confirm(), headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (409, "superuser_account")
    assert (await client.get(PATH, headers=headers)).json()["refusal"] == "superuser_account"


class TestWithoutPasswordAndSecondFactor:
    """A sign-in of the last minutes is the proof: a browser that was left open is none."""

    async def begin(self, root: Root, org: OrgFixture) -> tuple[int, Headers]:
        """Bob, who followed a link, and his session."""
        async with root.db.transaction() as session:
            user = await service.create_user(session, ADDRESS)
            await service.add_member(session, org.id, user.id, "member")
            token = await service.start_session(session, organization_id=org.id, user_id=user.id, now=root.clock.now())
        return user.id, {"Authorization": f"Bearer {token}"}

    async def test_a_fresh_sign_in_is_the_proof(
        self, client: AsyncClient, root: Root, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        _, headers = await self.begin(root, org)
        shifted_clock.advance(minutes=9)
        assert (await client.get(PATH, headers=headers)).json()["refusal"] is None
        assert (await client.post(PATH, json={"email": ADDRESS}, headers=headers)).status_code == 200

    async def test_an_older_one_is_refused(
        self, client: AsyncClient, root: Root, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        user_id, headers = await self.begin(root, org)
        shifted_clock.advance(minutes=11)
        assert (await client.get(PATH, headers=headers)).json()["refusal"] == "fresh_sign_in_needed"
        answer = await client.post(PATH, json={"email": ADDRESS}, headers=headers)
        assert (answer.status_code, answer.json()["code"]) == (403, "fresh_sign_in_needed")
        async with root.db.transaction() as session:
            assert await session.get(User, user_id) is not None

    async def test_a_session_out_of_an_older_one_is_as_old(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        _, headers = await self.begin(root, org)
        shifted_clock.advance(minutes=11)
        invited = await client.post("/organizations/members", json={"email": ADDRESS}, headers=other_org.owner_headers)
        token = invited.json()["token"]
        joined = await client.post("/auth/invitations/accept", json={"token": token}, headers=headers)
        switched = await client.post("/auth/switch", json={"organization_id": other_org.id}, headers=headers)
        for answer in (joined, switched):
            assert answer.status_code == 200, answer.text
            headers = {"Authorization": f"Bearer {answer.json()['token']}"}
            refused = await client.post(PATH, json={"email": ADDRESS}, headers=headers)
            assert (refused.status_code, refused.json()["code"]) == (403, "fresh_sign_in_needed")
