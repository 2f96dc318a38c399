"""Filters on contexts find every run of the organization by its values, through an index and nothing else."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import delete, select, text, update

from offhook.kit.filters.criteria import parse_conditions
from offhook.root import Root
from offhook.runs.lists import listing, queries
from offhook.runs.tables import Run, RunValue
from tests.fixtures_orgs import OrgFixture
from tests.quick import first_quick

RUNS = 3000
FILL = text("""
INSERT INTO runs (organization_id, workflow_id, version_id, version_number, name, mode, direction, status, duration,
                  initial_context, gathered_context, created_at)
SELECT w.organization_id, w.id, v.id, 1, 'Run ' || i, 'sandbox', 'outbound',
       CASE WHEN i % 2 = 0 THEN 'completed' ELSE 'busy' END, i,
       jsonb_build_object('plan', CASE WHEN i <= 2 THEN 'gold' ELSE 'free' END, 'name', 'Élise ' || i),
       jsonb_build_object('age', i % 90, 'vip', i % 100 = 0, 'due', '2030-01-' || lpad((1 + i % 28)::text, 2, '0'),
                          'extracted_variables', '{"age": 1}'::jsonb),
       timestamptz '2026-01-01 00:00+00' + i * interval '1 minute'
FROM workflows w JOIN workflow_versions v ON v.workflow_id = w.id, generate_series(1, :count) i
WHERE w.id = :workflow_id
""")

# The index of the whole table that an index of a partition belongs to.
_INDEX_OF_ALL = text(
    "SELECT parent.relname FROM pg_class c JOIN pg_inherits ON inhrelid = c.oid JOIN pg_class parent ON parent.oid = inhparent"
    " WHERE c.relname = :name"
)


def by(field: str, kind: str, value: Any) -> dict[str, Any]:
    return {"field": field, "type": kind, "value": value}


GOLD = by("context.plan", "select", "gold")
FREE = by("context.plan", "select", "free")


@pytest.fixture
async def path(root: Root, workflow_id: int) -> str:
    """The two oldest runs are gold."""
    async with root.db.transaction() as session:
        await session.execute(FILL, {"count": RUNS, "workflow_id": workflow_id})
        await session.execute(text("ANALYZE runs, run_values"))
    return f"/workflow/{workflow_id}/runs"


async def ask(client: AsyncClient, org: OrgFixture, path: str, *filters: Any, **more: Any) -> tuple[list[str], int]:
    """The names of the page's runs, and the total."""
    answer = await client.get(path, params={"filters": json.dumps(filters), **more}, headers=org.key_headers)
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return [run["name"] for run in body.get("runs", body.get("items"))], body["total_count"]


@pytest.mark.parametrize("usage", [False, True])
async def test_every_kind(client: AsyncClient, org: OrgFixture, path: str, usage: bool) -> None:
    path = "/organizations/usage/runs" if usage else path
    assert await ask(client, org, path, GOLD) == (["Run 2", "Run 1"], 2)
    assert await ask(client, org, path, by("context.name", "text", "éLISE 2999")) == (["Run 2999"], 1)
    assert (await ask(client, org, path, by("context.name", "text", "ÉLISE")))[1] == RUNS
    assert (await ask(client, org, path, by("gathered.age", "number", {"min": 89})))[1] == RUNS // 90
    assert (await ask(client, org, path, by("gathered.vip", "boolean", True)))[1] == RUNS // 100
    assert (await ask(client, org, path, by("gathered.due", "date", {"to": "2030-01-01"})))[1] == RUNS // 28
    assert (await ask(client, org, path, by("gathered.nothing", "text", "x"))) == ([], 0)


async def test_with_others(client: AsyncClient, org: OrgFixture, path: str) -> None:
    assert await ask(client, org, path, GOLD, by("status", "select", "busy")) == (["Run 1"], 1)
    assert await ask(client, org, path, GOLD, by("gathered.age", "number", 2)) == (["Run 2"], 1)
    assert await ask(client, org, path, GOLD, by("created_at", "date", {"to": "2026-01-01T00:01:00"})) == (["Run 1"], 1)
    assert (await ask(client, org, path, FREE, sort_by="duration", sort_order="asc"))[0][:2] == ["Run 3", "Run 4"]
    text_and_status = (by("context.name", "text", "lise 29"), by("status", "select", "completed"))
    assert (await ask(client, org, path, *text_and_status))[1] == 55


async def test_pages(client: AsyncClient, org: OrgFixture, path: str) -> None:
    seen: list[str] = []
    for page in (1, 2, 3):
        names, total = await ask(client, org, path, FREE, page=page, sort_by="id", sort_order="asc")
        assert total == RUNS - 2
        seen += names
    assert seen == [f"Run {i}" for i in range(3, 153)]
    assert await ask(client, org, path, FREE, page=1000) == ([], RUNS - 2)


@pytest.mark.parametrize("sort_order", first_quick(["asc", "desc"]))
@pytest.mark.parametrize("sort_by", first_quick(["id", "created_at"]))
async def test_pages_of_several_values(
    client: AsyncClient, org: OrgFixture, path: str, sort_by: str, sort_order: str
) -> None:
    either = by("context.plan", "select", ["gold", "free", "free", "none"])
    since = by("created_at", "date", {"from": "2026-01-01T00:02:00"})
    order = {"sort_by": sort_by, "sort_order": sort_order}
    expected = [f"Run {i}" for i in range(2, RUNS + 1)]
    if sort_order == "desc":
        expected.reverse()
    for page in (1, 2, 15, 16, 29, 30):
        names, total = await ask(client, org, path, either, since, page=page, limit=100, **order)
        assert total == RUNS - 1
        assert names == expected[(page - 1) * 100 : page * 100]


async def test_values_follow_their_run(root: Root, path: str) -> None:
    async def values(run_id: int) -> dict[str, str]:
        async with root.db.transaction() as session:
            rows = await session.execute(select(RunValue.name, RunValue.value).where(RunValue.run_id == run_id))
            return {row.name: row.value for row in rows}

    async with root.db.transaction() as session:
        run_id = (await session.scalars(select(Run.id).where(Run.name == "Run 1"))).one()
    first = await values(run_id)
    assert first == {
        "context.plan": "gold", "context.name": "Élise 1", "gathered.age": "1", "gathered.vip": "false",
        "gathered.due": "2030-01-02",
    }  # fmt: skip
    changed = {"age": "7.5", "note": "x" * 400, "many": {"a": 1}, "nothing": None, "k" * 101: 1, "big": 10**70}
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run_id).values(gathered_context=changed))
    kept = {name: value for name, value in first.items() if name.startswith("context.")}
    assert await values(run_id) == kept | {
        "gathered.age": "7.5", "gathered.note": "x" * 300, "gathered.big": str(10**70)
    }  # fmt: skip
    async with root.db.transaction() as session:
        await session.execute(delete(Run).where(Run.id == run_id))
    assert await values(run_id) == {}


@pytest.mark.parametrize(
    ("criterion", "index"),
    first_quick(
        [
            (GOLD, "ix_run_values_value"),
            (by("gathered.age", "number", {"min": 89}), "ix_run_values_number"),
            (by("gathered.vip", "boolean", True), "ix_run_values_value"),
            (by("gathered.due", "date", {"to": "2030-01-01"}), "ix_run_values_value"),
        ]
    ),
)
async def test_the_plan(root: Root, org: OrgFixture, path: str, criterion: dict[str, Any], index: str) -> None:
    conditions = parse_conditions(json.dumps([criterion]), listing.FILTERS)
    conditions.on_columns.append(Run.organization_id == org.id)
    statement = queries.matching_ids(conditions).compile(root.db.engine, compile_kwargs={"literal_binds": True})
    async with root.db.transaction() as session:
        explain = "EXPLAIN (FORMAT JSON) " + str(statement).replace(":", r"\:")
        scans = list(_list_scans((await session.scalar(text(explain)))[0]["Plan"]))
        used = {
            await session.scalar(_INDEX_OF_ALL, {"name": scan["Index Name"]}) for scan in scans if "Index Name" in scan
        }
        read = [scan["Relation Name"] for scan in scans if scan["Node Type"] == "Seq Scan"]
        with_rows = [name for name in read if await session.scalar(text(f"SELECT EXISTS (SELECT FROM {name})"))]
    assert used == {index}
    assert with_rows == [], "only months without runs are read whole"


def _list_scans(plan: dict[str, Any]) -> Iterator[dict[str, Any]]:
    if "Relation Name" in plan or "Index Name" in plan:
        yield plan
    for part in plan.get("Plans", ()):
        yield from _list_scans(part)


async def test_renewing_a_lease_touches_no_index(root: Root, path: str) -> None:
    indexed = text("SELECT string_agg(indexdef, E'\n') FROM pg_indexes WHERE tablename = 'runs'")
    async with root.db.transaction() as session:
        assert "lease_until" not in str(await session.scalar(indexed))
