"""Recordings of calls on several machines: written on one, kept in the bucket, heard from every other."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from httpx2 import AsyncClient

from offhook.kit.audio import PCM16_16K
from offhook.kit.crypto import Keyring
from offhook.kit.files.file_store import FileGone, FileStore
from offhook.orgs.data_keys.keys import DataKeys
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunServices
from offhook.runs.recording_files.recording_spool import ABANDONED_AFTER_S, RecordingSpool
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records.deletion import RunEraser
from offhook.runs.tables import Run
from offhook.settings import Settings
from tests.bucket import Bucket, bucket
from tests.fakes.calls import FixedModels, use_fakes
from tests.fakes.scripted import takes
from tests.fakes.voice import KeptLeg
from tests.fixtures_orgs import OrgFixture


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
