"""Calls go on without their recording while the disk is full, and are recorded again when it has room."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from offhook.kit.audio import PCM16_16K
from offhook.kit.crypto import DataKey, new_data_key
from offhook.kit.files.sealed_file import open_random_access
from offhook.root import Root
from offhook.runs.live.pre_call_request import PreCallFetch
from offhook.runs.recording_files.call_recording import DISK_ALMOST_FULL, CallRecordings, WavRecorder
from offhook.runs.recording_files.wav import HEADER_BYTES
from offhook.runs.tables import Run
from offhook.tools import ToolServices
from tests.fakes.calls import FixedModels
from tests.fakes.full_disk import file_size_limit
from tests.runs.test_live import connect, events_of, make_registry, models, reload

__all__ = ["models"]


async def test_with_an_almost_full_disk_the_call_goes_on(root: Root, models: FixedModels, run: Run) -> None:
    root.settings = root.settings.model_copy(update={"min_free_disk_mb": 10**9})
    live = make_registry(root, root.db, PreCallFetch(root.db, root.get(ToolServices).runner))
    with capture_logs() as logs:
        call, _ = await connect(live, run)
    call.session.end_call()
    await call.run()
    assert (await reload(root, run)).status == "completed"
    (failed,) = [event for event in await events_of(root, run) if event["type"] == "recording_failed"]
    assert failed["data"] == {"message": "The server's disk is almost full."}
    assert "recording_skipped" in [entry["event"] for entry in logs]
    await live.stop_all()


KEYS = [None, DataKey(1, new_data_key())]
Changes = list[tuple[str | None, int]]


def open_files() -> set[Path]:
    """What this process has open, except for what it closed in the same moment."""
    found = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(descriptor.readlink())
    return found


async def until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.02)


def speak(recorder: WavRecorder, begin_s: int, end_s: int, level: int = 1000) -> None:
    for frame in range(begin_s * 50, end_s * 50):
        recorder.record_caller(frame / 50, np.full(320, level, "<i2").tobytes())


def sound_of(path: Path, key: DataKey | None, second: int) -> int:
    """The caller's level in the middle of this second."""
    file = open_random_access(path, key)
    sample = file.read_at(HEADER_BYTES + 4 * (second * 16000 + 8000), 2)
    file.close()
    return int.from_bytes(sample, "little", signed=True)


@pytest.mark.parametrize("key", KEYS, ids=["plain", "encrypted"])
async def test_a_disk_that_fills_up_costs_only_what_is_said_until_it_has_room(
    tmp_path: Path, key: DataKey | None
) -> None:
    path, recordings, changes = tmp_path / "a.wav", CallRecordings(), Changes()
    recorder = await recordings.open_recorder(
        path, PCM16_16K, key, on_change=lambda problem, at_s: changes.append((problem, round(at_s)))
    )
    other = await recordings.open_recorder(tmp_path / "b.wav", PCM16_16K, key)
    other.record_caller(0.0, bytes(640))
    speak(recorder, 0, 3)
    await until(lambda: path.stat().st_size > 2 * 64000)
    with capture_logs() as logs, file_size_limit(path.stat().st_size + 1000):
        for end_s in (6, 9):
            speak(recorder, end_s - 3, end_s)
            await until(lambda: recorder.end_s >= end_s)  # noqa: B023 - awaited at once
        await until(lambda: len(changes) == 1)
        assert not recorder._caller.placed, "it would fill the memory instead"
    assert [entry["event"] for entry in logs] == ["recording_not_written"], "once, not every 0.7 s"
    speak(recorder, 9, 12)
    await until(lambda: len(changes) == 2)
    await recorder.close()
    await other.close()
    assert [problem is None for problem, _ in changes] == [False, True]
    assert [sound_of(path, key, second) for second in (0, 1, 7, 10, 11)] == [1000, 1000, 0, 1000, 1000]


@pytest.mark.parametrize("key", KEYS, ids=["plain", "encrypted"])
async def test_a_call_that_ends_on_a_full_disk_closes_its_file(tmp_path: Path, key: DataKey | None) -> None:
    path = tmp_path / "a.wav"
    recorder = await CallRecordings().open_recorder(path, PCM16_16K, key)
    speak(recorder, 0, 1)
    with capture_logs(), file_size_limit(1000):
        await recorder.close()
    assert path not in open_files()
    assert path.stat().st_size <= 1000


async def test_a_file_that_cannot_be_begun_is_not_left_behind(tmp_path: Path) -> None:
    with file_size_limit(10), pytest.raises(OSError, match="too large"):
        await CallRecordings().open_recorder(tmp_path / "a.wav", PCM16_16K)
    assert list(tmp_path.iterdir()) == []


async def test_calls_that_are_recorded_leave_the_rest_of_the_disk_to_the_database(tmp_path: Path) -> None:
    path, room, changes = tmp_path / "a.wav", [True], Changes()
    recorder = await CallRecordings(lambda: room[0]).open_recorder(
        path, PCM16_16K, on_change=lambda problem, at_s: changes.append((problem, round(at_s)))
    )
    speak(recorder, 0, 2)
    await until(lambda: path.stat().st_size > 64000)
    room[0] = False
    await until(lambda: bool(changes))
    before = path.stat().st_size
    speak(recorder, 2, 5)
    await until(lambda: not recorder._caller.arrived)
    assert path.stat().st_size <= before + 64000
    room[0] = True
    await until(lambda: len(changes) == 2)
    speak(recorder, 5, 7)
    await recorder.close()
    assert [problem for problem, _ in changes] == [DISK_ALMOST_FULL, None]
    assert [sound_of(path, None, second) for second in (0, 3, 5, 6)] == [1000, 0, 1000, 1000]


async def test_a_call_whose_disk_is_full_says_so_once(root: Root, models: FixedModels, run: Run) -> None:
    live = make_registry(root, root.db, PreCallFetch(root.db, root.get(ToolServices).runner))
    call, _ = await connect(live, run)
    with capture_logs(), file_size_limit(100):
        call.session.feed_audio(bytes(32000))
        call.session.end_call()
        await call.run()
    (failed,) = [event for event in await events_of(root, run) if event["type"] == "recording_failed"]
    assert "File too large" in str(failed["data"]["message"])
    assert (await reload(root, run)).status == "completed"
    await live.stop_all()
