"""``offhook voices`` as an operator uses it: a folder of downloaded files becomes a pack."""

import json
from pathlib import Path

import pytest

from tests.commands.conftest import Offhook
from tests.models.voice_packs.packs import pack_files, write_folder

FILES = {path: content for path, content in pack_files().items() if not path.startswith("stt/")}
LICENSE = ("--tts-license", "MIT")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_folder(tmp_path / "pack", FILES)


@pytest.mark.slow
def test_from_files_to_a_pack_and_away_again(offhook: Offhook, folder: Path) -> None:
    packed = offhook.run("voices", "pack", str(folder), "--name", "tiny", *LICENSE, "--speaker", "amy=3")
    assert packed.returncode == 0, packed.stderr
    assert "tiny (tiny): voice, 120.4 kB, MIT" in packed.stdout
    refused = offhook.run("voices", "install", "--from", str(folder), OFFHOOK_MIN_FREE_DISK_MB="0")
    assert (refused.returncode, "Add --yes" in refused.stderr) == (1, True)
    done = offhook.run("voices", "install", "--yes", "--from", str(folder), OFFHOOK_MIN_FREE_DISK_MB="0")
    assert done.returncode == 0, done.stderr
    assert "100 % of 120.4 kB" in done.stderr
    [pack] = json.loads(offhook.run("voices", "list", "--json").stdout)["packs"]
    assert (pack["name"], pack["tts"], pack["stt"], pack["licenses"]) == ("tiny", "vits", None, ["MIT"])
    assert offhook.run("voices", "verify").stdout == f"tiny: {len(FILES)} files are intact.\n"
    assert offhook.run("voices", "remove", "tiny").stdout.startswith("Removed tiny. Freed 12")
    assert offhook.run("voices", "list").stdout.startswith("No voice pack is installed.")


def test_errors_end_with_their_code(offhook: Offhook, folder: Path) -> None:
    missing = offhook.run("voices", "install", "--yes", "--json")
    assert (missing.returncode, json.loads(missing.stdout)["code"]) == (1, "voices_source_missing")
    assert missing.stderr.startswith("offhook: No voice pack address is set")
    for arguments, code in (
        (("install", "--yes", "--from", "http://mirror.example"), "voices_address_invalid"),
        (("install", "--yes", "--from", str(folder)), "voices_manifest_unavailable"),
        (("install", "--yes", "--manifest", str(folder / "none.json")), "voices_manifest_invalid"),
        (("pack", str(folder), "--name", "tiny"), "voices_folder_invalid"),
        (("pack", str(folder), "--name", "Tiny Pack", *LICENSE), "voices_folder_invalid"),
        (("remove", "tiny"), "voices_not_installed"),
        (("verify", "tiny"), "voices_not_installed"),
    ):
        done = offhook.run("voices", *arguments)
        assert done.returncode == 1, arguments
        assert done.stderr.rstrip().endswith(f"({code})"), done.stderr
