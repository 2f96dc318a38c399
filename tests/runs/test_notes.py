"""Notes and tags of a run: who may write them, what is refused, and that lists find runs by them."""

import json
from decimal import Decimal
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import delete, update

from offhook.orgs.tables import StoredDataKey
from offhook.root import Root
from offhook.runs.finishing.repository import RunEndValues, update_run_end
from offhook.runs.tables import Run
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import find_in_tables
from tests.runs.conftest import MakeRun
from tests.runs.test_encrypted_words import use_keys


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


async def test_no_word_of_a_note_is_in_an_encrypted_database(
    client: AsyncClient, make_run: MakeRun, root: Root, org: OrgFixture
) -> None:
    headers = org.owner_headers
    plain, run = await make_run(), await make_run()
    await client.patch(url(plain), json={"note": "Likes marzipan"}, headers=headers)
    use_keys(root, encrypts=True)
    body = {"note": "Asked for quillon", "tags": ["vip"]}
    assert (await client.patch(url(run), json=body, headers=headers)).json()["note"] == "Asked for quillon"
    assert await find_in_tables(root, ["quillon", "marzipan"]) == {"runs.note": 1}
    assert (await client.patch(url(run), json={"tags": []}, headers=headers)).json()["note"] == "Asked for quillon"
    for one, note in ((plain, "Likes marzipan"), (run, "Asked for quillon")):
        assert (await client.get(url(one), headers=headers)).json()["note"] == note
    await client.patch(url(plain), json={"note": "Likes brask"}, headers=headers)
    assert await find_in_tables(root, ["quillon", "marzipan", "brask"]) == {}
    for garbage in ("\ud800", "a\0b"):
        content = json.dumps({"note": garbage})
        answer = await client.patch(url(run), content=content, headers=headers | {"content-type": "application/json"})
        assert answer.status_code == 422, answer.text
    for note in ("", "Again"):
        assert (await client.patch(url(run), json={"note": note}, headers=headers)).json()["note"] == (note or None)


async def test_a_note_without_its_key(client: AsyncClient, run: Run, root: Root, org: OrgFixture) -> None:
    headers = org.owner_headers
    use_keys(root, encrypts=True)
    await client.patch(url(run), json={"note": "Asked for quillon"}, headers=headers)
    async with root.db.transaction() as session:
        await session.execute(update(StoredDataKey).values(sealed_key=b"sealed with another secret"))
    use_keys(root, encrypts=True)
    for refused in (
        await client.get(url(run), headers=headers),
        await client.patch(url(run), json={"note": "Asked for brask"}, headers=headers),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "words_unreadable"), refused.text
    async with root.db.transaction() as session:
        await session.execute(delete(StoredDataKey))
    use_keys(root, encrypts=True)
    assert (await client.get(url(run), headers=headers)).status_code == 409
    written = await client.patch(url(run), json={"note": "Asked for brask"}, headers=headers)
    assert (written.status_code, written.json()["note"]) == (200, "Asked for brask")
    assert await find_in_tables(root, ["brask"]) == {}
