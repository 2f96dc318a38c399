"""The usage list and its report."""

import csv
import io
import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.kit.json_values import JsonObject
from offhook.root import Root
from offhook.runs.finishing import costs
from offhook.runs.tables import Run
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun, MakeWorkflow

PATH = "/organizations/usage/runs"
REPORT = f"{PATH}/report"
INSIGHTS = "/organizations/usage/insights"


@pytest.fixture
async def runs(root: Root, make_run: MakeRun) -> list[Run]:
    """Three runs, each a day older than the one before."""
    made = [
        await make_run(mode=mode, phone_number=f"+1555010000{n}") for n, mode in enumerate(["twilio"] * 2 + ["browser"])
    ]
    async with root.db.transaction() as session:
        for age, run in enumerate(made):
            row = await session.get_one(Run, run.id)
            row.created_at = datetime.now(UTC) - timedelta(days=age)
            row.status, row.outcome, row.duration, row.cost_cents = (
                "completed",
                "answered",
                Decimal(30 * (age + 1)),
                age,
            )
    return made


async def ids(client: AsyncClient, org: OrgFixture, **query: Any) -> list[int]:
    response = await client.get(PATH, params=query, headers=org.key_headers)
    assert response.status_code == 200, response.text
    return [item["run_id"] for item in response.json()["items"]]


@pytest.mark.parametrize("path", [PATH, REPORT, INSIGHTS])
async def test_anonymous(client: AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 401


class TestList:
    @pytest.mark.parametrize(
        "query",
        [
            "limit=0",
            "limit=201",
            "limit=x",
            "offset=-1",
            "offset=99999999999",
            "page=0",
            "workflow_id=0",
            "workflow_id=x",
            "from_date=yesterday",
            "to_date=2026-13-01",
            "start_date=0",
            "filters={}",
            "filters=x",
            "sort_by=cost",
            "sort_order=up",
            'filters=[{"field":"secret","type":"text","value":"x"}]',
        ],
    )
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, query: str) -> None:
        response = await client.get(f"{PATH}?{query}", headers=org.key_headers)
        assert response.status_code == 422
        assert response.json()["code"]

    async def test_other_organization_is_not_seen(
        self, client: AsyncClient, other_org: OrgFixture, runs: list[Run]
    ) -> None:
        assert await ids(client, other_org) == []
        assert await ids(client, other_org, workflow_id=runs[0].workflow_id) == []

    async def test_valid(self, client: AsyncClient, org: OrgFixture, runs: list[Run]) -> None:
        shown = (await client.get(f"{PATH}?limit=2", headers=org.headers_for("viewer"))).json()
        assert (shown["total"], shown["limit"], shown["offset"], shown["total_pages"]) == (3, 2, 0, 2)
        first = shown["items"][0]
        assert [item["run_id"] for item in shown["items"]] == [runs[0].id, runs[1].id]
        assert (first["workflow_name"], first["duration_seconds"], first["outcome"]) == ("Front desk", 30.0, "answered")
        assert first["phone_number"] == "+15550100000"
        assert shown["total_duration_seconds"] == 90.0

    async def test_the_sample_call_is_marked(
        self, client: AsyncClient, org: OrgFixture, root: Root, runs: list[Run]
    ) -> None:
        async with root.db.transaction() as session:
            row = await session.get_one(Run, runs[1].id)
            row.initial_context = {"sample_call": True}
        items = (await client.get(PATH, headers=org.key_headers)).json()["items"]
        assert [item["is_sample_call"] for item in items] == [False, True, False]

    @pytest.mark.parametrize("query", [{"limit": 200}, {"limit": 1, "offset": 2}, {"limit": 1, "page": 3}])
    async def test_limits_at_their_edge(
        self, client: AsyncClient, org: OrgFixture, runs: list[Run], query: dict[str, int]
    ) -> None:
        assert (await ids(client, org, **query))[-1] == runs[2].id

    async def test_sorts(self, client: AsyncClient, org: OrgFixture, runs: list[Run]) -> None:
        oldest_first = [run.id for run in reversed(runs)]
        assert await ids(client, org, sort_by="created_at", sort_order="asc") == oldest_first
        assert await ids(client, org, sort_by="duration") == oldest_first
        assert await ids(client, org, sort_by="id", sort_order="desc") == oldest_first

    async def test_dates(self, client: AsyncClient, org: OrgFixture, runs: list[Run]) -> None:
        day_ago = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
        for names in (("from_date", "to_date"), ("start_date", "end_date")):
            assert await ids(client, org, **dict.fromkeys(names, day_ago)) == [runs[1].id]
        noon = (datetime.now(UTC) - timedelta(hours=12)).isoformat()
        assert await ids(client, org, from_date=noon) == [runs[0].id]

    async def test_filters(
        self, client: AsyncClient, org: OrgFixture, runs: list[Run], make_workflow: MakeWorkflow
    ) -> None:
        browser = json.dumps([{"attribute": "mode", "type": "select", "value": "browser"}])
        assert await ids(client, org, filters=browser) == [runs[2].id]
        assert await ids(client, org, workflow_id=runs[0].workflow_id, filters=browser) == [runs[2].id]
        assert await ids(client, org, workflow_id=await make_workflow(org.id)) == []


class TestReport:
    async def read(self, client: AsyncClient, org: OrgFixture, **query: Any) -> list[dict[str, str]]:
        response = await client.get(REPORT, params=query, headers=org.key_headers)
        assert response.status_code == 200, response.text
        assert response.headers["content-type"] == "text/csv; charset=utf-8"
        assert "attachment" in response.headers["content-disposition"]
        return list(csv.DictReader(io.StringIO(response.text)))

    @pytest.mark.parametrize("query", ["from_date=x", "filters=x", "workflow_id=0"])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, query: str) -> None:
        assert (await client.get(f"{REPORT}?{query}", headers=org.key_headers)).status_code == 422

    async def test_other_organization_is_not_seen(
        self, client: AsyncClient, other_org: OrgFixture, runs: list[Run]
    ) -> None:
        assert await self.read(client, other_org) == []

    async def test_no_runs_is_a_header(self, client: AsyncClient, org: OrgFixture) -> None:
        text = (await client.get(REPORT, headers=org.key_headers)).text
        assert text.startswith("run_id,agent_name,")
        assert text.count("\n") == 1

    async def test_every_extracted_variable_has_its_column(
        self, client: AsyncClient, root: Root, org: OrgFixture, runs: list[Run]
    ) -> None:
        extracted: list[JsonObject | None] = [{"city": "=1+1", "age": 7}, {"name": 'Ann, "A"'}, None]
        async with root.db.transaction() as session:
            for run, values in zip(runs, extracted, strict=True):
                row = await session.get_one(Run, run.id)
                row.gathered_context = {"extracted_variables": values, "nodes_visited": []}
        rows = await self.read(client, org)
        assert [int(row["run_id"]) for row in rows] == [run.id for run in runs]
        assert [(row["age"], row["city"], row["name"]) for row in rows] == [
            ("7", "'=1+1", ""),
            ("", "", 'Ann, "A"'),
            ("", "", ""),
        ]
        newest = rows[0]
        assert (newest["agent_name"], newest["duration_seconds"], newest["cost_cents"]) == ("Front desk", "30.000", "0")
        assert (newest["outcome"], newest["phone_number"]) == ("answered", "+15550100000")

    async def test_filters_and_dates(self, client: AsyncClient, org: OrgFixture, runs: list[Run]) -> None:
        day_ago = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
        assert [int(row["run_id"]) for row in await self.read(client, org, start_date=day_ago, end_date=day_ago)] == [
            runs[1].id
        ]

    @pytest.mark.slow
    async def test_more_than_a_page(self, client: AsyncClient, root: Root, org: OrgFixture, runs: list[Run]) -> None:
        template = runs[0]
        same = {
            "organization_id": org.id,
            "workflow_id": template.workflow_id,
            "version_id": template.version_id,
            "version_number": 1,
            "mode": "twilio",
            "direction": "outbound",
            "created_at": template.created_at - timedelta(days=9),  # all at one moment: pages are told apart by id
        }
        async with root.db.transaction() as session:
            session.add_all([Run(**same, name=f"WR-{n}") for n in range(2100)])
        rows = await self.read(client, org)
        assert len({row["run_id"] for row in rows}) == len(rows) == 2103


class TestInsights:
    @pytest.fixture
    async def counted(self, root: Root, runs: list[Run]) -> list[Run]:
        """They are over: today's answered in 400 ms, yesterday's in 600, and a voicemail of the day before in 900."""
        async with root.db.transaction() as session:
            for run, p50_ms in zip(runs, (400, 600, 900), strict=True):
                row = await session.get_one(Run, run.id)
                row.latency = {"p50_ms": p50_ms, "p95_ms": 2000, "turns": 3}
                row.outcome = "voicemail" if p50_ms == 900 else "answered"
                await session.flush()
                await costs.charge_run(session, row)
        return runs

    async def test_days_and_agents(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, counted: list[Run]
    ) -> None:
        shown = (await client.get(INSIGHTS, params={"days": 3}, headers=org.key_headers)).json()
        assert [day["call_count"] for day in shown["days"]] == [1, 1, 1]
        assert [day["p50_ms"] for day in shown["days"]] == [900, 600, 400]
        assert [day["outcomes"] for day in shown["days"]] == [{"voicemail": 1}, {"answered": 1}, {"answered": 1}]
        assert shown["days"][2]["total_minutes"] == 0.5
        (agent,) = shown["agents"]
        assert (agent["workflow_id"], agent["call_count"]) == (counted[0].workflow_id, 3)
        assert list(agent["outcomes"].items()) == [("answered", 2), ("voicemail", 1)]
        assert (agent["p50_ms"], agent["total_minutes"]) == (600, 3.0)
        theirs = (await client.get(INSIGHTS, params={"days": 3}, headers=other_org.key_headers)).json()
        assert theirs["agents"] == []
        assert [day["outcomes"] for day in theirs["days"]] == [{}] * 3

    async def test_a_run_that_is_told_again_counts_once_and_as_it_is_now(
        self, client: AsyncClient, org: OrgFixture, root: Root, counted: list[Run]
    ) -> None:
        async with root.db.transaction() as session:
            row = await session.get_one(Run, counted[0].id)
            row.outcome = "voicemail"
            await session.flush()
            await costs.charge_run(session, row)
        shown = (await client.get(INSIGHTS, params={"days": 1}, headers=org.key_headers)).json()
        assert shown["days"][0]["outcomes"] == {"voicemail": 1}
        whole = (await client.get(INSIGHTS, params={"days": 3}, headers=org.key_headers)).json()
        assert whole["agents"][0]["outcomes"] == {"voicemail": 2, "answered": 1}

    @pytest.mark.parametrize("days", ["0", "93", "x"])
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, days: str) -> None:
        assert (await client.get(INSIGHTS, params={"days": days}, headers=org.key_headers)).status_code == 422
