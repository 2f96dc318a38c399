"""Notes and tags of a run: who may write them, what is refused, and that lists find runs by them."""

import json
from decimal import Decimal
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.root import Root
from offhook.runs.finishing.repository import RunEndValues, update_run_end
from offhook.runs.tables import Run
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun


def url(run: Run) -> str:
    return f"/workflow/{run.workflow_id}/runs/{run.id}"


def tagged(*tags: str) -> dict[str, str]:
    return {"filters": json.dumps([{"field": "tags", "type": "select", "value": list(tags)}])}


async def test_anonymous_other_organization_and_viewer(
    client: AsyncClient, run: Run, org: OrgFixture, other_org: OrgFixture
) -> None:
    body = {"note": "Call back"}
    assert (await client.patch(url(run), json=body)).status_code == 401
    answer = await client.patch(url(run), json=body, headers=other_org.owner_headers)
    assert (answer.status_code, answer.json()["code"]) == (404, "run_not_found")
    assert (await client.patch(url(run), json=body, headers=org.headers_for("viewer"))).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        {"note": "x" * 2001},
        {"note": 7},
        {"tags": "vip"},
        {"tags": [" "]},
        {"tags": ["x" * 65]},
        {"tags": ["a"] * 21},
        [],
    ],
)
async def test_bad_input(client: AsyncClient, run: Run, org: OrgFixture, body: Any) -> None:
    assert (await client.patch(url(run), json=body, headers=org.owner_headers)).status_code == 422


async def test_what_is_left_out_stays(client: AsyncClient, run: Run, org: OrgFixture) -> None:
    headers = org.headers_for("member")
    first = await client.patch(url(run), json={"note": " Call back ", "tags": ["vip", "angry", "vip"]}, headers=headers)
    assert first.json() == {"workflow_run_id": run.id, "note": "Call back", "tags": ["vip", "angry"]}
    await client.patch(url(run), json={"tags": ["vip"]}, headers=headers)
    shown = (await client.get(url(run), headers=headers)).json()
    assert (shown["note"], shown["tags"]) == ("Call back", ["vip"])
    assert (await client.patch(url(run), json={"note": ""}, headers=headers)).json()["note"] is None


async def test_lists_find_runs_by_their_tags(client: AsyncClient, make_run: MakeRun, org: OrgFixture) -> None:
    vip, angry, _ = [await make_run() for _ in range(3)]
    await client.patch(url(vip), json={"tags": ["vip"]}, headers=org.owner_headers)
    await client.patch(url(angry), json={"tags": ["angry", "vip"]}, headers=org.owner_headers)
    path = "/organizations/usage/runs"
    found = (await client.get(path, params=tagged("vip"), headers=org.owner_headers)).json()
    assert [(item["id"], item["tags"]) for item in found["items"]] == [(angry.id, ["angry", "vip"]), (vip.id, ["vip"])]
    runs = (
        await client.get(f"/workflow/{vip.workflow_id}/runs", params=tagged("angry"), headers=org.owner_headers)
    ).json()
    assert [item["id"] for item in runs["runs"]] == [angry.id]
    bad = {"filters": json.dumps([{"field": "tags", "type": "text", "value": "vip"}])}
    assert (await client.get(path, params=bad, headers=org.owner_headers)).status_code == 422


async def test_the_end_of_a_call_keeps_what_people_tagged(
    client: AsyncClient, run: Run, org: OrgFixture, root: Root
) -> None:
    await client.patch(url(run), json={"tags": ["vip"]}, headers=org.owner_headers)
    end = RunEndValues(
        status="completed",
        outcome="answered",
        end_reason="agent_ended",
        ended_at=root.clock.now(),
        duration=Decimal(3),
        gathered_context={},
        usage={},
        latency={},
        tags=["stt_deaf"],
    )
    for _ in range(2):
        async with root.db.transaction() as session:
            stored = await update_run_end(session, org.id, run.id, end)
    assert stored is not None
    assert stored.tags == ["vip", "stt_deaf"]


async def test_a_run_leads_to_its_neighbors_and_has_its_prompts(
    client: AsyncClient, make_run: MakeRun, org: OrgFixture
) -> None:
    first, second, third = [await make_run() for _ in range(3)]
    shown = (await client.get(url(second), headers=org.owner_headers)).json()
    assert (shown["previous_run_id"], shown["next_run_id"]) == (first.id, third.id)
    assert shown["prompts"] == {"start": "Greet the caller.", "bye": "Say goodbye."}
    newest = (await client.get(url(third), headers=org.owner_headers)).json()
    assert (newest["previous_run_id"], newest["next_run_id"]) == (second.id, None)
