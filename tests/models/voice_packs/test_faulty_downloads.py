"""Downloads that go wrong: cut, wrong bytes, full disk, stale mirror, two at once, killed. After each, no half pack."""

import asyncio
import os
import random
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from offhook.models.voice_packs.errors import (
    VoicePackError,
    VoicesDiskFull,
    VoicesDownloadFailed,
    VoicesFileMismatch,
    VoicesInstallRunning,
)
from offhook.models.voice_packs.installer import PackInstaller, fetch_manifest
from offhook.models.voice_packs.mirrors import FetchLimits, MirrorSet
from offhook.models.voice_packs.store import PackStore
from tests.fakes.mirror import FOREVER, MirrorFlaw, MirrorServer, mirror_server
from tests.forks import forks
from tests.models.voice_packs.packs import (
    CALM,
    ENCODER,
    HASTY,
    VOICE,
    SmallDisk,
    check_no_half_pack,
    manifest_of,
    pack_files,
    served,
)
from tests.quick import first_quick

# Faults of the mirror and of the way to it; each strikes once, twice or for ever, anywhere in one of the large files.
FLAWS = (
    *("cut", "wrong_bytes", "short", "long", "status", "stall", "drip", "changed", "retagged", "ignores_range"),
    *("wrong_range", "wrong_total", "no_such_range", "unbounded", "redirect"),
)
OTHERS = ("stale_manifest", "full_disk", "two_at_once", "killed", "killed")
KINDS = (*FLAWS, *OTHERS)
ANSWERS_TO_RANGES = frozenset({"retagged", "ignores_range", "wrong_range", "wrong_total", "no_such_range"})
CODES = {VoicesDiskFull.code, VoicesDownloadFailed.code, VoicesFileMismatch.code, VoicesInstallRunning.code}


class FaultyDownload:
    """One of the faults, drawn by a seed, against one mirror and an empty store."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.rng = random.Random(seed)
        self.kind = KINDS[seed % len(KINDS)]
        self.files = pack_files(seed)
        self.folder = folder
        self.store = PackStore(folder / "voices")

    async def run(self) -> None:
        """The faulty download, then one without a fault, which goes on from there."""
        async with mirror_server(served(self.files)) as mirror:
            await self._download_with_fault(mirror)
            is_whole = check_no_half_pack(self.store, self.files)
            kept = self._kept_files()
            mirror.flaws.clear()
            mirror.files = served(self.files)
            mirror.sent.clear()
            await self._install(mirror, self.store)
            assert check_no_half_pack(self.store, self.files)
            # what was whole is not fetched again
            assert not {path for path in mirror.sent if path in kept}
            assert set(mirror.sent) - {"voices.json"} == (set() if is_whole else set(self.files) - kept)

    async def _download_with_fault(self, mirror: MirrorServer) -> None:
        act: dict[str, Callable[[MirrorServer], object]] = {
            "stale_manifest": self._meet_stale_manifest,
            "full_disk": self._fill_disk,
            "two_at_once": self._install_twice,
            "killed": self._kill_in_the_middle,
        }
        done = act.get(self.kind, self._meet_flaw)(mirror)
        assert asyncio.iscoroutine(done)
        await done

    async def _install(
        self, mirror: MirrorServer, store: PackStore, limits: FetchLimits = CALM, *, wait_s: float = 0
    ) -> None:
        async with MirrorSet([mirror.url], limits=limits) as mirrors:
            await PackInstaller(store, mirrors).install_pack(await fetch_manifest(mirrors), wait_s=wait_s)

    async def _try_install(
        self, mirror: MirrorServer, store: PackStore, limits: FetchLimits = CALM, *, wait_s: float = 0
    ) -> str | None:
        """The code of its error."""
        try:
            await self._install(mirror, store, limits, wait_s=wait_s)
        except VoicePackError as error:
            code = error.code
        else:
            return None
        assert code in CODES
        return code

    async def _meet_flaw(self, mirror: MirrorServer) -> None:
        path = self.rng.choice([ENCODER, VOICE])
        at = self.rng.randrange(len(self.files[path]))
        if self.kind in ANSWERS_TO_RANGES:
            mirror.flaws.append(MirrorFlaw("cut", path, max(at, 1)))
        times = self.rng.choice([1, 2, FOREVER])
        location = self.rng.choice([f"/{path}", "http://192.0.2.1/x", "https://10.0.0.1/x"])
        is_redirect = self.kind == "redirect"
        status = 302 if is_redirect else self.rng.choice([500, 503, 404, 429])
        mirror.flaws.append(MirrorFlaw(self.kind, path, at, times, status, location if is_redirect else ""))
        limits = HASTY if self.kind in {"stall", "drip"} else CALM
        code = await self._try_install(mirror, self.store, limits)
        assert (code is None) == check_no_half_pack(self.store, self.files)

    async def _meet_stale_manifest(self, mirror: MirrorServer) -> None:
        newer = self.files | {VOICE: self.rng.randbytes(self.rng.choice([len(self.files[VOICE]), 99_000]))}
        mirror.files = served(newer, manifest_of(self.files))
        assert await self._try_install(mirror, self.store) == "voices_file_mismatch"

    async def _fill_disk(self, mirror: MirrorServer) -> None:
        room = self.rng.randrange(sum(map(len, self.files.values())))
        code = await self._try_install(mirror, PackStore(self.store.folder, SmallDisk(room)))
        assert code == "voices_disk_full"

    async def _install_twice(self, mirror: MirrorServer) -> None:
        """Of two at once one waits, or is sent away."""
        wait_s = self.rng.choice([0, 30])
        first = PackStore(self.store.folder)
        codes = await asyncio.gather(
            self._try_install(mirror, first, wait_s=wait_s), self._try_install(mirror, self.store, wait_s=wait_s)
        )
        assert None in codes
        assert set(codes) <= {None, *([] if wait_s else ["voices_install_running"])}

    async def _kill_in_the_middle(self, mirror: MirrorServer) -> None:
        """``kill -9`` when the mirror has sent so many bytes of a file."""
        pids: list[int] = []
        path = self.rng.choice(sorted(self.files))
        at = self.rng.randrange(len(self.files[path]) + 1)
        mirror.flaws.append(MirrorFlaw("call", path, at, then=lambda: os.kill(pids[0], signal.SIGKILL)))
        environment = {name: value for name, value in os.environ.items() if not name.startswith("OFFHOOK_")}
        environment |= {"OFFHOOK_DATA_DIR": str(self.folder), "OFFHOOK_MIN_FREE_DISK_MB": "0"}
        with (self.folder / "output").open("w") as output:
            process = forks().start("voices", "install", "--yes", "--from", mirror.url, env=environment, stdout=output)
            pids.append(process.pid)
            try:
                assert await process.ended() == -signal.SIGKILL, (self.folder / "output").read_text()
            finally:
                process.kill()

    def _kept_files(self) -> set[str]:
        """Whole files that wait for the others."""
        parts = list(self.store.folder.glob("*.part"))
        return {
            path.relative_to(part).as_posix()
            for part in parts
            for path in part.rglob("*")
            if path.is_file() and not path.name.startswith(".") and path.name != "installed.json"
        }


@pytest.mark.parametrize("seed", first_quick(range(len(KINDS)), count=4), ids=lambda seed: f"{seed}-{KINDS[seed]}")
async def test_every_kind_of_fault_once(seed: int, tmp_path: Path) -> None:
    await FaultyDownload(seed, tmp_path).run()


@pytest.mark.slow
@pytest.mark.parametrize("tens", range(10))
async def test_two_hundred_faulty_downloads(tens: int, tmp_path: Path) -> None:
    for seed in range(20 * (tens + 1), 20 * (tens + 2)):
        folder = tmp_path / str(seed)
        folder.mkdir()
        await FaultyDownload(seed, folder).run()
