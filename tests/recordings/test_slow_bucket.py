"""A bucket that answers slowly keeps the database's connections from nobody else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from offhook.kit.database.engine import MAX_OVERFLOW, POOL_SIZE
from offhook.kit.files.file_store import StorageUnavailable
from offhook.recordings import RecordingServices
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture
from tests.recordings.conftest import Studio
from tests.recordings.test_unclaimed_uploads import HOUR, age, sweep

BESIDE = 6


async def test_uploads_leave_connections_to_calls(
    root: Root, org: OrgFixture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty uploads took all of them, and no call could begin or be written until the bucket had answered."""
    uploads = root.get(RecordingServices).uploads
    responds, storing = asyncio.Event(), []
    draft = tmp_path / "draft.wav"
    draft.write_bytes(b"RIFF")

    async def keep_slowly(key: str, _draft: Path) -> None:
        storing.append(key)
        await responds.wait()

    @asynccontextmanager
    async def decode_at_once(_organization_id: int, _sent: bytes) -> AsyncIterator[tuple[Path, float]]:
        yield draft, 1.0

    async def one_part() -> AsyncIterator[bytes]:
        yield b"sound"

    monkeypatch.setattr(root.storage, "keep", keep_slowly)
    monkeypatch.setattr(uploads, "decode_upload", decode_at_once)
    wanted = POOL_SIZE + MAX_OVERFLOW
    sending = [
        asyncio.create_task(uploads.receive_upload(uploads.create_slot(org.id, 100).token, one_part()))
        for _ in range(wanted)
    ]
    async with asyncio.timeout(60):
        while len(storing) < 3:
            await asyncio.sleep(0.01)
        await asyncio.sleep(0.2)

        async def ask() -> None:
            async with root.db.transaction() as session:
                await session.connection()

        async with asyncio.timeout(10):
            await asyncio.gather(*(ask() for _ in range(BESIDE)))
        assert len(storing) == 3
        responds.set()
        done = await asyncio.gather(*sending)
    assert len(done) == len(storing) == wanted


@pytest.fixture
def silent_bucket(root: Root, monkeypatch: pytest.MonkeyPatch) -> tuple[list[str], asyncio.Event]:
    """A storage that answers to nothing until the event is set; what it was asked."""
    asked, responds = list[str](), asyncio.Event()
    for name in ("find_file", "last_modified", "delete"):
        original = getattr(root.storage, name)

        async def wait(key: str, *, name: str = name, original: Any = original) -> Any:
            asked.append(name)
            await responds.wait()
            return await original(key)

        monkeypatch.setattr(root.storage, name, wait)
    return asked, responds


@pytest.mark.parametrize(
    ("method", "path", "first"),
    [("GET", "/hello/audio", "find_file"), ("POST", "/", "last_modified"), ("DELETE", "/hello", "delete")],
)
async def test_no_transaction_waits_for_the_bucket(
    studio: Studio, root: Root, silent_bucket: tuple[list[str], asyncio.Event], method: str, path: str, first: str
) -> None:
    asked, responds = silent_bucket
    responds.set()
    await studio.record("hello")
    place = await studio.upload()
    responds.clear()
    asked.clear()
    item = {"recording_id": "bye", "storage_key": place["storage_key"], "transcript": "Bye."}
    body = {"json": {"recordings": [item]}} if method == "POST" else {}
    asking = asyncio.create_task(studio.request(method, path, **body))
    async with asyncio.timeout(30):
        while not asked:
            await asyncio.sleep(0.01)
        assert asked == [first]
        assert root.db.count_used_connections() == 0
        responds.set()
        assert (await asking).status_code == 200


async def test_a_bucket_that_fails_leaves_the_file_of_a_deleted_recording_to_the_sweep(
    studio: Studio, root: Root, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = (await studio.record("hello"))["storage_key"]

    async def fail(_key: str) -> None:
        raise StorageUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(root.storage, "delete", fail)
        assert (await studio.request("DELETE", "/hello")).status_code == 200
    assert await studio.list() == ([], 0)
    path = age(root, key, 26 * HOUR)
    await sweep(root)
    assert not path.exists()
