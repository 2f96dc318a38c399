"""How long an agent's calls are kept: who sets it, and that the shorter period counts."""

from typing import Any

import pytest
from httpx2 import AsyncClient

from offhook.campaigns import CampaignServices
from offhook.privacy.retention.sweep import RETENTION_JOB, RetentionSweep
from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs import service as runs
from offhook.runs.records.deletion import ErasedRuns, RunEraser
from offhook.scenarios.services import ScenarioServices
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.privacy.test_retention import KEEP as COMMON
from tests.privacy.test_retention import PATH as COMMON_PATH
from tests.privacy.test_retention import left, talk
from tests.runs.conftest import MakeRun, MakeWorkflow

KEEP: dict[str, Any] = {"recordings_days": None, "transcripts_days": None, "runs_days": None}
ALL = ("run", "facts", "words", "recording")


def path(workflow_id: int) -> str:
    return f"/workflow/{workflow_id}/retention"


async def set_days(client: AsyncClient, org: OrgFixture, workflow_id: int, **days: int) -> Any:
    saved = await client.put(path(workflow_id), json=KEEP | days, headers=org.key_headers)
    assert saved.status_code == 200, saved.text
    return saved.json()


@pytest.mark.parametrize(
    ("common", "own", "old", "old_of_others"),
    [
        ({}, {"runs_days": 30}, (), ALL),
        ({"runs_days": 60}, {"recordings_days": 30, "transcripts_days": 30}, ("run", "facts"), ALL),
        ({"recordings_days": 60, "transcripts_days": 60}, {"recordings_days": 30}, ("run", "facts", "words"), ALL),
        # an agent does not keep for longer than its organization
        ({"recordings_days": 30}, {"recordings_days": 60}, ("run", "facts", "words"), ("run", "facts", "words")),
        ({"runs_days": 30}, {"runs_days": 3650}, (), ()),
    ],
)
async def test_the_shorter_period_counts(
    client: AsyncClient,
    root: Root,
    make_run: MakeRun,
    make_workflow: MakeWorkflow,
    org: OrgFixture,
    common: dict[str, int],
    own: dict[str, int],
    old: tuple[str, ...],
    old_of_others: tuple[str, ...],
) -> None:
    agent, other = await make_workflow(org.id), await make_workflow(org.id)
    before = [await talk(root, await make_run(workflow_id=agent), age_days=31) for _ in range(3)]
    after = await talk(root, await make_run(workflow_id=agent), age_days=29)
    others = await talk(root, await make_run(workflow_id=other), age_days=31)
    saved = await client.put(COMMON_PATH, json=COMMON | common, headers=org.key_headers)
    assert saved.status_code == 200
    await set_days(client, org, agent, **own)
    for _ in range(2):
        await root.jobs.handlers[RETENTION_JOB]({})
        assert [await left(root, run) for run in before] == [old] * 3
        assert (await left(root, after), await left(root, others)) == (ALL, old_of_others)


async def test_what_applies_is_shown(client: AsyncClient, org: OrgFixture, make_workflow: MakeWorkflow) -> None:
    workflow_id = await make_workflow(org.id)
    assert (await client.get(path(workflow_id), headers=org.key_headers)).json() == KEEP | {"applied": KEEP}
    await client.put(COMMON_PATH, json=COMMON | {"runs_days": 30, "recordings_days": 10}, headers=org.key_headers)
    saved = await set_days(client, org, workflow_id, runs_days=7, recordings_days=20, transcripts_days=5)
    assert saved["applied"] == {"runs_days": 7, "recordings_days": 10, "transcripts_days": 5}
    assert saved["recordings_days"] == 20
    assert (await client.get(path(workflow_id), headers=org.headers_for("viewer"))).json() == saved
    log = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
    (entry,) = [
        entry for entry in log if entry["target"] == f"workflow:{workflow_id}" and "retention" in entry["action"]
    ]
    assert (entry["action"], entry["data"]["runs_days"]) == ("retention.changed", 7)


async def test_a_live_run_of_another_agent_holds_nothing(
    client: AsyncClient, root: Root, make_run: MakeRun, make_workflow: MakeWorkflow, org: OrgFixture
) -> None:
    agent, other = await make_workflow(org.id), await make_workflow(org.id)
    await talk(root, await make_run(workflow_id=other), age_days=50, is_over=False)
    over = await talk(root, await make_run(workflow_id=agent), age_days=40)
    live = await talk(root, await make_run(workflow_id=agent), age_days=39, is_over=False)
    younger = await talk(root, await make_run(workflow_id=agent), age_days=38)
    await set_days(client, org, agent, runs_days=30)
    await root.jobs.handlers[RETENTION_JOB]({})
    assert [bool(await left(root, run)) for run in (over, live, younger)] == [False, True, True]
    async with root.db.transaction() as session:
        await runs.apply_status(session, org.id, live.id, "completed")
    await root.jobs.handlers[RETENTION_JOB]({})
    assert [bool(await left(root, run)) for run in (live, younger)] == [False, False]


class Killed(BaseException):
    """As ``kill -9`` ends a worker: what was committed stays, and nothing else."""


class DyingEraser(RunEraser):
    """Dies after the files of a batch are gone and before their rows are."""

    async def erase_runs(self, organization_id: int, run_ids: Any, on_erased: Any = None) -> ErasedRuns:
        await self._delete_recordings(organization_id, run_ids)
        raise Killed


async def test_a_killed_sweep_is_gone_on_with(
    client: AsyncClient, root: Root, make_run: MakeRun, make_workflow: MakeWorkflow, org: OrgFixture
) -> None:
    agent = await make_workflow(org.id)
    old = [await talk(root, await make_run(workflow_id=agent), age_days=31) for _ in range(3)]
    await set_days(client, org, agent, runs_days=30)
    campaigns = root.get(CampaignServices).eraser
    plays, answers = root.get(ScenarioServices).recordings, root.get(ScenarioServices).answers.store
    eraser = DyingEraser(root.db, root.storage, root.clock)
    partitions = root.get(RunServices).partitions
    dying = RetentionSweep(root.db, root.clock, eraser, campaigns, plays, partitions, answers, batch=2)
    for _ in range(2):
        with pytest.raises(Killed):
            await dying.sweep({})
    await root.jobs.handlers[RETENTION_JOB]({})
    async with root.db.transaction() as session:
        for run in old:
            assert await session.get(type(run), run.id) is None


async def test_time_passes(
    client: AsyncClient,
    root: Root,
    make_run: MakeRun,
    org: OrgFixture,
    make_workflow: MakeWorkflow,
    shifted_clock: ShiftedClock,
) -> None:
    agent = await make_workflow(org.id)
    run = await talk(root, await make_run(workflow_id=agent), age_days=0)
    await set_days(client, org, agent, transcripts_days=7)
    for days, there in ((6.9, True), (7.1, False)):
        shifted_clock.advance(minutes=days * 1440)
        await root.jobs.handlers[RETENTION_JOB]({})
        assert ("words" in await left(root, run)) == there, days
        shifted_clock.advance(minutes=-days * 1440)


async def test_who_may_and_bad_input(
    client: AsyncClient, org: OrgFixture, other_org: OrgFixture, make_workflow: MakeWorkflow
) -> None:
    workflow_id = await make_workflow(org.id)
    assert (await client.get(path(workflow_id))).status_code == 401
    assert (await client.put(path(workflow_id), json=KEEP)).status_code == 401
    for role in ("viewer", "member"):
        assert (await client.put(path(workflow_id), json=KEEP, headers=org.headers_for(role))).status_code == 403
    for method in ("GET", "PUT"):
        body = None if method == "GET" else KEEP
        for headers, wanted in ((other_org.owner_headers, workflow_id), (org.owner_headers, 999_999)):
            answer = await client.request(method, path(wanted), json=body, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (404, "workflow_not_found")
    bad: list[dict[str, object]] = [{"runs_days": value} for value in (0, -1, 3651, 1.5, True, "x")]
    for wrong in (*(KEEP | one for one in bad), {"runs_days": 3}):
        assert (await client.put(path(workflow_id), json=wrong, headers=org.owner_headers)).status_code == 422, wrong
    assert (await client.get(path(workflow_id), headers=org.owner_headers)).json() == KEEP | {"applied": KEEP}
