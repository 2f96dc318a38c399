"""A worker is killed in the middle of a play with sound: another one plays it, and nothing is lost or there twice."""

import asyncio
import subprocess
import sys
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from offhook.jobs.registry import JobRegistry
from offhook.jobs.worker import run_worker
from offhook.root import Root
from offhook.scenarios.plays.service import PLAY_JOB
from offhook.scenarios.plays.tasks import ScenarioPlayJob
from offhook.scenarios.services import ScenarioServices
from tests.fixtures_orgs import OrgFixture
from tests.scenarios.agents import DEFINITION
from tests.scenarios.test_plays import keep, order, read, run
from tests.scenarios.test_stored import GREETS
from tests.workflows.conftest import Editor, editor

__all__ = ["editor"]

# A worker in a process of its own; its arguments are the database and the folder of the file storage.
WORKER = """
import asyncio, sys
from datetime import timedelta
from pathlib import Path
from offhook.jobs.registry import JobRegistry
from offhook.jobs.worker import run_worker
from offhook.kit.clock import SystemClock
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileStore
from offhook.scenarios.plays.recordings import PlayRecordings
from offhook.scenarios.plays.service import PLAY_JOB
from offhook.scenarios.plays.tasks import ScenarioPlayJob

async def main():
    db = Database(sys.argv[1])
    recordings = PlayRecordings(db, FileStore(Path(sys.argv[2])), SystemClock())
    registry = JobRegistry()
    registry.add(PLAY_JOB, ScenarioPlayJob(db, recordings, None).run_play)
    await run_worker(db, registry, asyncio.Event(), heartbeat_timeout=timedelta(seconds=1))

asyncio.run(main())
"""
HEARTBEAT = timedelta(seconds=1)
DEQUEUE = timedelta(seconds=0.2)
SEEDS = list(range(4))
# Every second one fails, and leaves a recording.
SCENARIOS: list[dict[str, Any]] = [
    {**GREETS, "name": f"greets-{number}", "seed": number, "expect": {"edges": ["start-sales"] * (1 + number % 2)}}
    for number in range(4)
]


def results_of(rows: list[dict[str, Any]]) -> set[tuple[str, int, bool, str, str]]:
    return {(row["name"], row["seed"], row["passed"], row["hash"], row["sound"]["recording_hash"]) for row in rows}


@pytest.mark.slow
@pytest.mark.timeout(480)
async def test_another_worker_plays_what_a_killed_one_did_not(root: Root, org: OrgFixture, editor: Editor) -> None:
    shop = await editor.create_published(DEFINITION, "Shop")
    await keep(editor, shop, *SCENARIOS)
    undisturbed = await order(editor, shop, mode="sound", seeds=SEEDS, cpu_budget_s=300)
    await run(root, org, undisturbed["id"])
    wanted = await read(editor, shop, undisturbed["id"])
    # its own job is still in the queue, and finds that it is over

    play = await order(editor, shop, mode="sound", seeds=SEEDS, cpu_budget_s=300)
    arguments = [root.db.url, str(root.storage.root)]
    victim = subprocess.Popen([sys.executable, "-c", WORKER, *arguments])
    try:
        while not 3 <= (await read(editor, shop, play["id"]))["done"] < len(SEEDS) * len(SCENARIOS):
            assert victim.poll() is None
            await asyncio.sleep(0.05)
    finally:
        victim.kill()
        victim.wait()
    left = await read(editor, shop, play["id"])
    assert left["state"] == "running"
    assert 3 <= left["done"] < left["total"]

    registry, stop = JobRegistry(), asyncio.Event()
    registry.add(PLAY_JOB, ScenarioPlayJob(root.db, root.get(ScenarioServices).recordings, None).run_play)
    other = asyncio.create_task(
        run_worker(root.db, registry, stop, heartbeat_timeout=HEARTBEAT, dequeue_timeout=DEQUEUE)
    )
    while (await read(editor, shop, play["id"]))["state"] == "running":
        await asyncio.sleep(0.1)
    stop.set()
    await other

    ended = await read(editor, shop, play["id"])
    names = ("state", "total", "done", "passed", "failed", "result_hash")
    assert {name: ended[name] for name in names} == {name: wanted[name] for name in names}
    assert (ended["state"], ended["done"], ended["passed"]) == ("failed", 16, 8)
    rows = await read(editor, shop, play["id"], "/results")
    expected = await read(editor, shop, undisturbed["id"], "/results")
    assert max(Counter((row["name"], row["seed"]) for row in rows).values()) == 1
    assert results_of(rows) == results_of(expected)
    assert len(rows) == len(SEEDS) * len(SCENARIOS)
    assert sum(row["has_recording"] for row in rows) == sum(row["has_recording"] for row in expected) == 8
    played = [event for event in (await editor.get("/events")).json()["events"] if event["type"] == "scenarios.played"]
    assert Counter(event["data"]["play_id"] for event in played) == {undisturbed["id"]: 1, play["id"]: 1}
