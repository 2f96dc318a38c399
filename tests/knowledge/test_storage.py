"""Where files lie: in a bucket, with what can be wrong with one, and what is swept from disk and bucket."""

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from offhook.kit.files.file_store import CLOCK, NO_BUCKET, REFUSED, FileGone, FileStore, StorageUnavailable
from offhook.knowledge.services import KnowledgeServices
from offhook.knowledge.uploads import DocumentIntake
from offhook.settings import Settings
from tests.bucket import NAME, Bucket, bucket, closed_port
from tests.knowledge.conftest import GUIDE, Librarian


@pytest.fixture(scope="module")
def kept() -> Iterator[Bucket]:
    with bucket() as made:
        yield made


@pytest.fixture
def in_bucket(kept: Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileStore:
    for name, value in kept.variables.items():
        monkeypatch.setenv(name, value)
    return FileStore(tmp_path / "made", kept.address)


@pytest.fixture
def on_disk(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "kept")


async def keys(objects: FileStore, folder: str = "knowledge") -> list[str]:
    return sorted([key async for batch in objects.list_keys(folder) for key, _ in batch])


class TestABucket:
    @pytest.fixture
    def settings(self, settings: Settings, in_bucket: FileStore, kept: Bucket) -> Settings:
        return settings.model_copy(update={"storage_url": kept.address})

    @pytest.mark.slow
    async def test_keeps_documents_that_workers_read_and_that_are_removed(
        self, librarian: Librarian, in_bucket: FileStore, tmp_path: Path
    ) -> None:
        document = await librarian.add()
        assert document["status"] == "ready", document
        assert "courtyard" in (await librarian.find("Where do other animals wait?"))[0]["text"]
        (key,) = await keys(in_bucket)
        await in_bucket.fetch(key, tmp_path / "back")
        assert (tmp_path / "back").read_text() == GUIDE
        await in_bucket.delete(key)
        await in_bucket.delete(key)
        with pytest.raises(FileGone):
            await in_bucket.fetch(key, tmp_path / "gone")

    async def test_takes_files_of_many_parts(self, in_bucket: FileStore, tmp_path: Path) -> None:
        (tmp_path / "large").write_bytes(os.urandom(12 << 20))
        await in_bucket.put("knowledge/1/large", tmp_path / "large")
        await in_bucket.fetch("knowledge/1/large", tmp_path / "back")
        assert (tmp_path / "back").read_bytes() == (tmp_path / "large").read_bytes()


class TestWhatIsWrong:
    async def test_is_told_to_whoever_uploads(
        self, librarian: Librarian, in_bucket: FileStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not the secret of this key")
        refused = DocumentIntake(FileStore(tmp_path / "made", f"s3://{NAME}"), tmp_path / "drafts")
        services = replace(librarian.root.get(KnowledgeServices), intake=refused)
        librarian.root.provide(KnowledgeServices, services)
        answer = await librarian.send()
        assert (answer.status_code, answer.json()) == (503, {"detail": REFUSED, "code": "storage_unavailable"})
        assert (await librarian.request("GET", "/")).json() == []

    async def test_a_bucket_that_is_not_there_is_not_a_file_that_is_gone(
        self, in_bucket: FileStore, tmp_path: Path
    ) -> None:
        nowhere = FileStore(tmp_path / "made", "s3://another-bucket")
        (tmp_path / "file").write_text("x")
        with pytest.raises(StorageUnavailable, match=NO_BUCKET):
            await nowhere.put("a/b", tmp_path / "file")
        with pytest.raises(StorageUnavailable, match=NO_BUCKET):
            await nowhere.fetch("a/b", tmp_path / "back")
        with pytest.raises(StorageUnavailable, match=NO_BUCKET):
            await keys(nowhere)

    async def test_keys_that_are_refused(
        self, in_bucket: FileStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAUNKNOWN")
        refused = FileStore(tmp_path / "made", f"s3://{NAME}")
        with pytest.raises(StorageUnavailable, match=REFUSED):
            await refused.fetch("a/b", tmp_path / "back")
        with pytest.raises(StorageUnavailable, match=REFUSED):
            await keys(refused)

    async def test_a_clock_that_the_bucket_does_not_believe(
        self, in_bucket: FileStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            said = b"<Error><Code>RequestTimeTooSkewed</Code></Error>"
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: %d\r\n\r\n%s" % (len(said), said))
            await writer.drain()
            writer.close()

        async with await asyncio.start_server(refuse, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{port}")
            with pytest.raises(StorageUnavailable, match=CLOCK):
                await FileStore(tmp_path / "made", f"s3://{NAME}").fetch("a/b", tmp_path / "back")

    async def test_nobody_answers(self, in_bucket: FileStore, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed_port()}")
        with pytest.raises(StorageUnavailable, match="unavailable"):
            await FileStore(tmp_path / "made", f"s3://{NAME}").fetch("a/b", tmp_path / "back")


@pytest.mark.parametrize("where", ["on_disk", "in_bucket"])
async def test_files_without_a_document_are_swept_when_they_are_old(
    where: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    objects: FileStore = request.getfixturevalue(where)
    intake = DocumentIntake(objects, tmp_path / "drafts")
    (tmp_path / "file").write_text("x")
    for name in ("orphan", "used"):
        await objects.put(f"knowledge/7/{name}", tmp_path / "file")
    async with intake.draft_file() as left:
        left.write_text("half an upload")

        async def known(listed: Sequence[str]) -> set[str]:
            return set(listed) - {"knowledge/7/orphan"}

        assert await intake.forget_orphans(datetime.now(UTC) - timedelta(hours=1), known) == 0
        removed = await intake.forget_orphans(datetime.now(UTC) + timedelta(hours=1), known)
        assert not left.exists()
    assert removed == 2
    assert await keys(objects, "knowledge/7") == ["knowledge/7/used"]


@pytest.mark.slow
async def test_the_sweep_leaves_what_documents_stand_on(librarian: Librarian) -> None:
    document = await librarian.add()
    sweep = librarian.root.jobs.handlers["documents.sweep_files"]
    await sweep({})
    (file,) = (librarian.root.storage.root / "knowledge").rglob("*/*")
    ancient = (datetime.now(UTC) - timedelta(days=3)).timestamp()
    orphan = file.with_name("0" * 64)
    orphan.write_text("nobody's")
    for path in (file, orphan):
        os.utime(path, (ancient, ancient))
    await sweep({})
    assert (file.exists(), orphan.exists()) == (True, False)
    assert (await librarian.get(document["id"]))["status"] == "ready"
