"""One key used, archived and reactivated by 200 requests at once, on real connections."""

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from httpx2 import AsyncClient, Response
from sqlalchemy import select

from offhook.orgs.tables import ApiKey
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture

KEYS = "/organizations/api-keys"


async def stored(root: Root, org: OrgFixture) -> ApiKey:
    async with root.db.transaction() as session:
        return (await session.execute(select(ApiKey).where(ApiKey.id == org.key_id))).scalar_one()


@pytest.mark.slow
async def test_no_update_is_lost_and_nobody_waits_for_ever(client: AsyncClient, root: Root, org: OrgFixture) -> None:
    path, by = f"{KEYS}/{org.key_id}", org.owner_headers

    def request(number: int) -> Coroutine[Any, Any, Response]:
        if number % 4 == 0:
            return client.delete(path, headers=by)
        if number % 4 == 1:
            return client.put(f"{path}/reactivate", headers=by)
        return client.get("/auth/me", headers=org.key_headers)

    async with asyncio.timeout(60):
        answers = await asyncio.gather(*(request(number) for number in range(200)))

    changes = [answer for number, answer in enumerate(answers) if number % 4 < 2]
    uses = [answer for number, answer in enumerate(answers) if number % 4 >= 2]
    assert {answer.status_code for answer in changes} == {200}
    assert {answer.status_code for answer in uses} <= {200, 401}
    # Every change that changed something is one entry, in turns: so none was lost and none counted twice.
    log: list[str] = []
    for page in (1, 2):
        body = (await client.get(f"/organizations/audit-log?limit=100&page={page}", headers=by)).json()
        log += [entry["action"] for entry in body["entries"]]
    log.reverse()
    assert log == ["api_key.archived" if n % 2 == 0 else "api_key.reactivated" for n in range(len(log))]
    key = await stored(root, org)
    assert (key.archived_at is None) == (len(log) % 2 == 0)
    if any(answer.status_code == 200 for answer in uses):
        async with asyncio.timeout(30):
            # A key whose row is held is marked as used a moment later, beside the requests.
            while (await stored(root, org)).last_used_at is None:
                await asyncio.sleep(0.05)


async def test_an_archived_key_is_refused_by_the_very_next_request(client: AsyncClient, org: OrgFixture) -> None:
    for _ in range(20):
        await client.delete(f"{KEYS}/{org.key_id}", headers=org.owner_headers)
        refused = await asyncio.gather(*(client.get("/auth/me", headers=org.key_headers) for _ in range(5)))
        assert {answer.status_code for answer in refused} == {401}
        await client.put(f"{KEYS}/{org.key_id}/reactivate", headers=org.owner_headers)
        assert (await client.get("/auth/me", headers=org.key_headers)).status_code == 200
