"""The report of one workflow: a CSV with a row for each of its runs."""

import csv
import io
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.root import Root
from offhook.runs import service
from offhook.runs.tables import Run
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun, MakeWorkflow


async def rows_of(client: AsyncClient, org: OrgFixture, workflow_id: int, **params: Any) -> list[dict[str, str]]:
    answer = await client.get(f"/workflow/{workflow_id}/report", params=params, headers=org.key_headers)
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert f'filename="workflow_{workflow_id}_report.csv"' in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.text, newline="")))


async def test_refusals(client: AsyncClient, org: OrgFixture, other_org: OrgFixture, workflow_id: int) -> None:
    path = f"/workflow/{workflow_id}/report"
    assert (await client.get(path)).status_code == 401
    assert (await client.get(path, headers=other_org.key_headers)).status_code == 404
    assert (await client.get("/workflow/999999/report", headers=org.key_headers)).status_code == 404
    assert (await client.get(path, headers=org.headers_for("viewer"))).status_code == 200


@pytest.mark.parametrize("params", [{"start_date": "soon"}, {"end_date": "2026-13-01"}, {"filters": "{"}])
async def test_bad_input(client: AsyncClient, org: OrgFixture, workflow_id: int, params: dict[str, str]) -> None:
    answer = await client.get(f"/workflow/{workflow_id}/report", params=params, headers=org.key_headers)
    assert answer.status_code == 422


async def test_its_runs_and_no_others(
    client: AsyncClient, root: Root, org: OrgFixture, workflow_id: int, make_run: MakeRun, make_workflow: MakeWorkflow
) -> None:
    first = await make_run(phone_number="+12015550101")
    second = await make_run(phone_number="+12015550102")
    other = await make_workflow(org.id, name="Another")
    async with root.db.transaction() as session:
        await service.create_run(
            session, organization_id=org.id, workflow_id=other, mode="twilio", direction="outbound", use_draft=False
        )
        run = await session.get(Run, second.id)
        assert run is not None
        run.gathered_context = {"extracted_variables": {"city": "=HYPERLINK(1)", "age": -3}}
        await service.apply_status(session, org.id, first.id, "busy")
    rows = await rows_of(client, org, workflow_id)
    assert [row["run_id"] for row in rows] == [str(second.id), str(first.id)]
    assert (rows[0]["city"], rows[0]["age"], rows[0]["phone_number"]) == ("'=HYPERLINK(1)", "-3", "+12015550102")
    assert (rows[1]["city"], rows[1]["status"]) == ("", "busy")
    busy = await rows_of(client, org, workflow_id, filters='[{"field":"status","type":"select","value":"busy"}]')
    assert [row["run_id"] for row in busy] == [str(first.id)]
    assert await rows_of(client, org, workflow_id, end_date="2020-01-01") == []
    assert len(await rows_of(client, org, workflow_id, start_date="2020-01-01")) == 2
