"""A data folder with three tiny packs, installed from folders: two in English, one in German."""

import asyncio
from pathlib import Path

from offhook.models.voice_packs.installer import PackInstaller
from offhook.models.voice_packs.manifest import PackManifest
from offhook.models.voice_packs.mirrors import MirrorSet
from offhook.models.voice_packs.store import PackStore
from tests.fakes import tiny_models

SENTENCES = ("i want to book a table", "for two please")


async def install_folder(source: Path, store: PackStore, manifest: PackManifest) -> None:
    async with MirrorSet([str(source)]) as mirrors:
        await PackInstaller(store, mirrors).install_pack(manifest)


def install_tiny_packs(data: Path) -> None:
    """``english``: zipformer and Piper; ``small``: Moonshine and Kokoro with two speakers; ``deutsch``: as the first."""
    store = PackStore(data / "voices")
    english, small, german = data / "english", data / "small", data / "german"
    tiny_models.write_zipformer(english / "stt")
    tiny_models.write_piper(english / "tts")
    tiny_models.write_moonshine(small / "stt", SENTENCES)
    tiny_models.write_kokoro(small / "tts")
    tiny_models.write_zipformer(german / "stt", tiny_models.GERMAN)
    tiny_models.write_piper(german / "tts", rate=22050, voice="de")

    async def install_all() -> None:
        await install_folder(english, store, tiny_models.make_pack(english))
        speakers = (("loud", 0), ("quiet", 1))
        await install_folder(small, store, tiny_models.make_pack(small, name="small", speakers=speakers))
        await install_folder(german, store, tiny_models.make_pack(german, name="deutsch", languages=("de",)))

    asyncio.run(install_all())


def damage_pack(data: Path, name: str, pattern: str) -> None:
    """Overwrites a file of an installed pack with as many other bytes."""
    (folder,) = (data / "voices").glob(f"{name}@*")
    (file,) = folder.glob(pattern)
    file.write_bytes(b"x" * file.stat().st_size)


def remove_pack(data: Path, name: str) -> None:
    store = PackStore(data / "voices")
    with store.hold_lock("removing"):
        store.remove_pack(name)
