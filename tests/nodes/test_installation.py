"""What all processes of an installation must share."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import obstore
import pytest
from obstore.exceptions import GenericError
from sqlalchemy import text

from offhook.kit.crypto import Keyring
from offhook.kit.files.file_store import FileStore, StorageUnavailable
from offhook.nodes import installation
from offhook.nodes.installation import BucketTaken, WrongSecretKey, WrongStorage
from offhook.root import Root
from tests.bucket import bucket, closed_port

OLD, NEW, OTHER = "o" * 40, "n" * 40, "x" * 40


def ring(secret: str) -> Keyring:
    return Keyring(secret, Path("/nonexistent/secret.key"))


async def test_another_key_starts_nothing(root: Root) -> None:
    await installation.check_secret_key(root.db, ring(OLD))
    await installation.check_secret_key(root.db, ring(OLD))
    with pytest.raises(WrongSecretKey, match="Set OFFHOOK_SECRET_KEY to the key that the other processes use"):
        await installation.check_secret_key(root.db, ring(OTHER))


async def test_a_key_is_replaced_by_putting_the_new_one_in_front(root: Root) -> None:
    for secret in (OLD, f"{OLD},{NEW}", f"{NEW},{OLD}", f"{OLD},{NEW}", f"{NEW},{OLD}", NEW):
        await installation.check_secret_key(root.db, ring(secret))
    with pytest.raises(WrongSecretKey):
        await installation.check_secret_key(root.db, ring(OLD))


async def test_a_lost_key_can_be_given_up(root: Root) -> None:
    await installation.check_secret_key(root.db, ring(OLD))
    assert await installation.accept_secret_key(root.db, ring(NEW)) is True
    assert await installation.accept_secret_key(root.db, ring(NEW)) is False
    await installation.check_secret_key(root.db, ring(NEW))


def test_a_fingerprint_reveals_no_token() -> None:
    keyring = ring(OLD)
    (fingerprint,) = keyring.fingerprints()
    assert fingerprint != ring(NEW).fingerprints()[0]
    assert not keyring.is_derived("callbacks of run 1", fingerprint)


def test_a_clock_is_named_when_it_differs_by_more_than_two_seconds() -> None:
    assert installation.describe_clock(1.9) is None
    assert (installation.describe_clock(-30.2) or "").startswith("The clock of this machine is 30.2 s behind")
    assert "ahead of the database's" in (installation.describe_clock(2.5) or "")


async def test_another_storage_starts_nothing(root: Root) -> None:
    await installation.check_secret_key(root.db, ring(OLD))
    await installation.require_storage(root.db, "s3://not-decided-by-a-command")
    for same in ("s3://bucket/calls", "s3://bucket/calls/", "s3://bucket/calls?region=eu"):
        await installation.check_storage(root.db, same)
    for other in (None, "s3://bucket", "gs://bucket/calls", "s3://another/calls"):
        for check in (installation.check_storage, installation.require_storage):
            with pytest.raises(WrongStorage, match="those of its database are in s3://bucket/calls: recordings"):
                await check(root.db, other)


async def test_a_storage_is_changed_on_purpose(root: Root) -> None:
    await installation.check_secret_key(root.db, ring(OLD))
    await installation.check_storage(root.db, None)
    with pytest.raises(WrongSecretKey):
        await installation.accept_storage(root.db, ring(OTHER), "azure://files")
    before, now = await installation.accept_storage(root.db, ring(OLD), "azure://files")
    assert (before, now) == ('the folder "files" of the data folder', "az://files")
    assert await installation.accept_storage(root.db, ring(OLD), "az://files/") == (now, now)
    with pytest.raises(WrongStorage, match='keeps files in the folder "files" of the data folder'):
        await installation.check_storage(root.db, None)


def test_a_stored_place_has_no_credentials() -> None:
    assert installation.name_storage("s3://key:secret@bucket/a/?token=secret") == "s3://bucket/a"


async def test_a_bucket_has_the_files_of_one_installation(root: Root, tmp_path: Path) -> None:
    """Two databases give out the same numbers of runs: the second one's recordings replaced those of the first."""
    await installation.check_secret_key(root.db, ring(OLD))
    (tmp_path / "shared").mkdir()
    shared, said = FileStore(tmp_path / "here", f"file://{tmp_path}/shared"), list[str]()
    for _ in range(2):
        await installation.check_bucket(root.db, shared, said.append)
    async with root.db.transaction() as session:
        await session.execute(text("UPDATE installation SET identity = gen_random_uuid()::text"))
    with pytest.raises(BucketTaken, match="has the files of another installation"):
        await installation.check_bucket(root.db, shared, said.append)
    await installation.take_bucket(root.db, shared)
    await installation.check_bucket(root.db, shared, said.append)
    assert said == []
    assert list((tmp_path / "here").rglob("*.*")) == []


@pytest.fixture(params=["folder", "s3"])
def shared_address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "folder":
        (tmp_path / "shared").mkdir()
        yield f"file://{tmp_path}/shared"
        return
    with bucket() as kept:
        for name, value in kept.variables.items():
            monkeypatch.setenv(name, value)
        yield kept.address


async def test_of_two_that_start_at_once_one_has_the_bucket(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_address: str
) -> None:
    """Both found it empty, and each believed that it was its own until it started again."""
    await installation.check_secret_key(root.db, ring(OLD))
    ours, theirs = FileStore(tmp_path / "here", shared_address), FileStore(tmp_path / "there", shared_address)
    (tmp_path / "other").write_text("another installation\n")
    read = installation._read_owner

    async def read_before_the_other_writes(storage: FileStore) -> str | None:
        monkeypatch.setattr(installation, "_read_owner", read)
        owner = await read(storage)
        await theirs.put(installation.OWNER_KEY, tmp_path / "other")
        return owner

    monkeypatch.setattr(installation, "_read_owner", read_before_the_other_writes)
    said = list[str]()
    for _ in range(2):
        with pytest.raises(BucketTaken):
            await installation.check_bucket(root.db, ours, said.append)
    assert said == []


async def test_a_bucket_without_conditional_writes_is_written_to(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared_address: str
) -> None:
    await installation.check_secret_key(root.db, ring(OLD))
    put = obstore.put_async

    async def refuse_conditions(*arguments: Any, mode: Any = None, **more: Any) -> Any:
        if mode is not None:
            raise GenericError(
                "Server returned non-2xx status code: 501 Not Implemented: A header implies functionality"
            )
        return await put(*arguments, **more)

    monkeypatch.setattr(obstore, "put_async", refuse_conditions)
    said = list[str]()
    for _ in range(2):
        await installation.check_bucket(root.db, FileStore(tmp_path / "here", shared_address), said.append)
    assert said == []


async def test_a_first_file_says_that_the_storage_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = FileStore(tmp_path, f"file://{tmp_path}/shared")

    def fail() -> Any:
        raise PermissionError("shared")

    monkeypatch.setattr(storage, "_open_store", fail)
    with pytest.raises(StorageUnavailable):
        await storage.put_first("owner", tmp_path / "owner")


async def test_a_bucket_that_is_away_stops_no_start(
    root: Root, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await installation.check_secret_key(root.db, ring(OLD))
    monkeypatch.setattr(installation, "BUCKET_TIMEOUT_S", 0.2)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{closed_port()}")
    monkeypatch.setenv("AWS_ALLOW_HTTP", "true")
    said = list[str]()
    await installation.check_bucket(root.db, FileStore(tmp_path, "s3://bucket"), said.append)
    assert "cannot be reached" in said[0]
    (tmp_path / "full").write_text("no folder, as a disk without room is none")
    shared = FileStore(tmp_path / "full", f"file://{tmp_path}")
    await installation.check_bucket(root.db, shared, said.append)
    assert "cannot be reached: This machine could not write to its disk" in said.pop()
    await installation.check_bucket(root.db, FileStore(tmp_path), said.append)
    assert len(said) == 1
