"""Installing a pack: what is resumed, what is shared between versions, and what a crash at any step leaves."""

import json
import threading
from pathlib import Path

import pytest

from offhook.models.voice_packs.errors import (
    VoicesAddressInvalid,
    VoicesDamaged,
    VoicesDiskFull,
    VoicesDownloadFailed,
    VoicesInstallRunning,
    VoicesManifestInvalid,
    VoicesManifestMismatch,
    VoicesManifestUnavailable,
    VoicesNotInstalled,
)
from offhook.models.voice_packs.installer import InstallProgress, PackInstaller, fetch_manifest
from offhook.models.voice_packs.manifest import MAX_MANIFEST_BYTES
from offhook.models.voice_packs.mirrors import MirrorSet
from offhook.models.voice_packs.store import InstalledPack, PackStore
from tests.fakes.mirror import FOREVER, MirrorFlaw, mirror_server
from tests.models.voice_packs.packs import (
    CALM,
    ENCODER,
    VOICE,
    Crash,
    CrashingDisk,
    check_no_half_pack,
    manifest_of,
    pack_files,
    served,
    write_folder,
)


@pytest.fixture
def store(tmp_path: Path) -> PackStore:
    return PackStore(tmp_path / "voices")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A mirror in a folder."""
    return write_folder(tmp_path / "mirror", served(pack_files()))


async def install(store: PackStore, *addresses: str | Path, **options: int) -> InstalledPack:
    async with MirrorSet([str(address) for address in addresses], limits=CALM) as mirrors:
        return await PackInstaller(store, mirrors, **options).install_pack(await fetch_manifest(mirrors))


class TestResuming:
    async def test_a_cut_file_goes_on_where_it_ended(self, store: PackStore) -> None:
        files = pack_files()
        async with mirror_server(served(files), MirrorFlaw("cut", VOICE, 100_000)) as mirror:
            await install(store, mirror.url)
            ranges = [request.headers.get("range") for request in mirror.seen if request.target == f"/{VOICE}"]
            assert ranges == [None, "bytes=100000-"]
            assert mirror.sent[VOICE] == len(files[VOICE])
        assert check_no_half_pack(store, files)

    async def test_another_mirror_goes_on_with_what_the_first_sent(self, store: PackStore) -> None:
        files = pack_files()
        cut = [MirrorFlaw("cut", VOICE, 100_000), MirrorFlaw("status", VOICE, times=FOREVER, status=404)]
        async with mirror_server(served(files), *cut) as first, mirror_server(served(files)) as second:
            await install(store, first.url, second.url)
            assert second.sent == {
                VOICE: 20_000,
                **{path: len(files[path]) for path in files if path not in first.sent},
            } | {path: second.sent[path] for path in second.sent if path != VOICE}
        assert check_no_half_pack(store, files)

    async def test_a_file_that_changed_on_the_mirror_begins_again(self, store: PackStore) -> None:
        files = pack_files()
        flaws = [MirrorFlaw("cut", VOICE, 50_000), MirrorFlaw("retagged", VOICE)]
        async with mirror_server(served(files), *flaws) as mirror:
            await install(store, mirror.url)
            assert mirror.sent[VOICE] == 50_000 + len(files[VOICE])
        assert check_no_half_pack(store, files)

    async def test_a_newer_version_fetches_only_what_changed_and_replaces_the_older(self, store: PackStore) -> None:
        old = pack_files()
        new = old | {VOICE: b"a better voice"}
        async with mirror_server(served(old)) as mirror:
            before = await install(store, mirror.url)
            mirror.files = served(new)
            mirror.sent.clear()
            after = await install(store, mirror.url)
            assert set(mirror.sent) == {VOICE, "voices.json"}
        assert before.folder != after.folder
        assert not before.folder.exists()
        assert check_no_half_pack(store, new)

    async def test_an_installed_pack_is_not_fetched_again(self, store: PackStore, folder: Path) -> None:
        first = await install(store, folder)
        (folder / VOICE).unlink()
        assert await install(store, folder) == first

    async def test_progress_counts_up_to_the_whole(self, store: PackStore) -> None:
        told: list[InstallProgress] = []
        files = pack_files()
        async with (
            mirror_server(served(files), MirrorFlaw("cut", ENCODER, 10)) as mirror,
            MirrorSet([mirror.url], limits=CALM) as mirrors,
        ):
            await PackInstaller(store, mirrors).install_pack(await fetch_manifest(mirrors), told.append)
        whole = sum(map(len, files.values()))
        assert (told[-1].done_bytes, told[-1].total_bytes) == (whole, whole)
        assert {progress.file for progress in told} == set(files)


@pytest.mark.slow
@pytest.mark.parametrize("is_after", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["before", "after"])
async def test_a_crash_at_every_step_leaves_a_whole_pack_or_none(is_after: bool, tmp_path: Path, folder: Path) -> None:
    files, steps, is_over = pack_files(), 0, False
    while not is_over:
        steps += 1
        store = PackStore(tmp_path / f"{steps}")
        try:
            await install(PackStore(store.folder, CrashingDisk(steps, is_after=is_after)), folder)
            is_over = True
        except Crash:
            check_no_half_pack(store, files)
        await install(store, folder)
        assert check_no_half_pack(store, files)
    assert steps > 30


class TestStore:
    async def test_a_pack_that_lost_a_file_or_a_byte_is_not_used(self, store: PackStore, folder: Path) -> None:
        pack = await install(store, folder)
        (pack.folder / VOICE).write_bytes(b"short")
        assert store.list_packs() == []
        with pytest.raises(VoicesNotInstalled, match="None is installed"):
            store.find_pack("tiny")
        await install(store, folder)
        assert check_no_half_pack(store, pack_files())

    async def test_a_damaged_pack_is_taken_out_of_use_and_mended(self, store: PackStore) -> None:
        files = pack_files()
        async with mirror_server(served(files)) as mirror:
            pack = await install(store, mirror.url)
            store.verify_pack(pack)
            (pack.folder / VOICE).write_bytes(bytes(len(files[VOICE])))
            with pytest.raises(VoicesDamaged, match=VOICE):
                store.verify_pack(pack)
            assert store.list_packs() == []
            mirror.sent.clear()
            await install(store, mirror.url)
            assert set(mirror.sent) == {VOICE, "voices.json"}
        assert check_no_half_pack(store, files)

    async def test_a_link_is_no_file_of_a_pack(self, store: PackStore, folder: Path, tmp_path: Path) -> None:
        pack = await install(store, folder)
        (pack.folder / VOICE).rename(tmp_path / "elsewhere")
        (pack.folder / VOICE).symlink_to(tmp_path / "elsewhere")
        assert store.list_packs() == []

    async def test_removing_leaves_nothing(self, store: PackStore, folder: Path) -> None:
        await install(store, folder)
        freed = store.remove_pack("tiny")
        assert freed == sum(map(len, pack_files().values()))
        assert [path.name for path in store.folder.iterdir()] == ["lock"]
        with pytest.raises(VoicesNotInstalled):
            store.remove_pack("tiny")

    async def test_the_lock_names_its_owner(self, store: PackStore, folder: Path) -> None:
        with store.hold_lock("installing tiny"), pytest.raises(VoicesInstallRunning, match=r"is installing tiny: wait"):
            await install(PackStore(store.folder), folder)

    async def test_the_floor_of_the_disk_is_kept_before_anything_is_fetched(self, store: PackStore) -> None:
        async with mirror_server(served(pack_files())) as mirror:
            with pytest.raises(VoicesDiskFull, match="stay free"):
                await install(store, mirror.url, min_free_bytes=10**18)
            assert set(mirror.sent) == {"voices.json"}


class TestAddresses:
    @pytest.mark.parametrize(
        "address",
        [
            "http://mirror.example",
            "ftp://mirror.example",
            "/no/such/folder",
            "https://me:pw@mirror.example",
            "https://",
        ],
    )
    def test_only_https_and_folders(self, address: str) -> None:
        with pytest.raises(VoicesAddressInvalid):
            MirrorSet([address])

    @pytest.mark.parametrize(
        ("location", "sentence"),
        [
            ("http://mirror.example/x", "without https"),
            ("https://192.168.1.1/x", "not public"),
            ("https://169.254.169.254/x", "not public"),
            ("/voices.json", "redirects more than 5 times"),
        ],
    )
    async def test_redirects_are_few_and_lead_to_public_places(
        self, store: PackStore, location: str, sentence: str
    ) -> None:
        flaw = MirrorFlaw("redirect", "voices.json", times=FOREVER, status=302, location=location)
        async with mirror_server(served(pack_files()), flaw) as mirror:
            with pytest.raises(VoicesManifestUnavailable, match=sentence):
                await install(store, mirror.url)

    async def test_a_redirect_on_the_mirror_is_followed(self, store: PackStore) -> None:
        files = served(pack_files())
        files["moved"] = files[VOICE]
        flaw = MirrorFlaw("redirect", VOICE, times=FOREVER, status=307, location="/moved")
        async with mirror_server(files, flaw) as mirror:
            await install(store, mirror.url)
        assert check_no_half_pack(store, pack_files())


class TestManifestOfAMirror:
    async def test_the_pinned_one_or_none(self, folder: Path) -> None:
        async with MirrorSet([str(folder)]) as mirrors:
            with pytest.raises(VoicesManifestMismatch, match="Nothing was installed"):
                await fetch_manifest(mirrors, sha256="0" * 64)

    async def test_too_long(self, folder: Path) -> None:
        (folder / "voices.json").write_bytes(b" " * (MAX_MANIFEST_BYTES + 1))
        async with MirrorSet([str(folder)]) as mirrors:
            with pytest.raises(VoicesManifestInvalid, match="longer than 4 MB"):
                await fetch_manifest(mirrors)

    async def test_a_mirror_without_one_makes_room_for_the_next(self, folder: Path, tmp_path: Path) -> None:
        async with MirrorSet([str(tmp_path), str(folder)]) as mirrors:
            assert (await fetch_manifest(mirrors)).name == "tiny"

    async def test_a_url_of_its_own_is_where_a_web_server_has_the_file(self, store: PackStore) -> None:
        files = pack_files()
        content = json.loads(manifest_of(files).as_json())
        for number, file in enumerate(content["files"]):
            file["url"] = f"resolve/main/{number}.bin"
        elsewhere = {f"resolve/main/{number}.bin": files[file["path"]] for number, file in enumerate(content["files"])}
        async with mirror_server({**elsewhere, "voices.json": json.dumps(content).encode()}) as mirror:
            await install(store, mirror.url)
        assert check_no_half_pack(store, files)

    async def test_a_file_that_no_mirror_has_is_named(self, store: PackStore) -> None:
        files = served(pack_files())
        del files[VOICE]
        async with mirror_server(files) as mirror:
            with pytest.raises(VoicesDownloadFailed, match=rf"{VOICE} could not be downloaded: .*answers 404"):
                await install(store, mirror.url)


def test_the_folder_may_be_published_while_it_is_looked_at(store: PackStore) -> None:
    part, whole = store.folder / "tiny@0123456789abcdef.part", store.folder / "tiny@0123456789abcdef"
    for number in range(40):
        (part / f"tts/espeak-ng-data/{number}").mkdir(parents=True)
    is_done = threading.Event()

    def move_to_and_fro() -> None:
        while not is_done.is_set():
            part.rename(whole)
            whole.rename(part)

    mover = threading.Thread(target=move_to_and_fro)
    mover.start()
    try:
        for _ in range(300):
            assert {pack.fetched_bytes for pack in store.list_unfinished()} <= {0}
    finally:
        is_done.set()
        mover.join()
