"""A bucket that answers slowly keeps the database's connections from nobody else."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from offhook.kit.database.engine import MAX_OVERFLOW, POOL_SIZE
from offhook.recordings import RecordingServices
from offhook.root import Root
from tests.fixtures_orgs import OrgFixture

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
