"""Files of scenarios are read in threads of their own: those of one organization keep nothing else waiting."""

import asyncio
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from offhook.root import Root
from offhook.scenarios.errors import TooManyScenarioFiles
from offhook.scenarios.services import ScenarioServices
from offhook.scenarios.stored.reading import MAX_IN_LINE, ScenarioFiles
from tests.fixtures_orgs import OrgFixture
from tests.scenarios.test_files import GOOD
from tests.scenarios.test_stored import FILE, GREETS, path, upload, workflow_id
from tests.workflows.conftest import Editor, editor

__all__ = ["editor", "workflow_id"]


async def block(files: ScenarioFiles, organization_id: int, until: threading.Event) -> None:
    async with files.hold_thread(organization_id) as thread:
        await thread.run(lambda: until.wait(30))


async def test_the_threads_that_all_share_stay_free(editor: Editor, workflow_id: int) -> None:
    until, shared = threading.Event(), ThreadPoolExecutor(2)
    asyncio.get_running_loop().set_default_executor(shared)
    busy = [shared.submit(until.wait, 30) for _ in range(2)]
    try:
        async with asyncio.timeout(20):
            checked = await editor.post(path(workflow_id, "scenario-check"), json={"yaml": FILE})
        assert checked.json()["is_valid"] is True
    finally:
        until.set()
    assert all(one.result() for one in busy)
    assert (await upload(editor, workflow_id, FILE)).status_code == 200


async def test_an_organization_has_one_thread_and_the_next_one_another() -> None:
    files, until = ScenarioFiles(wait_s=0.2), threading.Event()
    blocked = asyncio.create_task(block(files, 1, until))
    try:
        await asyncio.sleep(0)
        with pytest.raises(TooManyScenarioFiles):
            await files.read(1, GOOD)
        assert len(await files.read(2, GOOD)) == 1
    finally:
        until.set()
    await blocked
    assert len(await files.read(1, GOOD)) == 1


async def test_the_line_of_an_organization_is_short() -> None:
    files, until = ScenarioFiles(), threading.Event()
    tasks = [asyncio.create_task(block(files, 1, until)) for _ in range(MAX_IN_LINE)]
    await asyncio.sleep(0)
    try:
        with pytest.raises(TooManyScenarioFiles):
            await files.normalize(1, GOOD)
    finally:
        until.set()
    await asyncio.gather(*tasks)


async def test_who_hangs_up_keeps_the_place_until_the_thread_is_done() -> None:
    files, until = ScenarioFiles(wait_s=0.2), threading.Event()
    gone = asyncio.create_task(block(files, 1, until))
    await asyncio.sleep(0.05)
    gone.cancel()
    try:
        with pytest.raises(TooManyScenarioFiles):
            await files.read(1, GOOD)
    finally:
        until.set()
    with pytest.raises(asyncio.CancelledError):
        await gone
    assert len(await files.read(1, GOOD)) == 1


async def test_a_file_of_an_agent_waits_for_the_same_threads(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    file = (await editor.get(path(workflow_id, "export"))).json()
    files, until = root.get(ScenarioServices).files, threading.Event()
    line = [asyncio.create_task(block(files, org.id, until)) for _ in range(MAX_IN_LINE)]
    try:
        await asyncio.sleep(0)
        answer = await editor.post("/workflow/import", json=file | {"scenarios": [GREETS]})
        assert (answer.status_code, answer.json()["code"]) == (429, "too_many_scenario_files")
        assert (await editor.post("/workflow/import", json=file)).status_code == 200
    finally:
        until.set()
    await asyncio.gather(*line)


async def test_changes_of_scenarios_wait_for_the_same_threads(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    """Each checks all scenarios of the agent, which takes a second and more for a megabyte."""
    await editor.put(path(workflow_id), json={"scenarios": [GREETS]})
    files, until = root.get(ScenarioServices).files, threading.Event()
    line = [asyncio.create_task(block(files, org.id, until)) for _ in range(MAX_IN_LINE)]
    try:
        await asyncio.sleep(0)
        for answer in (
            await editor.put(path(workflow_id, "scenarios/greets"), json=GREETS | {"title": "Another"}),
            await editor.put(path(workflow_id), json={"scenarios": []}),
            await editor.delete(path(workflow_id, "scenarios/greets")),
        ):
            assert (answer.status_code, answer.json()["code"]) == (429, "too_many_scenario_files")
    finally:
        until.set()
    await asyncio.gather(*line)
    (kept,) = (await editor.get(path(workflow_id))).json()["scenarios"]
    assert "title" not in kept


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"expect": {"edges": ["x"] * 1001}}, "expect.edges"),
        ({"expect": {"tools": [{"name": "x"}] * 1001}}, "expect.tools"),
        ({"expect": {"never_says": ["x"] * 1001}}, "expect.never_says"),
        ({"tools": {"x": [{}] * 1001}}, "tools.x"),
        ({"tools": {f"x{index}": [] for index in range(1001)}}, "tools"),
        ({"documents": {f"x{index}": "" for index in range(1001)}}, "documents"),
    ],
)
async def test_a_list_of_thousands_is_refused(
    editor: Editor, workflow_id: int, change: dict[str, Any], place: str
) -> None:
    answer = await editor.put(path(workflow_id, "scenarios/greets"), json=GREETS | change)
    (problem,) = answer.json()["detail"]
    assert (answer.status_code, problem["type"]) == (422, "too_long")
    assert problem["loc"] == ["body", *place.split(".")]
    checked = await editor.post(
        path(workflow_id, "scenario-check"), json={"yaml": json.dumps({"scenarios": [GREETS | change]})}
    )
    (issue,) = checked.json()["issues"]
    assert (issue["path"], issue["code"]) == (f"scenarios[0].{place}", "too_long")
