"""Which packs an organization and an agent can choose: they come and go while the server runs."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from offhook.models.configuration.resolution import require_offered
from offhook.models.errors import UnknownModel
from offhook.models.ports import CallModels
from offhook.models.registry import ModelRegistry
from offhook.models.voice_packs.manifest import PackManifest
from offhook.models.voice_packs.store import PackStore
from offhook.settings import Settings
from tests.models.voice_packs.installed import install_folder
from tests.models.voice_packs.packs import manifest_of, pack_files, write_folder

PACK = {"tts": {"provider": "voice_pack"}, "stt": {"provider": "voice_pack"}}


@pytest.fixture
async def registry(tmp_path: Path) -> AsyncIterator[ModelRegistry]:
    registry = ModelRegistry(Settings(data_dir=tmp_path))
    yield registry
    await registry.close()


def manifest(name: str, language: str = "en", *speakers: str) -> PackManifest:
    fields = manifest_of(pack_files(), name).model_dump(exclude_none=True)
    fields["stt"]["languages"] = fields["tts"]["languages"] = [language]
    fields["tts"]["speakers"] = [{"id": each, "title": each.title()} for each in speakers or ("default",)]
    return PackManifest.model_validate(fields)


async def install(data: Path, pack: PackManifest) -> None:
    await install_folder(write_folder(data / "mirror", pack_files()), PackStore(data / "voices"), pack)


def chosen(models: CallModels) -> list[list[str]]:
    return [[f"{port.model_ref.provider}/{port.model_ref.model}" for port in kind] for kind in (models.tts, models.stt)]


def require_all(registry: ModelRegistry, services: dict[str, dict[str, str]]) -> None:
    for kind, choices in registry.chooser.resolve(services, {}).by_kind.items():
        require_offered(registry.catalog.find_vendor(kind, choices[0].provider), choices[0])


async def test_nothing_is_offered_before_a_pack_is_installed(registry: ModelRegistry) -> None:
    assert registry.catalog.find_vendor("tts", "voice_pack").models == ()
    with pytest.raises(UnknownModel, match="This machine has nothing to choose yet"):
        registry.for_call({"models": PACK})


async def test_a_pack_can_be_chosen_from_the_moment_of_its_installation(
    registry: ModelRegistry, tmp_path: Path
) -> None:
    registry.catalog.find_vendor("tts", "voice_pack")
    await install(tmp_path, manifest("english", "en", "amy", "joe"))
    tts, stt = (registry.catalog.find_vendor(kind, "voice_pack") for kind in ("tts", "stt"))
    assert [(model.id, model.title, model.languages) for model in stt.models] == [("english", "A tiny pack", ("en",))]
    assert [(voice.id, voice.title, voice.models) for voice in tts.voices] == [
        ("amy", "Amy", ("english",)),
        ("joe", "Joe", ("english",)),
    ]
    built_in = [["voice_pack/english", "builtin/espeak-ng"], ["voice_pack/english", "builtin/pocketsphinx"]]
    assert chosen(registry.for_call({"models": PACK})) == built_in


async def test_what_is_saved_has_to_be_installed_and_what_was_saved_goes_on(
    registry: ModelRegistry, tmp_path: Path
) -> None:
    await install(tmp_path, manifest("english", "en", "amy"))
    await install(tmp_path, manifest("other"))
    good = {"tts": {"provider": "voice_pack", "model": "english", "voice_id": "amy"}}
    require_all(registry, good)
    with pytest.raises(UnknownModel, match="'gone' is not installed; installed: english, other"):
        require_all(registry, {"tts": {**good["tts"], "model": "gone"}})
    with pytest.raises(UnknownModel, match="'amy' is not a voice of other; known: default"):
        require_all(registry, {"tts": {**good["tts"], "model": "other"}})
    store = PackStore(tmp_path / "voices")
    with store.hold_lock("removing"):
        store.remove_pack("english")
    # A call with it gets an answer: the port says what is missing, and the built-in voice takes over.
    assert chosen(registry.for_call({"models": good}))[0] == ["voice_pack/english", "builtin/espeak-ng"]
    with pytest.raises(UnknownModel, match="'english' is not installed; installed: other"):
        require_all(registry, good)


async def test_each_pack_has_its_own_languages(registry: ModelRegistry, tmp_path: Path) -> None:
    await install(tmp_path, manifest("english"))
    await install(tmp_path, manifest("deutsch", "de"))
    german = {"stt": {"provider": "voice_pack", "model": "deutsch", "language": "de-AT"}}
    # No built-in recognizer knows German.
    assert chosen(registry.for_call({"models": german}))[1] == ["voice_pack/deutsch"]
    with pytest.raises(UnknownModel, match="'de-AT' is not understood by voice_pack: en"):
        registry.for_call({"models": {"stt": {**german["stt"], "model": "english"}}})


async def test_a_damaged_file_that_changed_its_length_takes_the_pack_out_of_the_choice(
    registry: ModelRegistry, tmp_path: Path
) -> None:
    await install(tmp_path, manifest("english"))
    (folder,) = (tmp_path / "voices").glob("english@*")
    (folder / "stt" / "tokens.txt").write_text("cut")
    os.utime(tmp_path / "voices")
    assert registry.catalog.find_vendor("tts", "voice_pack").models == ()
