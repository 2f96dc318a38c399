"""Uploads that nobody makes a recording of are removed; what a recording stands on never is."""

import asyncio
import os
from datetime import timedelta
from pathlib import Path

from offhook.jobs.scheduler import start_due
from offhook.kit.files.file_store import FileStore
from offhook.recordings.tasks import DraftSweep
from offhook.root import Root
from tests.recordings.conftest import Studio

HOUR = timedelta(hours=1)


def age(root: Root, key: str, by: timedelta) -> Path:
    path = root.storage.path_for(key)
    at = (root.clock.now() - by).timestamp()
    os.utime(path, (at, at))
    return path


async def sweep(root: Root) -> None:
    await root.jobs.handlers["recordings.sweep"]({})


async def test_after_a_day_and_not_before(studio: Studio, other_studio: Studio, root: Root) -> None:
    old = [age(root, (await who.upload())["storage_key"], 26 * HOUR) for who in (studio, other_studio)]
    new = age(root, (await studio.upload())["storage_key"], 24 * HOUR)
    await sweep(root)
    assert [path.exists() for path in old] == [False, False]
    assert new.exists()


async def test_what_a_crash_left_is_removed_on_each_machine(root: Root, tmp_path: Path) -> None:
    """The job did so on the machine of the worker that ran it, and other machines kept theirs."""
    elsewhere = FileStore(tmp_path / "elsewhere")
    crashed, decoding = elsewhere.path_for("uploads/0123.zip"), elsewhere.path_for("uploads/4567.wav")
    for path, by in ((crashed, 26 * HOUR), (decoding, HOUR)):
        path.write_bytes(b"RIFF")
        at = (root.clock.now() - by).timestamp()
        os.utime(path, (at, at))
    drafts = DraftSweep(elsewhere, root.clock)
    await drafts.start()
    async with asyncio.timeout(60):
        while crashed.exists():
            await asyncio.sleep(0.01)
    await drafts.close()
    assert decoding.exists()


async def test_not_what_a_recording_stands_on(studio: Studio, root: Root) -> None:
    place = await studio.upload()
    item = {"recording_id": "hello", "storage_key": place["storage_key"], "transcript": "Hello."}
    assert (await studio.create(item)).status_code == 200
    path = age(root, place["storage_key"], 1000 * HOUR)
    await sweep(root)
    assert path.exists()


async def test_what_may_be_removed_at_any_moment_is_not_named_any_more(studio: Studio, root: Root) -> None:
    key = (await studio.upload())["storage_key"]
    age(root, key, 24 * HOUR + timedelta(minutes=1))
    answer = await studio.create({"recording_id": "late", "storage_key": key, "transcript": "Hello."})
    assert (answer.status_code, answer.json()["code"]) == (404, "recording_upload_not_found")
    await sweep(root)
    assert root.storage.path_for(key).exists(), "whoever named it just before is not disturbed"


async def test_files_that_are_not_ours_and_an_empty_storage(root: Root) -> None:
    await sweep(root)
    root.storage.path_for("fixed-speech/notes/readme.txt").write_text("by hand")
    path = age(root, "fixed-speech/notes/readme.txt", 1000 * HOUR)
    await sweep(root)
    assert path.exists()


async def test_once_a_day(root: Root) -> None:
    (mine,) = [schedule for schedule in root.jobs.schedules if schedule.name == "recordings.sweep"]
    assert mine.every_s == 86_400
    assert await start_due(root.db, [mine]) == ["recordings.sweep"]
    assert await start_due(root.db, [mine]) == []
