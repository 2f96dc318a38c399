"""A call replayed over HTTP: who may ask, what is refused, what is answered."""

import asyncio
import sys
from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.orgs import Caller
from offhook.root import Root
from offhook.runs import LiveCallRegistry
from offhook.runs import service as runs
from offhook.runs.tables import Run
from offhook.scenarios.errors import ReplayFailed, TooManyReplays
from offhook.scenarios.replays import requests
from offhook.scenarios.replays.requests import RunReplayService
from tests.fakes.calls import FixedModels
from tests.fixtures_orgs import OrgFixture
from tests.runs.test_journals import add_draft, talk

WAITS = (sys.executable, "-c", "import time; time.sleep(600)")
DEAD = (sys.executable, "-c", "import sys; sys.stdin.readline(); sys.exit(3)")


async def test_a_call_is_replayed_with_the_draft_or_a_version(
    root: Root, client: AsyncClient, org: OrgFixture, run: Run, live: LiveCallRegistry, models: FixedModels
) -> None:
    path, headers = f"/workflow/{run.workflow_id}/runs/{run.id}", org.headers_for("member")
    assert (await client.get(path, headers=headers)).json()["has_journal"] is False
    await talk(live, run, models)
    assert (await client.get(path, headers=headers)).json()["has_journal"] is True
    same = (await client.post(f"{path}/replay?version=1", headers=headers)).json()
    assert (same["is_same"], same["is_exact"], same["version_number"], same["first_difference"]) == (
        True,
        True,
        1,
        None,
    )
    without_draft = await client.post(f"{path}/replay", headers=headers)
    assert (without_draft.status_code, without_draft.json()["code"]) == (409, "no_draft")
    await add_draft(root, run)
    other = (await client.post(f"{path}/replay", headers=headers)).json()
    assert (other["run_id"], other["is_same"], other["is_exact"], other["version_number"]) == (run.id, False, True, 2)
    difference = other["first_difference"]
    assert (difference["turn"], difference["node"], difference["what"]) == (1, "Greeting", "what the model is asked")
    assert "Be brief." in difference["came"]
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    assert [(entry["data"]["version"], entry["actor_email"]) for entry in log if entry["action"] == "run.replayed"] == [
        ("draft", org.email("member")),
        (1, org.email("member")),
    ]
    journals, caller = live.journals, Caller.system(org.id)
    with pytest.raises(ReplayFailed):
        await RunReplayService(root.db, journals, DEAD).replay(caller, run.workflow_id, run.id, number=1)
    with pytest.raises(ReplayFailed):
        await RunReplayService(root.db, journals, WAITS, 0.1).replay(caller, run.workflow_id, run.id, number=1)
    busy = RunReplayService(root.db, journals, WAITS)
    first = asyncio.create_task(busy.replay(caller, run.workflow_id, run.id, number=1))
    await asyncio.sleep(0)
    with pytest.raises(TooManyReplays):
        await busy.replay(caller, run.workflow_id, run.id, number=1)
    first.cancel()
    await asyncio.gather(first, return_exceptions=True)


async def test_two_organizations_do_not_lock_a_third_out(
    root: Root, live: LiveCallRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_are_done, done = asyncio.Event(), list[int]()

    async def find_version(_: Any, organization_id: int, __: int, *, number: int | None) -> Any:
        if organization_id < 3:
            await first_are_done.wait()
        done.append(organization_id)
        raise ReplayFailed

    async def get_run(*_: Any, **__: Any) -> Any: ...

    monkeypatch.setattr(requests, "find_version", find_version)
    monkeypatch.setattr(runs, "get_run", get_run)
    asked = RunReplayService(root.db, live.journals, DEAD)
    callers = [Caller.system(organization_id) for organization_id in (1, 2, 3)]
    tasks = [asyncio.create_task(asked.replay(caller, 1, 1, number=None)) for caller in callers]
    await asyncio.sleep(0.05)
    first_are_done.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)
    assert [type(answer) for answer in answers] == [ReplayFailed] * 3
    assert sorted(done) == [1, 2, 3]


async def test_what_cannot_be_replayed_is_refused(
    client: AsyncClient, org: OrgFixture, other_org: OrgFixture, run: Run
) -> None:
    path, headers = f"/workflow/{run.workflow_id}/runs/{run.id}/replay", org.headers_for("member")
    assert (await client.post(path)).status_code == 401
    assert (await client.post(path, headers=org.headers_for("viewer"))).status_code == 403
    stranger = await client.post(path, headers=other_org.owner_headers)
    assert (stranger.status_code, stranger.json()["code"]) == (404, "run_not_found")
    for bad in ("?version=0", "?version=x", f"?version={2**31}"):
        assert (await client.post(path + bad, headers=headers)).status_code == 422
    elsewhere = await client.post(f"/workflow/{run.workflow_id + 1}/runs/{run.id}/replay", headers=headers)
    assert elsewhere.json()["code"] == "run_not_found"
    unknown = await client.post(f"{path}?version=7", headers=headers)
    assert (unknown.status_code, unknown.json()["code"]) == (404, "workflow_version_not_found")
    live = await client.post(f"{path}?version=1", headers=headers)
    assert (live.status_code, live.json()["code"]) == (409, "run_not_over")
