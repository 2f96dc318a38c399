"""What must be the same in every process of an installation, checked when one starts."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Final

from offhook.kit.crypto import Keyring
from offhook.kit.database.database import Database
from offhook.kit.database.database_clock import DatabaseClock
from offhook.kit.files.file_store import FileGone, FileStore, StorageUnavailable
from offhook.nodes import repository

MAX_CLOCK_DIFFERENCE: Final = timedelta(seconds=2)
# Stored for the folder ``files`` of the data folder: it may move with its machine.
LOCAL_STORAGE: Final = "local"
# In the bucket: the identity of the installation whose files it has.
OWNER_KEY: Final = "installation"
BUCKET_TIMEOUT_S: Final = 10


class OtherInstallation(Exception):
    """This process is set for another installation than its database is of: one or more sentences."""


class WrongSecretKey(OtherInstallation):
    """This process's secret key is not the installation's."""


class BucketTaken(OtherInstallation):
    """The bucket is another installation's."""


class WrongStorage(OtherInstallation):
    """This process keeps files elsewhere than the installation does."""


async def check_installation(
    db: Database,
    keyring: Keyring,
    storage: FileStore,
    storage_url: str | None,
    clock: DatabaseClock,
    say: Callable[[str], None],
) -> None:
    """Checks the process at its start; says what differs, and raises OtherInstallation when it can do no work."""
    await check_secret_key(db, keyring)
    await check_storage(db, storage_url)
    await check_bucket(db, storage, say)
    warning = describe_clock(await clock.synchronize(db))
    if warning is not None:
        say(warning)


async def check_secret_key(db: Database, keyring: Keyring) -> None:
    """Compares the key with the one that this database was first used with. Raises WrongSecretKey.

    A key that was put in front of the known one becomes the known one.
    """
    ours = keyring.fingerprints()
    async with db.transaction() as session:
        known = await repository.adopt_fingerprint(session, ours[0])
        _require_key(known, ours)
        if known != ours[0]:
            await repository.replace_fingerprint(session, ours[0])


async def accept_secret_key(db: Database, keyring: Keyring) -> bool:
    """Makes this process's key the installation's; returns False if it is already."""
    ours = keyring.fingerprints()[0]
    async with db.transaction() as session:
        if await repository.adopt_fingerprint(session, ours) == ours:
            return False
        await repository.replace_fingerprint(session, ours)
    return True


async def check_storage(db: Database, storage_url: str | None) -> None:
    """Compares where this process keeps files with where the first process kept them. Raises WrongStorage."""
    ours = name_storage(storage_url)
    async with db.transaction() as session:
        _require_storage(await repository.adopt_storage(session, ours), ours)


async def require_installation(db: Database, keyring: Keyring, storage_url: str | None) -> None:
    """Compares key and storage for a command that changes nothing. Raises OtherInstallation."""
    async with db.transaction() as session:
        known = await repository.find_fingerprint(session)
    if known is not None:
        _require_key(known, keyring.fingerprints())
    await require_storage(db, storage_url)


async def require_storage(db: Database, storage_url: str | None) -> None:
    """Compares it for a command, which decides nothing. Raises WrongStorage."""
    async with db.transaction() as session:
        known = await repository.find_storage(session)
    if known is not None:
        _require_storage(known, name_storage(storage_url))


async def check_bucket(db: Database, storage: FileStore, say: Callable[[str], None]) -> None:
    """Writes into the bucket whose it is, or raises BucketTaken: two databases give out the same numbers, would overwrite
    each other's recordings, and delete each other's files as those of no run.

    A bucket that does not respond stops no start.
    """
    if not storage.is_shared:
        return
    async with db.transaction() as session:
        ours = await repository.get_identity(session)
    try:
        async with asyncio.timeout(BUCKET_TIMEOUT_S):
            owner = await _read_owner(storage)
            if owner is None:  # another installation may start at the same time
                await _write_owner(storage, ours, storage.put_first)
                owner = await _read_owner(storage)
    except (StorageUnavailable, OSError) as error:
        say(
            f"The files of the installation cannot be reached: {_describe_failure(error)} Until they can be, recordings "
            "wait on this machine."
        )
        return
    if owner not in (None, ours):
        raise BucketTaken(
            "The bucket in OFFHOOK_STORAGE_URL has the files of another installation, whose recordings would be "
            "overwritten. Use another bucket, or another prefix in it (s3://bucket/prefix). If that installation is gone "
            "for good, or is this one before it was restored from a backup of an earlier version, run "
            "`offhook storage adopt --take-over`."
        )


async def take_bucket(db: Database, storage: FileStore) -> None:
    """Makes the bucket this installation's, whosever it was."""
    if storage.is_shared:
        async with db.transaction() as session:
            ours = await repository.get_identity(session)
        await _write_owner(storage, ours, storage.put)


def _describe_failure(error: StorageUnavailable | OSError) -> str:
    if isinstance(error, StorageUnavailable):
        return error.message
    if isinstance(error, TimeoutError):
        return f"The bucket in OFFHOOK_STORAGE_URL did not respond within {BUCKET_TIMEOUT_S} s."
    return f"This machine could not write to its disk ({error.strerror})."


async def _read_owner(storage: FileStore) -> str | None:
    try:
        async with storage.open_file(OWNER_KEY) as path:
            return (await asyncio.to_thread(path.read_text, errors="replace")).strip()
    except FileGone:
        return None


async def _write_owner(storage: FileStore, identity: str, write: Callable[[str, Path], Awaitable[None]]) -> None:
    draft = storage.path_for(f"{OWNER_KEY}.{secrets.token_hex(8)}")
    try:
        await asyncio.to_thread(draft.write_text, f"{identity}\n")
        await write(OWNER_KEY, draft)
    finally:
        draft.unlink(missing_ok=True)


async def accept_storage(db: Database, keyring: Keyring, storage_url: str | None) -> tuple[str, str]:
    """Makes where this process keeps files the installation's storage; returns where it was, and where it is."""
    await check_secret_key(db, keyring)
    ours = name_storage(storage_url)
    async with db.transaction() as session:
        known = await repository.adopt_storage(session, ours)
        await repository.replace_storage(session, ours)
    return describe_storage(known), describe_storage(ours)


def name_storage(storage_url: str | None) -> str:
    """Returns a storage as the database keeps it: the same for the same place, and without what may be secret."""
    if storage_url is None:
        return LOCAL_STORAGE
    scheme, _, place = storage_url.partition("?")[0].partition("://")
    return f"{'az' if scheme == 'azure' else scheme}://{place.rpartition('@')[2].rstrip('/')}"


def describe_storage(name: str) -> str:
    return 'the folder "files" of the data folder' if name == LOCAL_STORAGE else name


def _require_key(known: str, ours: list[str]) -> None:
    if known not in ours:
        raise WrongSecretKey(
            "This process has a different secret key than its database, so it cannot read any "
            "stored credential. Set OFFHOOK_SECRET_KEY to the key that the other processes use. "
            "If that key is lost, run `offhook keys adopt` to use this one instead."
        )


def _require_storage(known: str, ours: str) -> None:
    if known != ours:
        raise WrongStorage(
            f"This process keeps files in {describe_storage(ours)}, but those of its database are in "
            f"{describe_storage(known)}: recordings and documents would be missing. Set OFFHOOK_STORAGE_URL to the "
            "value that the other processes use. If you moved the files, run `offhook storage adopt` with the new setting."
        )


def describe_clock(ahead_s: float) -> str | None:
    """Returns a sentence about a clock that differs too much from the database's."""
    if abs(ahead_s) <= MAX_CLOCK_DIFFERENCE.total_seconds():
        return None
    direction = "ahead of" if ahead_s > 0 else "behind"
    return (
        f"The clock of this machine is {abs(ahead_s):.1f} s {direction} the database's, which Offhook goes by: let NTP "
        "set it, because signatures of carriers and signed links are checked by time."
    )
