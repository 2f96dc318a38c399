"""Recordings of calls on several machines: written on one, kept in the bucket, heard from every other."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from httpx2 import AsyncClient
from sqlalchemy.exc import InterfaceError
from structlog.testing import capture_logs

from offhook.kit.audio import PCM16_16K
from offhook.kit.crypto import Keyring
from offhook.kit.files.file_store import FileGone, FileStore, StorageUnavailable
from offhook.orgs.data_keys.keys import DataKeys
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.recording_files.recording_spool import ABANDONED_AFTER_S, MAX_FAILURES, MAX_UPLOADS, RecordingSpool
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records.deletion import RunEraser
from offhook.runs.tables import Run
from offhook.settings import Settings
from tests.bucket import Bucket, bucket
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun


@pytest.fixture(scope="module")
def kept() -> Iterator[Bucket]:
    with bucket() as made:
        yield made


@pytest.fixture
def settings(settings: Settings, kept: Bucket, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in kept.variables.items():
        monkeypatch.setenv(name, value)
    return settings.model_copy(update={"storage_url": kept.address})


@pytest.fixture
async def live(root: Root) -> AsyncIterator[LiveCallRegistry]:
    use_fakes(root, FixedModels([takes("done")]))
    yield root.get(RunServices).live
    await root.get(RunServices).live.stop_all()


@pytest.fixture
def elsewhere(kept: Bucket, tmp_path: Path, settings: Settings) -> FileStore:
    """Another machine's."""
    return FileStore(tmp_path / "elsewhere", kept.address)


async def test_a_recording_is_on_this_machine_while_the_call_runs_and_in_the_bucket_afterwards(
    root: Root, live: LiveCallRegistry, run: Run, org: OrgFixture, client: AsyncClient, elsewhere: FileStore
) -> None:
    address = f"/workflow/{run.workflow_id}/runs/{run.id}/recording"
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    call = await live.connect_leg(run.id, KeptLeg(codec=PCM16_16K))
    assert root.storage.path_for(key).exists()
    growing = await client.get(address, headers=org.owner_headers)
    assert (growing.status_code, growing.content[:4]) == (200, b"RIFF")
    call.session.end_call()
    await call.run()
    async with asyncio.timeout(20):
        while root.storage.path_for(key).exists():
            await asyncio.sleep(0.02)
    whole = await client.get(address, headers=org.owner_headers)
    assert (whole.status_code, whole.content[:4]) == (200, b"RIFF")
    part = await client.get(address, headers={**org.owner_headers, "Range": "bytes=4-11"})
    assert (part.status_code, part.content) == (206, whole.content[4:12])
    async with elsewhere.open_file(key) as copy:
        assert copy.read_bytes() == whole.content
    assert not copy.exists()
    await RunEraser(root.db, root.storage, root.clock).erase_batch(run.organization_id, run.workflow_id)
    with pytest.raises(FileGone):
        await elsewhere.find_file(key)


async def test_what_a_killed_process_left_is_repaired_and_kept(root: Root, elsewhere: FileStore, run: Run) -> None:
    spool = RecordingSpool(root.db, root.get(RunServices).vault)
    key, fresh, deleted = (f"recordings/{run.organization_id}/{number}.wav" for number in (run.id, 902, 903))
    for name in (key, fresh, deleted):
        root.storage.path_for(name).write_bytes(b"not ours" * 10)
    long_ago = time.time() - ABANDONED_AFTER_S - 1
    for name in (key, deleted):
        os.utime(root.storage.path_for(name), (long_ago, long_ago))
    assert await spool.sweep() == 1
    assert (await elsewhere.find_file(key)).size == 80
    assert [root.storage.path_for(name).exists() for name in (key, fresh, deleted)] == [False, True, False]
    with pytest.raises(FileGone):  # its run was deleted while the recording was on this machine
        await elsewhere.find_file(deleted)


async def test_a_bucket_that_is_away_leaves_the_recording_on_the_machine(root: Root, kept: Bucket, run: Run) -> None:
    storage = FileStore(root.storage.root, "s3://another-bucket")
    path = storage.path_for(f"recordings/{run.organization_id}/{run.id}.wav")
    path.write_bytes(b"RIFF")
    os.utime(path, (0, 0))
    assert (
        await RecordingSpool(
            root.db, RecordingVault(root.db, storage, DataKeys(root.get(Keyring)), encrypts=False)
        ).sweep()
        == 0
    )
    assert path.exists()


class _SlowBucket(FileStore):
    """A bucket whose uploads wait, and fail as often as they are told to."""

    def __init__(self, root: Path, address: str) -> None:
        super().__init__(root, address)
        self.began, self.goes_on = asyncio.Event(), asyncio.Event()
        self.failures = self.asked = 0
        self.is_dead = False
        self.stored: list[str] = []

    async def has_stored(self, key: str) -> bool:
        if self.is_dead:
            self.asked += 1
            raise StorageUnavailable
        return key in self.stored

    async def delete(self, key: str) -> None:
        self.path_for(key).unlink(missing_ok=True)

    async def keep(self, key: str, draft: Path) -> None:
        await self.put(key, draft)
        draft.unlink()

    async def put(self, key: str, source: Path) -> None:
        self.asked += 1
        self.began.set()
        await self.goes_on.wait()
        if self.failures:
            self.failures -= 1
            raise StorageUnavailable
        self.stored.append(key)


class _MovingVault(RecordingVault):
    """The database is away when the first file is repaired."""

    failures = 1

    async def repair(self, key: str) -> bool:
        if self.failures:
            self.failures -= 1
            raise InterfaceError("SELECT", {}, Exception("connection is closed"))
        return await super().repair(key)


@pytest.fixture
def slow(root: Root) -> _SlowBucket:
    return _SlowBucket(root.storage.root, "s3://another-bucket")


def spool_of(root: Root, storage: FileStore, *, close_timeout_s: float = 10.0) -> RecordingSpool:
    vault = _MovingVault(root.db, storage, DataKeys(root.get(Keyring)), encrypts=False)
    return RecordingSpool(root.db, vault, close_timeout_s=close_timeout_s)


async def test_a_process_that_stops_uploads_its_last_recordings(root: Root, slow: _SlowBucket, run: Run) -> None:
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    slow.path_for(key).write_bytes(b"RIFF")
    spool = spool_of(root, slow)
    slow.failures = 1
    spool.keep_soon(key)
    await slow.began.wait()
    closing = asyncio.create_task(spool.close())
    await asyncio.sleep(0.01)
    slow.goes_on.set()
    async with asyncio.timeout(10):
        await closing
    assert slow.stored == [key], "it was tried again, too"
    assert not slow.path_for(key).exists()


async def test_a_process_that_stops_does_not_wait_for_a_dead_bucket(root: Root, slow: _SlowBucket, run: Run) -> None:
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    slow.path_for(key).write_bytes(b"RIFF")
    spool = spool_of(root, slow, close_timeout_s=0.05)
    spool.keep_soon(key)
    async with asyncio.timeout(5):
        await spool.close()
    assert slow.path_for(key).exists()


async def test_an_upload_that_failed_is_repeated_by_the_next_sweep(root: Root, slow: _SlowBucket, run: Run) -> None:
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    slow.path_for(key).write_bytes(b"RIFF")
    slow.goes_on.set()
    slow.failures = 2
    spool = spool_of(root, slow)
    spool.keep_soon(key)
    async with asyncio.timeout(5):
        while slow.failures == 2:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.01)
        assert [await spool.sweep(), await spool.sweep(), await spool.sweep()] == [0, 1, 0]
    assert slow.stored == [key]


async def test_a_sweep_goes_on_after_a_file_that_it_cannot_take(root: Root, slow: _SlowBucket, run: Run) -> None:
    slow.goes_on.set()
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    for name in ("recordings/0/notes.wav", "recordings/1/x.wav", key):
        path = slow.path_for(name)
        path.write_bytes(b"RIFF")
        os.utime(path, (0, 0))
    spool = spool_of(root, slow)
    assert await spool.sweep() + await spool.sweep() == 1
    assert slow.stored == [key]


async def test_a_dead_bucket_is_not_asked_for_each_of_many_recordings(root: Root, slow: _SlowBucket, run: Run) -> None:
    keys = [f"recordings/{run.organization_id}/{number}.wav" for number in range(run.id, run.id + 20)]
    for key in keys:
        slow.path_for(key).write_bytes(b"RIFF")
        os.utime(slow.path_for(key), (0, 0))
    slow.goes_on.set()
    slow.is_dead = True
    spool = spool_of(root, slow)
    with capture_logs() as logs:
        assert await spool.sweep() == 0
    assert slow.asked <= MAX_FAILURES
    assert [entry["event"] for entry in logs].count("bucket_not_taking") == 1
    slow.is_dead = False
    await spool.sweep()
    assert slow.stored == [keys[0]], "the others have no run"
    assert not any(slow.path_for(key).exists() for key in keys)


async def test_a_few_recordings_at_a_time_are_uploaded(root: Root, slow: _SlowBucket, make_run: MakeRun) -> None:
    made = [await make_run() for _ in range(2 * MAX_UPLOADS)]
    keys = [f"recordings/{run.organization_id}/{run.id}.wav" for run in made]
    spool = spool_of(root, slow)
    for key in keys:
        slow.path_for(key).write_bytes(b"RIFF")
        spool.keep_soon(key)
    async with asyncio.timeout(20):
        while slow.asked < MAX_UPLOADS:
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.05)
    assert (slow.asked, spool._count_waiting()) == (MAX_UPLOADS, len(keys))
    slow.goes_on.set()
    await spool.close()
    assert sorted(slow.stored) == sorted(keys)


class _ShortBucket(FileStore):
    """A bucket whose files are shorter than what it was given."""

    async def put(self, key: str, source: Path) -> None:
        short = source.with_suffix(".short")
        short.write_bytes(source.read_bytes()[:-1])
        await super().put(key, short)


async def test_a_recording_that_the_bucket_has_in_part_stays_here(root: Root, kept: Bucket, run: Run) -> None:
    storage = _ShortBucket(root.storage.root, kept.address)
    path = storage.path_for(f"recordings/{run.organization_id}/{run.id}.wav")
    path.write_bytes(b"RIFF" * 100)
    with pytest.raises(StorageUnavailable):
        await storage.keep(f"recordings/{run.organization_id}/{run.id}.wav", path)
    assert path.exists()
