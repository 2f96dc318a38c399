"""What superusers see of recordings that wait on a machine for the bucket."""

import asyncio
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from offhook.kit.crypto import Keyring
from offhook.kit.files.file_store import FileStore, StorageUnavailable
from offhook.nodes.superuser_queries import RecordingSpoolRecord, list_spools
from offhook.orgs.data_keys.keys import DataKeys
from offhook.root import Root
from offhook.runs.recording_files import recording_spool
from offhook.runs.recording_files.recording_spool import RecordingSpool
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.recording_files.waiting_report import NAME_FILE
from offhook.runs.tables import Run


class DeadBucket(FileStore):
    """Takes nothing, until it is said to."""

    is_dead = True

    def __init__(self, root: Path) -> None:
        super().__init__(root, "s3://another-bucket")

    async def has_stored(self, key: str) -> bool:
        if self.is_dead:
            raise StorageUnavailable("The bucket does not exist.")
        return False

    async def keep(self, key: str, draft: Path) -> None:
        draft.unlink()


@pytest.fixture
def bucket(root: Root) -> DeadBucket:
    return DeadBucket(root.storage.root)


def make_spool(root: Root, bucket: DeadBucket, node_id: str) -> RecordingSpool:
    vault = RecordingVault(root.db, bucket, DataKeys(root.get(Keyring)), encrypts=False)
    spool = RecordingSpool(root.db, vault, close_timeout_s=0.05)
    spool.report.node_id = node_id
    return spool


async def shown(root: Root) -> list[RecordingSpoolRecord]:
    async with root.db.transaction() as session:
        return await list_spools(session)


async def until_shown(root: Root, count: int) -> list[RecordingSpoolRecord]:
    async with asyncio.timeout(60):
        while len(found := await shown(root)) != count:
            await asyncio.sleep(0.02)
    return found


async def test_they_are_shown_until_the_bucket_has_them(
    root: Root, bucket: DeadBucket, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_spool, "SWEEP_INTERVAL_S", 0.05)
    path = bucket.path_for(f"recordings/{run.organization_id}/{run.id}.wav")
    path.write_bytes(b"RIFF" * 100)
    os.utime(path, (1_700_000_000, 1_700_000_000))
    spool = make_spool(root, bucket, "n-1")
    await spool.start()
    (found,) = await until_shown(root, 1)
    assert (found.files, found.bytes, found.node_id, found.is_tried) == (1, 400, "n-1", False)
    assert found.oldest_at == datetime.fromtimestamp(1_700_000_000, UTC)
    assert found.error == "The bucket does not exist."
    assert found.failed_at is not None
    assert found.place.endswith(f":{bucket.root.absolute()}/recordings")
    bucket.is_dead = False
    await until_shown(root, 0)
    assert not path.exists()
    await spool.close()


async def test_the_next_process_over_the_folder_has_the_same_row(root: Root, bucket: DeadBucket, run: Run) -> None:
    path = bucket.path_for(f"recordings/{run.organization_id}/{run.id}.wav")
    path.write_bytes(b"RIFF")
    first = make_spool(root, bucket, "n-1")
    first.keep_soon(f"recordings/{run.organization_id}/{run.id}.wav")
    await first.close()
    (left,) = await shown(root)
    os.utime(path, (0, 0))
    second = make_spool(root, bucket, "n-2")
    await second.sweep()
    await second.tell_waiting()
    (taken,) = await shown(root)
    assert (left.id, left.node_id, taken.id, taken.node_id) == (left.id, "n-1", left.id, "n-2")
    path.unlink()
    await make_spool(root, bucket, "n-3").tell_waiting()
    assert await shown(root) == []


async def test_an_upload_that_the_end_cuts_off_is_shown(root: Root, bucket: DeadBucket, run: Run) -> None:
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    bucket.path_for(key).write_bytes(b"RIFF")
    began = asyncio.Event()

    async def hang(key: str) -> bool:
        began.set()
        await asyncio.Event().wait()
        return False

    bucket.has_stored = hang  # type: ignore[method-assign]
    spool = make_spool(root, bucket, "n-1")
    spool.keep_soon(key)
    await began.wait()
    await spool.close()
    (left,) = await shown(root)
    assert (left.files, left.error) == (1, None)


async def test_what_a_process_uploads_at_its_end_is_shown_no_longer(root: Root, bucket: DeadBucket, run: Run) -> None:
    key = f"recordings/{run.organization_id}/{run.id}.wav"
    bucket.path_for(key).write_bytes(b"RIFF")
    os.utime(bucket.path_for(key), (0, 0))
    spool = make_spool(root, bucket, "n-1")
    await spool.tell_waiting()
    assert len(await shown(root)) == 1
    bucket.is_dead = False
    spool.keep_soon(key)
    await spool.close()
    assert not bucket.path_for(key).exists()
    assert await shown(root) == []


async def test_a_folder_that_takes_no_name_is_not_filled(
    root: Root, bucket: DeadBucket, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(self: Path, target: Path) -> None:
        raise PermissionError("no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    bucket.path_for(f"recordings/{run.organization_id}/{run.id}.wav").write_bytes(b"RIFF")
    os.utime(bucket.path_for(f"recordings/{run.organization_id}/{run.id}.wav"), (0, 0))
    with pytest.raises(PermissionError):
        await make_spool(root, bucket, "n-1").tell_waiting()
    assert [path.name for path in (bucket.root / "recordings").iterdir()] == [str(run.organization_id)]


async def test_a_name_that_cannot_be_read_stops_no_upload(
    root: Root, bucket: DeadBucket, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recording_spool, "SWEEP_INTERVAL_S", 0.05)
    path = bucket.path_for(f"recordings/{run.organization_id}/{run.id}.wav")
    path.write_bytes(b"RIFF")
    os.utime(path, (0, 0))
    (bucket.root / "recordings" / NAME_FILE).write_bytes(b"\xff\xfe\xff")
    spool = make_spool(root, bucket, "n-1")
    await spool.start()
    await asyncio.sleep(0.3)
    bucket.is_dead = False
    async with asyncio.timeout(20):
        while path.exists():
            await asyncio.sleep(0.02)
    await spool.close()
