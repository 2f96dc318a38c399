"""Organizations that demand two-step sign-in, and resets for people who lost theirs."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select

from offhook.orgs.errors import SecondFactorMissing, UserNotFound
from offhook.orgs.second_factor import administration
from offhook.orgs.tables import AuditEntry
from offhook.root import Root
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import MakeOrg, OrgFixture, borrow_session, sign_in_by_link
from tests.orgs.accounts import make_account, sign_in
from tests.orgs.authenticators import enroll, first_step

DEMAND = "/organizations/second-factor-demand"
DAY = 24 * 60.0


async def demand(client: AsyncClient, org: OrgFixture, due_at: datetime | None) -> Any:
    body = {"due_at": due_at.isoformat() if due_at else None}
    answer = await client.put(DEMAND, json=body, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


class TestDemand:
    async def test_after_the_grace_only_the_account_is_open(
        self, client: AsyncClient, root: Root, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        headers = org.headers_for("member")
        assert (await demand(client, org, root.clock.now() + timedelta(days=7)))["members_without"] == 4
        me = (await client.get("/auth/me", headers=headers)).json()
        assert me["second_factor_due_at"] is not None
        # A session ends when it is not used for three days.
        for _ in range(4):
            assert (await client.get("/organizations/context", headers=headers)).status_code == 200
            shifted_clock.advance(minutes=2 * DAY)
        for path in ("/organizations/context", "/workflow/fetch", "/organizations/members"):
            assert told(await client.get(path, headers=headers)) == (403, "second_factor_required")
        assert (await client.get("/auth/me", headers=headers)).status_code == 200
        assert (await client.get("/workflow/fetch", headers=org.key_headers)).status_code == 200
        # A first factor needs a sign-in of the last ten minutes.
        fresh = await sign_in_by_link(root, org, "member")
        await enroll(client, fresh, root.clock, password=None)
        assert (await client.get("/organizations/context", headers=fresh)).status_code == 200
        assert (await client.get("/auth/me", headers=fresh)).json()["second_factor_due_at"] is None

    async def test_members_are_shown_with_it(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await enroll(client, org.headers_for("viewer"), root.clock, password=None)
        members = (await client.get("/organizations/members", headers=org.owner_headers)).json()["members"]
        assert [member["role"] for member in members if member["has_second_factor"]] == ["viewer"]

    async def test_it_holds_for_admins_and_owners(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await demand(client, org, root.clock.now())
        for role in ("admin", "owner"):
            assert told(await client.get(DEMAND, headers=org.headers_for(role))) == (403, "second_factor_required")

    async def test_owners_turn_it_off_again(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await enroll(client, org.owner_headers, root.clock, password=None)
        await demand(client, org, root.clock.now())
        assert (await demand(client, org, None))["due_at"] is None
        assert (await client.get(DEMAND, headers=org.headers_for("admin"))).json()["due_at"] is None

    async def test_other_organizations_of_a_member_stay_open(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture
    ) -> None:
        await enroll(client, org.owner_headers, root.clock, password=None)
        await demand(client, org, root.clock.now())
        assert (await client.get("/organizations/context", headers=other_org.owner_headers)).status_code == 200
        borrowed = await borrow_session(root, org, other_org.user_ids["owner"])
        assert (await client.get("/organizations/context", headers=borrowed)).status_code == 200

    @pytest.mark.parametrize("due_at", ["soon", {}, "2026-11-24T12:00:00", "2999-01-01T00:00:00Z", "missing"])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, due_at: object) -> None:
        body = {} if due_at == "missing" else {"due_at": due_at}
        assert (await client.put(DEMAND, json=body, headers=org.owner_headers)).status_code == 422

    async def test_admins_only(self, client: AsyncClient, org: OrgFixture) -> None:
        body = {"due_at": "2020-01-01T00:00:00Z"}
        assert (await client.put(DEMAND, json=body)).status_code == 401
        assert (await client.put(DEMAND, json=body, headers=org.headers_for("member"))).status_code == 403
        assert told(await client.put(DEMAND, json=body, headers=org.key_headers)) == (403, "person_required")


class TestReset:
    async def test_owners_do_it_for_their_own_people(
        self, client: AsyncClient, root: Root, org: OrgFixture, make_org: MakeOrg
    ) -> None:
        await enroll(client, org.headers_for("member"), root.clock, password=None)
        path = f"/organizations/members/{org.user_ids['member']}/second-factor"
        assert (await client.delete(path)).status_code == 401
        assert told(await client.delete(path, headers=org.headers_for("admin"))) == (403, "owner_required")
        stranger = await make_org("Initech")
        assert told(await client.delete(path, headers=stranger.owner_headers)) == (404, "member_not_found")
        assert (await client.delete(path, headers=org.owner_headers)).status_code == 200
        assert (await client.get("/auth/me", headers=org.headers_for("member"))).status_code == 401
        assert told(await client.delete(path, headers=org.owner_headers)) == (409, "second_factor_missing")
        async with root.db.transaction() as session:
            entry = (await session.scalars(select(AuditEntry).where(AuditEntry.action == "second_factor.reset"))).one()
        assert (entry.actor_user_id, entry.target) == (org.user_ids["owner"], f"user:{org.user_ids['member']}")

    async def test_the_operator_does_it_for_anybody(self, client: AsyncClient, root: Root) -> None:
        user_id = await make_account(root)
        await enroll(client, await sign_in(client), root.clock)
        await first_step(client)
        async with root.db.transaction() as session:
            await administration.reset_by_command(session, "ADA@example.com", root.clock.now())
        await sign_in(client)
        async with root.db.transaction() as session:
            entry = (await session.scalars(select(AuditEntry).where(AuditEntry.action == "second_factor.reset"))).one()
        assert (entry.target, entry.data) == (f"user:{user_id}", {"by": "command line"})
        async with root.db.transaction() as session:
            with pytest.raises(SecondFactorMissing):
                await administration.reset_by_command(session, "ada@example.com", root.clock.now())
            with pytest.raises(UserNotFound):
                await administration.reset_by_command(session, "nobody@example.com", root.clock.now())
