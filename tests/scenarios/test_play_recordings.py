"""Recordings of failed plays: heard, with their strip, and deleted with the play, by retention, and for a closed agent."""

import os
from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import delete, update

from offhook.kit.files.file_store import FileGone
from offhook.root import Root
from offhook.scenarios.plays.recordings import DRAFTS, FOLDER
from offhook.scenarios.plays.repository import add_results
from offhook.scenarios.services import ScenarioServices
from offhook.scenarios.tables import ScenarioPlay
from tests.fixtures_orgs import OrgFixture
from tests.privacy.test_retention import set_days, sweep
from tests.scenarios.test_plays import WRONG, keep, order, read, run, workflow_id
from tests.scenarios.test_stored import GREETS
from tests.workflows.conftest import Editor, editor, other_editor, viewer

__all__ = ["editor", "other_editor", "viewer", "workflow_id"]

DAY = timedelta(days=1)


def path_of(workflow_id: int, play_id: int, result: dict[str, Any]) -> str:
    return f"/workflow/{workflow_id}/scenario-plays/{play_id}/results/{result['id']}/recording"


async def fail_with_recording(root: Root, org: OrgFixture, editor: Editor, workflow_id: int) -> tuple[int, str]:
    """Returns a play with one result whose recording is there, and its key."""
    play = await order(editor, workflow_id, mode="sound")
    recordings = root.get(ScenarioServices).recordings
    with recordings.open_folder() as folder:
        (folder / "wrong-0.wav").write_bytes(b"RIFF")
        key = await recordings.keep_recording(org.id, play["id"], folder / "wrong-0.wav")
    assert key is not None
    outcome: dict[str, Any] = {
        "edges": [],
        "nodes": [],
        "end": None,
        "outcome": None,
        "duration_s": 1,
        "recording_key": key,
    }
    row = {"name": "wrong", "title": "wrong", "seed": 0, "has_passed": False, "hash": "", "faults": [], "turns": []}
    async with root.db.transaction() as session:
        await add_results(session, org.id, play["id"], [{**row, "outcome": outcome}])
    return play["id"], key


async def is_there(root: Root, key: str) -> bool:
    try:
        await root.storage.find_file(key)
    except FileGone:
        return False
    return True


def age_file(root: Root, key: str) -> None:
    """Makes a file one of two hours ago."""
    at = (root.clock.now() - timedelta(hours=2)).timestamp()
    os.utime(root.storage.path_for(key), (at, at))


@pytest.mark.slow
async def test_a_failed_call_is_heard(
    root: Root,
    org: OrgFixture,
    client: AsyncClient,
    editor: Editor,
    viewer: Editor,
    other_editor: Editor,
    workflow_id: int,
) -> None:
    await keep(editor, workflow_id, GREETS, WRONG)
    play_id = (await order(editor, workflow_id, mode="sound"))["id"]
    await run(root, org, play_id)
    passed, failed = await read(editor, workflow_id, play_id, "/results")
    assert (passed["has_recording"], passed["strip"]) == (False, None)
    assert failed["has_recording"]
    strip = failed["strip"]
    assert [step["node_id"] for step in strip["steps"]] == failed["nodes"]
    assert len(strip["caller"]) == len(strip["agent"])
    assert max(strip["caller"]) > 50
    recording = await viewer.get(path_of(workflow_id, play_id, failed))
    assert recording.headers["content-type"] == "audio/wav"
    assert sha256(recording.content).hexdigest() == failed["sound"]["recording_hash"]
    none = await editor.get(path_of(workflow_id, play_id, passed))
    assert (none.status_code, none.json()["code"]) == (404, "scenario_recording_not_found")
    assert (await other_editor.get(path_of(workflow_id, play_id, failed))).status_code == 404
    assert (await client.get(path_of(workflow_id, play_id, failed))).status_code == 401
    # nothing of the play is left beside what is kept
    assert list((root.storage.root / DRAFTS).iterdir()) == []


async def test_recordings_of_plays_that_are_gone_are_deleted(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    gone, key = await fail_with_recording(root, org, editor, workflow_id)
    _, other = await fail_with_recording(root, org, editor, workflow_id)
    async with root.db.transaction() as session:
        await session.execute(delete(ScenarioPlay).where(ScenarioPlay.id == gone))
    recordings = root.get(ScenarioServices).recordings
    await recordings.sweep({})
    assert await is_there(root, key), "its result may not be stored yet"
    for name in (key, other):
        age_file(root, name)
    await recordings.sweep({})
    assert [await is_there(root, name) for name in (key, other)] == [False, True]


async def test_recordings_are_kept_as_long_as_those_of_calls(
    root: Root, org: OrgFixture, client: AsyncClient, editor: Editor, workflow_id: int
) -> None:
    old, key = await fail_with_recording(root, org, editor, workflow_id)
    _, young = await fail_with_recording(root, org, editor, workflow_id)
    async with root.db.transaction() as session:
        created_at = root.clock.now() - 8 * DAY
        await session.execute(update(ScenarioPlay).where(ScenarioPlay.id == old).values(created_at=created_at))
    await set_days(client, org, recordings_days=7)
    await sweep(root)
    assert [await is_there(root, name) for name in (key, young)] == [False, True]
    (result,) = await read(editor, workflow_id, old, "/results")
    assert (result["has_recording"], result["name"]) == (False, "wrong")


async def test_they_lie_in_the_folder_of_their_organization(
    root: Root, org: OrgFixture, editor: Editor, workflow_id: int
) -> None:
    play_id, key = await fail_with_recording(root, org, editor, workflow_id)
    assert key == f"{FOLDER}/{org.id}/{play_id}/wrong-0.wav"
