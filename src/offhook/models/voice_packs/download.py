"""Fetches one file of a pack from several mirrors: resumed, bounded, and checked while it arrives."""

import asyncio
import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import Path
from typing import BinaryIO, Final, cast

from offhook.kit.tasks import finish_in_thread
from offhook.models.voice_packs.disk import PackDisk
from offhook.models.voice_packs.errors import VoicesDiskFailed, VoicesDiskFull, VoicesDownloadFailed, VoicesFileMismatch
from offhook.models.voice_packs.manifest import PackFile
from offhook.models.voice_packs.mirrors import FetchLimits, FilePart, Mirror, MirrorFault
from offhook.models.voice_packs.store import hash_file

_DISK_FULL: Final = frozenset({ENOSPC, EDQUOT, EFBIG})
# How often a mirror may contradict what it sent before.
MAX_RESTARTS: Final = 2
OnBytes = Callable[[int], None]


@dataclass(slots=True)
class _Origin:
    """What a half-fetched file is the beginning of."""

    sha256: str
    url: str = ""
    validator: str = ""


class _PartialFile:
    """The one half-fetched file of a staging folder; its origin stands beside it."""

    def __init__(self, staging: Path, file: PackFile, disk: PackDisk) -> None:
        self.path = staging / ".download"
        self._note = staging / ".download.json"
        self._file = file
        self._disk = disk
        self.origin = self._read_origin()
        if self.origin is None or self.origin.sha256 != file.sha256 or self.size > file.size:
            self.restart()

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def restart(self) -> None:
        # The file goes first: a note without its file is harmless, a file with another's note is not.
        self.path.unlink(missing_ok=True)
        self.note_origin("", "")

    def note_origin(self, url: str, validator: str) -> None:
        self.origin = _Origin(self._file.sha256, url, validator)
        fields = {"sha256": self.origin.sha256, "url": url, "validator": validator}
        with report_disk(), self._note.open("wb", buffering=0) as file:
            self._disk.write_block(file, json.dumps(fields).encode())

    def validator_at(self, url: str) -> str:
        """Returns the validator to resume with at an address. Another mirror's files are told by the hash alone."""
        return self.origin.validator if self.origin and self.origin.url == url else ""

    def _read_origin(self) -> _Origin | None:
        try:
            fields = json.loads(self._note.read_bytes())
            return _Origin(str(fields["sha256"]), str(fields["url"]), str(fields["validator"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None


@contextmanager
def report_disk() -> Iterator[None]:
    """Turns what the operating system says of the disk into VoicesDiskFull or VoicesDiskFailed."""
    try:
        yield
    except OSError as error:
        if error.errno in _DISK_FULL:
            raise VoicesDiskFull from None
        raise VoicesDiskFailed(f"The voices folder cannot be written to: {error.strerror}.") from None


class FileDownload:
    """Fetches files into one staging folder. ``on_bytes`` hears how many came, negative for those thrown away."""

    def __init__(
        self, mirrors: Sequence[Mirror], staging: Path, disk: PackDisk, limits: FetchLimits, on_bytes: OnBytes
    ) -> None:
        self._mirrors = mirrors
        self._staging = staging
        self._disk = disk
        self._limits = limits
        self._on_bytes = on_bytes

    async def fetch_file(self, file: PackFile) -> None:
        """Puts the whole, checked file in its place. Raises VoicesDiskFull, VoicesFileMismatch where every mirror has another
        file, and VoicesDownloadFailed."""
        partial = _PartialFile(self._staging, file, self._disk)
        self._on_bytes(partial.size)
        faults: list[tuple[Mirror, MirrorFault]] = []
        for mirror in self._mirrors:
            try:
                await self._fetch_from(mirror, file, partial)
            except MirrorFault as fault:
                faults.append((mirror, fault))
                continue
            target = self._staging / file.path
            target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with report_disk():
                self._disk.move(partial.path, target)
            return
        told = "; ".join(f"{mirror.address}: {fault}" for mirror, fault in faults)
        if all(fault.is_wrong for _, fault in faults):
            raise VoicesFileMismatch(
                f"{file.path} does not match the manifest: {told}. Ask the mirror's operator, or get "
                "its current voices.json. The other files are kept."
            )
        raise VoicesDownloadFailed(
            f"{file.path} could not be downloaded: {told}. Install again later; downloaded files are kept."
        )

    async def _fetch_from(self, mirror: Mirror, file: PackFile, partial: _PartialFile) -> None:
        """Tries one mirror. Raises the MirrorFault that ended the last attempt."""
        limits, failures, restarts, pause_s = self._limits, 0, 0, self._limits.pause_s
        most = partial.size
        while True:
            try:
                await self._attempt_fetch(mirror, file, partial)
                return
            except MirrorFault as fault:
                if fault.spoils:
                    self._drop_partial(partial)
                    restarts += 1
                # Only what no attempt before had is progress: a mirror that begins again and again comes to an end.
                if partial.size - most >= limits.progress_bytes:
                    failures, pause_s = 0, limits.pause_s
                most = max(most, partial.size)
                failures += 1
                if not fault.retryable or failures >= limits.attempts or restarts > MAX_RESTARTS:
                    raise
                await asyncio.sleep(min(max(pause_s, fault.pause_s), limits.max_pause_s))
                pause_s *= 2

    async def _attempt_fetch(self, mirror: Mirror, file: PackFile, partial: _PartialFile) -> None:
        url = f"{mirror.address}{file.url or file.path}"
        resumed = partial.size
        digest = await asyncio.to_thread(hash_file, partial.path) if resumed else hashlib.sha256()
        if resumed < file.size or not file.size:
            opened = mirror.open_file(
                file.path, url=file.url, size=file.size, offset=resumed, validator=partial.validator_at(url)
            )
            async with opened as part:
                if part.offset != resumed:
                    self._drop_partial(partial)
                    resumed, digest = 0, hashlib.sha256()
                if not resumed:
                    partial.note_origin(url, part.validator)
                await self._append_part(part, file, partial, digest)
        if digest.hexdigest() == file.sha256:
            with report_disk(), partial.path.open("ab") as target:
                await finish_in_thread(self._disk.sync_file, target)
            return
        self._drop_partial(partial)
        # Two beginnings do not make a whole: the same mirror may have it from its start.
        raise MirrorFault("the content is another one", retryable=bool(resumed), is_wrong=True)

    async def _append_part(
        self, part: FilePart, file: PackFile, partial: _PartialFile, digest: "hashlib._Hash"
    ) -> None:
        received = partial.size

        def keep_block(target: BinaryIO, block: bytes) -> None:
            with report_disk():
                self._disk.write_block(target, block)
            digest.update(block)

        with report_disk():
            target = partial.path.open("ab", buffering=0)
        with target:
            async for block in part.blocks:
                received += len(block)
                if received > file.size:
                    self._drop_partial(partial)
                    raise MirrorFault(f"the file is longer than {file.size} bytes", retryable=False, is_wrong=True)
                await finish_in_thread(keep_block, cast(BinaryIO, target), block)
                self._on_bytes(len(block))
        if received < file.size:
            raise MirrorFault(f"the answer ended after {received} of {file.size} bytes", retryable=True)

    def _drop_partial(self, partial: _PartialFile) -> None:
        self._on_bytes(-partial.size)
        partial.restart()
