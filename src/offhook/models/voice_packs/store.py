"""The folder of voice packs: what is installed, what is being fetched, and one writer at a time.

``NAME@DIGEST`` is an installed pack, whole from the moment it has this name; ``NAME@DIGEST.part`` is one that is being
fetched; ``….gone`` one that is being removed. DIGEST is the beginning of its manifest's, so that a newer version of a pack
comes beside the older one and then takes its place.
"""

import fcntl
import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from offhook.kit.files.synced_folder import sync_folder
from offhook.models.voice_packs.disk import LocalPackDisk, PackDisk
from offhook.models.voice_packs.errors import (
    VoicesDamaged,
    VoicesInstallRunning,
    VoicesManifestInvalid,
    VoicesNotInstalled,
)
from offhook.models.voice_packs.manifest import PackFile, PackManifest, parse_manifest

MARKER: Final = "installed.json"
_FOLDER: Final = re.compile(r"(?P<name>[a-z0-9][a-z0-9-]*)@(?P<digest>[0-9a-f]{16})")
# The manifest of what is being fetched.
_NOTE: Final = ".manifest.json"
_NOTES: Final = frozenset({_NOTE, ".download.json", MARKER})
_HASH_BLOCK: Final = 1 << 20
_LOCK_POLL_S: Final = 0.1


@dataclass(frozen=True, slots=True)
class InstalledPack:
    """A whole pack: every file of its manifest lies in ``folder`` with its size, and had its hash when it was installed."""

    folder: Path
    manifest: PackManifest
    installed_at: datetime

    @property
    def name(self) -> str:
        return self.manifest.name

    def locate(self, path: str) -> Path:
        return self.folder / path


@dataclass(frozen=True, slots=True)
class UnfinishedPack:
    """What was fetched of a pack that is not whole yet. ``manifest`` is None where the disk had no room even for it."""

    name: str
    digest: str
    fetched_bytes: int
    manifest: PackManifest | None


class PackStore:
    """The packs in one folder. Methods that change it want its lock (:meth:`hold_lock`)."""

    def __init__(self, folder: Path, disk: PackDisk | None = None) -> None:
        self.folder = folder.absolute()
        self.disk = disk or LocalPackDisk()

    # -- reading --------------------------------------------------------------------------------------------------------

    def list_packs(self) -> list[InstalledPack]:
        """Returns the whole packs by name, the newest version of each."""
        newest: dict[str, InstalledPack] = {}
        for folder in sorted(self.folder.glob("*@*")) if self.folder.is_dir() else ():
            pack = self._read_pack(folder)
            if pack and (pack.name not in newest or newest[pack.name].installed_at <= pack.installed_at):
                newest[pack.name] = pack
        return [newest[name] for name in sorted(newest)]

    def find_pack(self, name: str) -> InstalledPack:
        """Raises VoicesNotInstalled, which names what is installed."""
        packs = self.list_packs()
        for pack in packs:
            if pack.name == name:
                return pack
        known = ", ".join(pack.name for pack in packs)
        raise VoicesNotInstalled(
            f"No voice pack is named {name!r:.60}. {f'Installed: {known}.' if known else 'None is installed.'}"
        )

    def list_unfinished(self) -> list[UnfinishedPack]:
        """Returns what installations left that were canceled, failed or killed, and the one that is running."""
        found = []
        for folder in sorted(self.folder.glob("*@*.part")) if self.folder.is_dir() else ():
            match = _FOLDER.fullmatch(folder.stem)
            if match is not None:
                manifest = _read_manifest(folder / _NOTE)
                found.append(UnfinishedPack(match["name"], match["digest"], _count_bytes(folder), manifest))
        return found

    def _read_pack(self, folder: Path) -> InstalledPack | None:
        """Returns None for everything that is not a whole pack: a file less or longer is enough."""
        match = _FOLDER.fullmatch(folder.name)
        if match is None:
            return None
        try:
            marker = json.loads((folder / MARKER).read_bytes())
            manifest = parse_manifest(json.dumps(marker["manifest"]).encode())
            installed_at = datetime.fromisoformat(marker["installed_at"])
        except (OSError, ValueError, KeyError, TypeError, VoicesManifestInvalid):
            return None
        if (manifest.name, manifest.digest[:16]) != (match["name"], match["digest"]):
            return None
        if not all(has_size(folder / file.path, file) for file in manifest.files):
            return None
        return InstalledPack(folder, manifest, installed_at)

    # -- changing -------------------------------------------------------------------------------------------------------

    @contextmanager
    def hold_lock(self, purpose: str, *, wait_s: float = 0) -> Iterator[None]:
        """Owns the folder for the length of the block. Raises VoicesInstallRunning, which names who has it.

        The kernel drops the lock with our process, however that ends.
        """
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        deadline = time.monotonic() + wait_s
        with (self.folder / "lock").open("a+") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        raise VoicesInstallRunning(self._taken_message()) from None
                    time.sleep(_LOCK_POLL_S)
            file.truncate(0)
            file.write(json.dumps({"pid": os.getpid(), "purpose": purpose}))
            file.flush()
            self._clear_remains()
            yield

    def _taken_message(self) -> str:
        try:
            owner = json.loads((self.folder / "lock").read_text())
            pid, purpose = int(owner["pid"]), str(owner["purpose"])
        except (OSError, ValueError, KeyError, TypeError):
            return "Another command is changing the voices: wait for it."
        return f"Process {pid} is {purpose}: wait for it (--wait does), or stop it. Nothing that it fetched is lost."

    def _clear_remains(self) -> None:
        """Removes what a killed command was removing, and versions that a newer one has replaced."""
        for folder in self.folder.glob("*.gone"):
            shutil.rmtree(folder, ignore_errors=True)
        current = {pack.folder: pack.name for pack in self.list_packs()}
        for name in current.values():
            for folder in self.folder.glob(f"{name}@*"):
                if _FOLDER.fullmatch(folder.name) and folder not in current:
                    self.discard_folder(folder)

    def begin_staging(self, manifest: PackManifest) -> Path:
        """Returns the folder in which the pack is put together, with the files that are already right.

        What was fetched of another version of the pack stays where it fits.
        """
        staging = self._folder_of(manifest).with_suffix(".part")
        for other in sorted(self.folder.glob(f"{manifest.name}@*.part")):
            if other != staging and not staging.exists():
                self.disk.move(other, staging)
            elif other != staging:
                self.discard_folder(other)
        damaged = self._folder_of(manifest)
        if damaged.exists() and not staging.exists():
            self.disk.move(damaged, staging)
        staging.mkdir(mode=0o700, exist_ok=True)
        (staging / MARKER).unlink(missing_ok=True)
        self._prune(staging, manifest)
        (staging / _NOTE).write_bytes(manifest.as_json())  # what it is, for those who look at it before it is whole
        self._reuse_files(staging, manifest)
        return staging

    def _reuse_files(self, staging: Path, manifest: PackManifest) -> None:
        """Takes what an installed version of the pack already has."""
        older = next((pack for pack in self.list_packs() if pack.name == manifest.name), None)
        for file in manifest.files if older else ():
            source, target = older.folder / file.path, staging / file.path  # type: ignore[union-attr]
            if not target.exists() and is_intact(source, file):
                target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                target.hardlink_to(source)

    def _prune(self, staging: Path, manifest: PackManifest) -> None:
        """Leaves only whole files of the manifest, and what is half fetched of one (its name begins with a dot)."""
        wanted = {file.path: file for file in manifest.files}
        for path in sorted(staging.rglob("*"), reverse=True):
            relative = path.relative_to(staging).as_posix()
            if path.is_dir() and not path.is_symlink():
                if not any(path.iterdir()):
                    path.rmdir()
            elif relative not in wanted:
                if not (path.parent == staging and path.name.startswith(".")):
                    path.unlink()
            elif not is_intact(path, wanted[relative]):
                path.unlink()

    def publish_pack(self, staging: Path, manifest: PackManifest) -> InstalledPack:
        """Gives a staging folder that holds every file its final name."""
        before = [pack.installed_at for pack in self.list_packs() if pack.name == manifest.name]
        # The newest one counts, however the clock was set in between.
        installed_at = max([datetime.now(UTC), *(at + timedelta(microseconds=1) for at in before)])
        for remains in staging.glob(".*"):
            remains.unlink()
        marker = {"manifest": manifest.model_dump(exclude_none=True), "installed_at": installed_at.isoformat()}
        with (staging / MARKER).open("wb", buffering=0) as file:
            self.disk.write_block(file, json.dumps(marker, indent=1).encode())
            self.disk.sync_file(file)
        for folder in {path.parent for path in staging.rglob("*")}:
            sync_folder(folder)
        target = self._folder_of(manifest)
        if target.exists():  # an unusable one: _clear_remains keeps none beside a whole one
            self.discard_folder(target)
        self.disk.move(staging, target)
        self._clear_remains()
        return InstalledPack(target, manifest, installed_at)

    def verify_pack(self, pack: InstalledPack) -> None:
        """Reads every file. A damaged pack becomes one that is being fetched, so that nothing uses it and the next
        installation fetches what is damaged. Raises VoicesDamaged, which names the files.
        """
        damaged = [file.path for file in pack.manifest.files if not is_intact(pack.folder / file.path, file)]
        if not damaged:
            return
        staging = pack.folder.with_suffix(".part")
        if staging.exists():
            self.discard_folder(staging)
        self.disk.move(pack.folder, staging)
        named = ", ".join(damaged[:5]) + (f" and {len(damaged) - 5} more" if len(damaged) > 5 else "")
        raise VoicesDamaged(
            f"Files of {pack.name} have changed on disk: {named}. The pack is no longer used. Install "
            "it again; only these files are downloaded."
        )

    def remove_pack(self, name: str) -> int:
        """Removes a pack and what was fetched of it; returns how many bytes. Raises VoicesNotInstalled."""
        folders = [each for each in self.folder.glob(f"{name}@*") if _FOLDER.fullmatch(each.name.removesuffix(".part"))]
        if not folders:
            self.find_pack(name)
        freed = sum(_count_bytes(folder) for folder in folders)
        for folder in folders:
            self.discard_folder(folder)
        return freed

    def discard_unfinished(self, name: str) -> int:
        """Removes what was fetched of a pack that is not whole; returns how many bytes. Raises VoicesNotInstalled."""
        folders = [each for each in self.folder.glob(f"{name}@*.part") if _FOLDER.fullmatch(each.stem)]
        if not folders:
            raise VoicesNotInstalled(f"There is no unfinished installation of a voice pack named {name!r:.60}.")
        freed = sum(_count_bytes(folder) for folder in folders)
        for folder in folders:
            self.discard_folder(folder)
        return freed

    def discard_folder(self, folder: Path) -> None:
        """Removes a folder so that a command killed meanwhile leaves nothing that looks like a pack."""
        gone = folder.with_name(f"{folder.name}.gone")
        if gone.exists():
            shutil.rmtree(gone)
        self.disk.move(folder, gone)
        shutil.rmtree(gone)

    def _folder_of(self, manifest: PackManifest) -> Path:
        return self.folder / f"{manifest.name}@{manifest.digest[:16]}"


def _count_bytes(folder: Path) -> int:
    """Returns the size of the files of packs in a folder, without our notes; files may come and go meanwhile."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            if name not in _NOTES:
                with suppress(OSError):
                    total += Path(parent, name).lstat().st_size
    return total


def _read_manifest(path: Path) -> PackManifest | None:
    try:
        return parse_manifest(path.read_bytes())
    except (OSError, VoicesManifestInvalid):
        return None


def has_size(path: Path, file: PackFile) -> bool:
    """Returns whether this is a plain file of the right size."""
    try:
        return path.is_file() and not path.is_symlink() and path.stat().st_size == file.size
    except OSError:
        return False


def is_intact(path: Path, file: PackFile) -> bool:
    """Returns whether this is the file, by size and hash. Reads it."""
    return has_size(path, file) and hash_file(path).hexdigest() == file.sha256


def hash_file(path: Path) -> "hashlib._Hash":
    digest = hashlib.sha256()
    with path.open("rb") as source:
        while block := source.read(_HASH_BLOCK):
            digest.update(block)
    return digest
