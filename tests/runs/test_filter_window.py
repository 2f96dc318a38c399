"""Filters on contexts look through a window of the newest runs, and say when there was more."""

import json
from typing import Any

import pytest
from httpx import AsyncClient, Response
from sqlalchemy import text

from offhook.root import Root
from offhook.runs.listing import WINDOW
from tests.fixtures_orgs import OrgFixture

FILL = text("""
INSERT INTO runs (organization_id, workflow_id, version_id, version_number, name, mode, direction, status, initial_context,
                  created_at)
SELECT w.organization_id, w.id, v.id, 1, 'Run ' || i, 'sandbox', 'outbound', 'completed',
       jsonb_build_object('plan', CASE WHEN i <= 2 THEN 'gold' ELSE 'free' END),
       timestamptz '2026-01-01 00:00+00' + i * interval '1 minute'
FROM workflows w JOIN workflow_versions v ON v.workflow_id = w.id, generate_series(1, :count) i
WHERE w.id = :workflow_id
""")
GOLD = {"field": "context.plan", "type": "select", "value": "gold"}
FIRST_DAY = {"field": "created_at", "type": "date", "value": {"to": "2026-01-01"}}


@pytest.fixture
async def path(root: Root, workflow_id: int) -> str:
    """One run more than the window has; the two oldest ones are gold."""
    async with root.db.transaction() as session:
        await session.execute(FILL, {"count": WINDOW + 1, "workflow_id": workflow_id})
    return f"/workflow/{workflow_id}/runs"


async def ask(client: AsyncClient, org: OrgFixture, path: str, *filters: Any, **more: Any) -> Response:
    params = {"filters": json.dumps(filters), **more}
    answer = await client.get(path, params=params, headers=org.key_headers)
    assert answer.status_code == 200, answer.text
    return answer


@pytest.mark.parametrize("usage", [False, True])
async def test_the_window(client: AsyncClient, org: OrgFixture, path: str, usage: bool) -> None:
    path, key, total = ("/organizations/usage/runs", "items", "total") if usage else (path, "runs", "total_count")
    everything = await ask(client, org, path)
    assert everything.json()[total] == WINDOW + 1
    assert "x-filter-window" not in everything.headers
    # the older one of the two has left the window
    cut = await ask(client, org, path, GOLD)
    assert (cut.headers["x-filter-window"], cut.json()[total], len(cut.json()[key])) == (str(WINDOW), 1, 1)
    # a date moves it
    moved = await ask(client, org, path, GOLD, FIRST_DAY)
    assert "x-filter-window" not in moved.headers
    assert moved.json()[total] == 2


async def test_pages_and_sorting_within_it(client: AsyncClient, org: OrgFixture, path: str) -> None:
    free = {"field": "context.plan", "type": "text", "value": "FRE"}
    seen: list[int] = []
    for page in (1, 2, 3):
        answer = (await ask(client, org, path, free, FIRST_DAY, page=page, sort_by="id", sort_order="asc")).json()
        assert answer["total_count"] == 24 * 60 - 1 - 2
        seen += [run["id"] for run in answer["runs"]]
    assert len(seen) == 150
    assert seen == sorted(set(seen))
    beyond = (await ask(client, org, path, free, FIRST_DAY, page=1000)).json()
    assert (beyond["runs"], beyond["total_count"]) == ([], 24 * 60 - 1 - 2)
