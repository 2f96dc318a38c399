"""Installs a pack: manifest, free space, files, and finally the complete folder into place."""

import asyncio
import hashlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from offhook.kit.tasks import finish_in_thread
from offhook.models.voice_packs.download import FileDownload, report_disk
from offhook.models.voice_packs.errors import (
    VoicesDiskFull,
    VoicesManifestInvalid,
    VoicesManifestMismatch,
    VoicesManifestUnavailable,
)
from offhook.models.voice_packs.manifest import MANIFEST_NAME, MAX_MANIFEST_BYTES, PackManifest, parse_manifest
from offhook.models.voice_packs.mirrors import Mirror, MirrorFault, MirrorSet
from offhook.models.voice_packs.store import InstalledPack, PackStore

_MANIFEST_ATTEMPTS: Final = 3


@dataclass(frozen=True, slots=True)
class InstallProgress:
    """``file`` is the one that is being fetched; bytes are those of the pack."""

    done_bytes: int
    total_bytes: int
    file: str


OnProgress = Callable[[InstallProgress], None]


async def fetch_manifest(mirrors: MirrorSet, name: str = MANIFEST_NAME, *, sha256: str | None = None) -> PackManifest:
    """Returns the manifest of the first mirror that has one. Raises VoicesManifestUnavailable, VoicesManifestInvalid, and
    VoicesManifestMismatch when its bytes do not have the pinned ``sha256``."""
    faults = []
    for mirror in mirrors.mirrors:
        for attempt in range(1, _MANIFEST_ATTEMPTS + 1):
            try:
                return check_manifest(await _read_manifest(mirror, name), sha256)
            except MirrorFault as fault:
                if not fault.retryable or attempt == _MANIFEST_ATTEMPTS:
                    faults.append(f"{mirror.address}{name}: {fault}")
                    break
                await asyncio.sleep(mirrors.limits.pause_s * attempt)
    raise VoicesManifestUnavailable(
        f"No mirror serves a manifest. {'; '.join(faults)}. Check the address: it is the folder that holds {MANIFEST_NAME}."
    )


def check_manifest(content: bytes, sha256: str | None) -> PackManifest:
    """Returns the manifest. Raises VoicesManifestMismatch and VoicesManifestInvalid."""
    found = hashlib.sha256(content).hexdigest()
    if sha256 is not None and found != sha256.lower():
        raise VoicesManifestMismatch(
            f"The manifest has the SHA-256 {found}, not the pinned one. Nothing was installed."
        )
    return parse_manifest(content)


async def _read_manifest(mirror: Mirror, name: str) -> bytes:
    content = bytearray()
    async with mirror.open_file(name) as part:
        async for block in part.blocks:
            content += block
            if len(content) > MAX_MANIFEST_BYTES:
                raise VoicesManifestInvalid(f"The manifest is longer than {MAX_MANIFEST_BYTES // 1_000_000} MB.")
    return bytes(content)


class PackInstaller:
    """Installs into one store. ``min_free_bytes`` stay free on its disk."""

    def __init__(self, store: PackStore, mirrors: MirrorSet, *, min_free_bytes: int = 0) -> None:
        self._store = store
        self._mirrors = mirrors
        self._min_free_bytes = min_free_bytes

    async def install_pack(
        self, manifest: PackManifest, on_progress: OnProgress | None = None, *, wait_s: float = 0
    ) -> InstalledPack:
        """Returns the whole pack, at once where it is installed. Raises VoicePackErrors; what was fetched stays for the
        next time.

        ``wait_s`` is the patience with another installation.
        """
        async with self._hold_store(manifest, wait_s):
            for pack in self._store.list_packs():
                if pack.manifest.digest == manifest.digest:
                    return pack
            with report_disk():
                staging = await finish_in_thread(self._store.begin_staging, manifest)
            missing = [file for file in manifest.files if not (staging / file.path).exists()]
            meter = _ProgressMeter(manifest, manifest.size - sum(file.size for file in missing), on_progress)
            self._require_space(staging, sum(file.size for file in missing))
            download = FileDownload(
                self._mirrors.mirrors, staging, self._store.disk, self._mirrors.limits, meter.count_bytes
            )
            for file in missing:
                meter.begin_file(file.path)
                await download.fetch_file(file)
            with report_disk():
                return await finish_in_thread(self._store.publish_pack, staging, manifest)

    @asynccontextmanager
    async def _hold_store(self, manifest: PackManifest, wait_s: float) -> AsyncIterator[None]:
        lock = self._store.hold_lock(f"installing {manifest.name}", wait_s=wait_s)
        with report_disk():
            taking = asyncio.ensure_future(asyncio.to_thread(lock.__enter__))
            try:
                await asyncio.shield(taking)
            except asyncio.CancelledError:
                await asyncio.wait([taking])
                if taking.exception() is None:
                    lock.__exit__(None, None, None)
                raise
        try:
            yield
        finally:
            lock.__exit__(None, None, None)

    def _require_space(self, staging: Path, missing_bytes: int) -> None:
        partial = staging / ".download"
        needed = missing_bytes - (partial.stat().st_size if partial.exists() else 0) + self._min_free_bytes
        free = self._store.disk.free_bytes(staging)
        if free < needed:
            raise VoicesDiskFull(
                f"The pack needs {describe_size(needed - self._min_free_bytes)} more and {describe_size(self._min_free_bytes)} "
                f"stay free, but the disk of {self._store.folder} has {describe_size(free)}. Free some and install again."
            )


class _ProgressMeter:
    def __init__(self, manifest: PackManifest, done_bytes: int, on_progress: OnProgress | None) -> None:
        self._done = done_bytes
        self._total = manifest.size
        self._file = ""
        self._on_progress = on_progress

    def begin_file(self, path: str) -> None:
        self._file = path

    def count_bytes(self, count: int) -> None:
        self._done += count
        if self._on_progress is not None:
            self._on_progress(InstallProgress(self._done, self._total, self._file))


def describe_size(size: int) -> str:
    """Returns ``71.1 MB``."""
    for unit, scale in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size >= scale:
            return f"{size / scale:.1f} {unit}"
    return f"{size} bytes"
