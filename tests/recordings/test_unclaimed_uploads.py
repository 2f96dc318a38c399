"""Uploads that nobody makes a recording of are removed; what a recording stands on never is."""

import os
from datetime import timedelta
from pathlib import Path

from offhook.jobs.scheduler import start_due
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
    crashed = root.storage.path_for("uploads/0123.upload")
    crashed.write_bytes(b"RIFF")
    decoding = root.storage.path_for("uploads/4567.wav")
    decoding.write_bytes(b"RIFF")
    age(root, "uploads/0123.upload", 26 * HOUR)
    await sweep(root)
    assert [path.exists() for path in (*old, crashed)] == [False, False, False]
    assert new.exists()
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
