"""Sessions that nobody uses end."""

from datetime import datetime

from httpx2 import AsyncClient
from sqlalchemy import select

from offhook.orgs import service
from offhook.orgs.service import SESSION_IDLE, SESSION_LIFETIME
from offhook.orgs.tables import UserSession
from offhook.root import Root
from tests.fakes.clock import ShiftedClock
from tests.orgs.accounts import make_account, sign_in

DAY = 24 * 60.0


async def test_one_that_is_not_used_ends(client: AsyncClient, root: Root, shifted_clock: ShiftedClock) -> None:
    await make_account(root)
    forgotten = await sign_in(client)
    shifted_clock.advance(minutes=3 * DAY + 1)
    refused = await client.get("/auth/me", headers=forgotten)
    assert (refused.status_code, refused.json()["code"]) == (401, "invalid_token")
    here = await sign_in(client)
    listed = (await client.get("/auth/sessions", headers=here)).json()
    assert [session["is_current"] for session in listed] == [True]


async def test_use_keeps_one_alive_for_its_lifetime(
    client: AsyncClient, root: Root, shifted_clock: ShiftedClock
) -> None:
    await make_account(root)
    headers = await sign_in(client)
    statuses = []
    for _ in range(16):
        shifted_clock.advance(minutes=2 * DAY)
        statuses.append((await client.get("/auth/me", headers=headers)).status_code)
    assert statuses == [200] * 14 + [401] * 2
    assert SESSION_LIFETIME.days == 30


async def test_its_end_moves_every_five_minutes(client: AsyncClient, root: Root, shifted_clock: ShiftedClock) -> None:
    await make_account(root)
    headers = await sign_in(client)

    async def end() -> datetime:
        (session,) = (await client.get("/auth/sessions", headers=headers)).json()
        return datetime.fromisoformat(session["expires_at"])

    first = await end()
    shifted_clock.advance(minutes=4)
    assert await end() == first
    shifted_clock.advance(minutes=2)
    assert first < await end() <= root.clock.now() + SESSION_IDLE


async def test_one_that_continues_another_ends_with_its_lifetime(
    client: AsyncClient, root: Root, shifted_clock: ShiftedClock
) -> None:
    user_id = await make_account(root)
    async with root.db.transaction() as session:
        organization_id = await service.create_organization(session, "Another")
        await service.add_member(session, organization_id, user_id, "member")
    headers = await sign_in(client)
    (before,) = (await client.get("/auth/sessions", headers=headers)).json()
    for _ in range(14):
        shifted_clock.advance(minutes=2 * DAY)
        await client.get("/auth/me", headers=headers)
    shifted_clock.advance(minutes=DAY)
    switched = await client.post("/auth/switch", json={"organization_id": organization_id}, headers=headers)
    headers = {"Authorization": f"Bearer {switched.json()['token']}"}
    (after,) = (await client.get("/auth/sessions", headers=headers)).json()
    assert after["created_at"] == before["created_at"]
    shifted_clock.advance(minutes=DAY + 1)
    assert (await client.get("/auth/me", headers=headers)).status_code == 401


async def test_a_locked_row_holds_nobody_up(client: AsyncClient, root: Root, shifted_clock: ShiftedClock) -> None:
    await make_account(root)
    headers = await sign_in(client)
    shifted_clock.advance(minutes=10)
    async with root.db.transaction() as session:
        await session.execute(select(UserSession).with_for_update())
        assert (await client.get("/auth/me", headers=headers)).status_code == 200
