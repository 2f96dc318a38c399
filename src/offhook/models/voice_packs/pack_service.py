"""Voice packs of this machine as superusers change them: where they come from, and one installation at a time.

An installation is a task of this process, so that it goes on when the page is closed. What it fetched is on the disk: after
a failure, a cancellation or the end of the process the next one goes on from there.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.tasks import TaskTracker, cancel_task, finish_in_thread
from offhook.models.voice_packs import repository
from offhook.models.voice_packs.download import report_disk
from offhook.models.voice_packs.errors import (
    VoicePackError,
    VoicesAddressInvalid,
    VoicesInstallNotRunning,
    VoicesInstallRunning,
    VoicesManifestMismatch,
    VoicesSourceMissing,
)
from offhook.models.voice_packs.installer import InstallProgress, PackInstaller, fetch_manifest
from offhook.models.voice_packs.manifest import PackManifest
from offhook.models.voice_packs.mirrors import FetchLimits, MirrorSet, normalize_address
from offhook.models.voice_packs.store import InstalledPack, PackStore, UnfinishedPack
from offhook.orgs import Caller, write_audit_entry
from offhook.settings import Settings

PROVIDER: Final = "voice_pack"
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class MirrorChoice:
    """The addresses that apply, and who named them."""

    addresses: tuple[str, ...]
    source: Literal["stored", "environment", "none"]


@dataclass(slots=True)
class PackInstallation:
    """The installation that this process runs, or the last one that it ran."""

    manifest: PackManifest
    started_at: datetime
    state: Literal["running", "done", "failed", "canceled"] = "running"
    done_bytes: int = 0
    file: str = ""
    error: VoicePackError | None = None
    ended_at: datetime | None = None
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None

    def note_progress(self, progress: InstallProgress) -> None:
        self.done_bytes, self.file = progress.done_bytes, progress.file
        self.begun.set()


@dataclass(frozen=True, slots=True)
class PackOverview:
    """What is on this machine. ``users`` are how many organizations chose a pack, by its name."""

    mirrors: MirrorChoice
    installed: list[InstalledPack]
    unfinished: list[UnfinishedPack]
    users: dict[str, int]
    defaults: frozenset[str]
    installation: PackInstallation | None
    free_bytes: int


class VoicePackService:
    """The packs below one data folder. One per process; ``limits`` are those of its downloads."""

    def __init__(self, settings: Settings, db: Database, clock: Clock) -> None:
        self._settings = settings
        self._db = db
        self._clock = clock
        self._tasks = TaskTracker()
        self._is_starting = False
        self._installation: PackInstallation | None = None
        self.store = PackStore(settings.data_dir / "voices")
        self.limits = FetchLimits()

    async def describe(self, session: AsyncSession) -> PackOverview:
        mirrors = await self._choose_mirrors(session)
        users = await repository.count_organizations_by_pack(session)
        installed, unfinished, free = await asyncio.to_thread(self._read_disk)
        settings = self._settings
        chosen = ((settings.tts_provider, settings.tts_model), (settings.stt_provider, settings.stt_model))
        defaults = frozenset(model for provider, model in chosen if provider == PROVIDER and model)
        return PackOverview(mirrors, installed, unfinished, users, defaults, self._installation, free)

    async def replace_mirrors(self, session: AsyncSession, caller: Caller, addresses: Sequence[str]) -> None:
        """Stores the addresses, for the whole installation. Raises VoicesAddressInvalid."""
        for address in addresses:
            if "://" not in address:
                raise VoicesAddressInvalid(
                    f"{address!r:.200} does not begin with https://. From a folder of the machine, install with "
                    "`offhook voices install --from FOLDER`."
                )
            normalize_address(address)
        await repository.store_addresses(session, addresses)
        await write_audit_entry(session, caller, "voices.mirrors_changed", data={"addresses": list(addresses)})

    async def load_offer(self) -> PackManifest:
        """Asks the mirrors what they have, with no transaction open. Raises VoicePackErrors."""
        return await self._fetch_manifest(await self._load_addresses())

    async def start_installation(self, caller: Caller, digest: str | None) -> PackOverview:
        """Returns what is on the machine when the download has begun. Raises VoicesInstallRunning, VoicesManifestMismatch where the mirror has
        another pack than that of ``digest``, VoicesDiskFull and other VoicePackErrors."""
        if self._is_starting or self._is_running:
            raise VoicesInstallRunning("A voice pack is being installed. Wait until it has finished, or cancel it.")
        self._is_starting = True
        try:
            addresses = await self._load_addresses()
            manifest = await self._fetch_manifest(addresses)
            if digest is not None and manifest.digest != digest.lower():
                raise VoicesManifestMismatch("The mirror now has a different pack. Review it, then install.")
            async with self._db.transaction() as session:
                data = {"bytes": manifest.size, "digest": manifest.digest, "licenses": manifest.licenses}
                await write_audit_entry(session, caller, "voices.install_started", f"voices:{manifest.name}", data)
            installation = PackInstallation(manifest, self._clock.now())
            self._installation = installation
            installation.task = self._tasks.start(self._install(installation, addresses), name="voice-pack")
            await installation.begun.wait()
        finally:
            self._is_starting = False
        if installation.error is not None:
            raise installation.error
        async with self._db.transaction() as session:
            return await self.describe(session)

    async def cancel_installation(self, session: AsyncSession, caller: Caller) -> None:
        """Stops the installation; what it fetched stays. Raises VoicesInstallNotRunning."""
        installation = self._installation
        if installation is None or not self._is_running:
            raise VoicesInstallNotRunning
        await cancel_task(installation.task)
        await write_audit_entry(session, caller, "voices.install_canceled", f"voices:{installation.manifest.name}")

    async def remove_pack(
        self, session: AsyncSession, caller: Caller, name: str, *, is_unfinished_only: bool = False
    ) -> int:
        """Removes a pack and what was fetched of it, or only the latter; returns how many bytes that freed.

        Raises VoicesNotInstalled, and VoicesInstallRunning while anything is installed.
        """
        freed = await finish_in_thread(self._remove, name, is_unfinished_only)
        await write_audit_entry(session, caller, "voices.removed", f"voices:{name}", {"bytes": freed})
        return freed

    async def close(self) -> None:
        await self._tasks.close()

    # -- behind them ----------------------------------------------------------------------------------------------------

    @property
    def _is_running(self) -> bool:
        return self._installation is not None and self._installation.state == "running"

    async def _choose_mirrors(self, session: AsyncSession) -> MirrorChoice:
        stored = await repository.load_addresses(session)
        if stored:
            return MirrorChoice(tuple(stored), "stored")
        named = tuple(part.strip() for part in self._settings.voices_url.split(",") if part.strip())
        return MirrorChoice(named, "environment" if named else "none")

    async def _load_addresses(self) -> tuple[str, ...]:
        async with self._db.transaction() as session:
            choice = await self._choose_mirrors(session)
        if not choice.addresses:
            raise VoicesSourceMissing("No mirror is set; Offhook ships none. Enter the address of one.")
        return choice.addresses

    async def _fetch_manifest(self, addresses: Sequence[str]) -> PackManifest:
        async with MirrorSet(addresses, self._settings.egress_allow, self.limits) as mirrors:
            return await fetch_manifest(mirrors)

    async def _install(self, installation: PackInstallation, addresses: Sequence[str]) -> None:
        try:
            async with MirrorSet(addresses, self._settings.egress_allow, self.limits) as mirrors:
                installer = PackInstaller(self.store, mirrors, min_free_bytes=self._settings.min_free_disk_mb * 10**6)
                await installer.install_pack(installation.manifest, installation.note_progress)
            installation.state, installation.done_bytes = "done", installation.manifest.size
        except VoicePackError as error:
            installation.state, installation.error = "failed", error
        except asyncio.CancelledError:
            installation.state = "canceled"
            raise
        except Exception as error:  # a defect of ours must not leave an installation that seems to run for ever
            installation.state, installation.error = "failed", VoicePackError(f"Unexpected: {type(error).__name__}.")
            log.exception("voice_pack_installation_failed", pack=installation.manifest.name)
        finally:
            installation.ended_at = self._clock.now()
            installation.begun.set()

    def _read_disk(self) -> tuple[list[InstalledPack], list[UnfinishedPack], int]:
        store = self.store
        return store.list_packs(), store.list_unfinished(), store.disk.free_bytes(self._settings.data_dir)

    def _remove(self, name: str, is_unfinished_only: bool) -> int:
        with report_disk(), self.store.hold_lock(f"removing {name}"):
            return self.store.discard_unfinished(name) if is_unfinished_only else self.store.remove_pack(name)
