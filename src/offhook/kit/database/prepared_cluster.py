"""A prepared cluster: what ``initdb`` and all migrations make of an empty folder, packed once for all data folders.

It is a file of the installation. A new data folder starts with its contents in a third of the time; where there is
none for this program, it starts without. There is nothing of one data folder in it: the database's only user has no
password, and who may connect is written at each start.
"""

import hashlib
import os
import platform
import struct
import sys
import tempfile
import zipfile
import zlib
from pathlib import Path

from offhook.kit.database.migrations import migrations_folder
from offhook.kit.database.postgres_program import INITDB_OPTIONS, ServerOwner, postgres_version
from offhook.kit.files.synced_folder import sync_folder

# Written at each start, with names of the machine and of its user.
_OF_ONE_FOLDER = frozenset({"pg_hba.conf", "pg_ident.conf", "postmaster.opts", "postmaster.pid"})
_NAME = "database-{key}.zip"
# What a file that is cut off, altered or not of our making raises when it is read.
_DAMAGES = (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, ValueError, struct.error)


class DamagedCluster(Exception):
    """The packed cluster cannot be read; the message says why."""


def prepared_cluster_path() -> Path:
    """Returns where this installation keeps the cluster for its PostgreSQL and its migrations; it may not be there."""
    return Path(sys.prefix) / "share" / "offhook" / _NAME.format(key=_fingerprint())


def _fingerprint() -> str:
    digest = hashlib.sha256(repr((postgres_version(), platform.machine(), INITDB_OPTIONS)).encode())
    folder = migrations_folder()
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            content = hashlib.sha256(path.read_bytes()).hexdigest()
            digest.update(f"{path.relative_to(folder)} {content}\n".encode())
    return digest.hexdigest()[:16]


def pack_cluster(cluster: Path, packed: Path) -> None:
    """Packs the cluster of a server that was stopped in order, in place of those of other versions."""
    packed.parent.mkdir(parents=True, exist_ok=True)
    descriptor, half = tempfile.mkstemp(prefix=".packing-", dir=packed.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                for path in sorted(cluster.rglob("*")):
                    if path.name not in _OF_ONE_FOLDER:
                        archive.write(path, path.relative_to(cluster))
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
        Path(half).replace(packed)
        sync_folder(packed.parent)
    except BaseException:
        Path(half).unlink(missing_ok=True)
        raise
    for other in packed.parent.glob(_NAME.format(key="*")):
        if other != packed:
            other.unlink(missing_ok=True)


def is_intact(packed: Path) -> bool:
    """Returns whether the file is there and every checksum in it is right."""
    try:
        with zipfile.ZipFile(packed) as archive:
            return archive.testzip() is None
    except (OSError, *_DAMAGES):
        return False


def unpack_cluster(packed: Path, folder: Path, owner: ServerOwner) -> None:
    """Fills an empty folder for ``owner``, without waiting for the disk.

    Raises OSError, or :class:`DamagedCluster` where a checksum is wrong; the folder then holds a part.
    """
    # By descriptors: thousands of paths need not be built and looked up.
    top = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        with zipfile.ZipFile(packed) as archive:
            for entry in archive.infolist():
                name = entry.filename
                if ".." in name or name.startswith("/"):
                    raise DamagedCluster(f"{name!r} is not a name in a folder")
                if entry.is_dir():
                    os.mkdir(name, 0o700, dir_fd=top)
                    _give(name, owner, top)
                else:
                    _write(name, archive.read(entry), owner, top)
    except _DAMAGES as error:
        raise DamagedCluster(str(error) or type(error).__name__) from error
    finally:
        os.close(top)


def _give(name: str, owner: ServerOwner, top: int) -> None:
    if owner.uid is not None and owner.gid is not None:
        os.chown(name, owner.uid, owner.gid, dir_fd=top)


def _write(name: str, content: bytes, owner: ServerOwner, top: int) -> None:
    descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600, dir_fd=top)
    with os.fdopen(descriptor, "wb", buffering=0) as file:
        if owner.uid is not None and owner.gid is not None:
            os.fchown(descriptor, owner.uid, owner.gid)
        rest = memoryview(content)
        while rest:
            rest = rest[file.write(rest) :]
