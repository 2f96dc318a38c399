"""What a manifest may say, and the one that is made of a folder."""

import json
from pathlib import Path

import pytest

from offhook.models.voice_packs.errors import VoicesFolderInvalid, VoicesManifestInvalid
from offhook.models.voice_packs.manifest import parse_manifest
from offhook.models.voice_packs.packing import PackOrder, make_manifest
from tests.models.voice_packs.packs import manifest_of, pack_files, write_folder

ORDER = PackOrder("tiny", "Tiny", "Apache-2.0", "MIT", ("en-US",), (("amy", 3),))


def test_it_survives_its_own_format() -> None:
    manifest = manifest_of(pack_files())
    assert parse_manifest(manifest.as_json()) == manifest
    assert parse_manifest(manifest.as_json()).digest == manifest.digest
    assert manifest.licenses == ["Apache-2.0", "MIT"]


@pytest.mark.parametrize(
    "path",
    [
        "../x",
        "/etc/x",
        "a/../x",
        "a//x",
        "a\\x",
        ".x",
        "a/.x",
        "x.",
        "a/",
        "installed.json",
        "voices.json",
        "x\n",
        "ü",
        "",
    ],
)
def test_a_path_stays_in_the_pack(path: str) -> None:
    content = json.loads(manifest_of(pack_files()).as_json())
    content["files"].append({"path": path, "size": 1, "sha256": "0" * 64, "license": "MIT"})
    with pytest.raises(VoicesManifestInvalid):
        parse_manifest(json.dumps(content).encode())


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"format": "offhook-voices/2"}, "at format"),
        ({"name": "Tiny"}, "at name"),
        ({"extra": 1}, "at extra"),
        ({"stt": None, "tts": None}, "a pack has a recognizer"),
        ({"files": []}, "at files"),
        (
            {"tts": {"type": "vits", "model": "tts/none.onnx", "tokens": "tts/tokens.txt"}},
            "model names 'tts/none.onnx'",
        ),
    ],
)
def test_what_is_wrong_is_named(change: dict[str, object], sentence: str) -> None:
    content = json.loads(manifest_of(pack_files()).as_json()) | change
    with pytest.raises(VoicesManifestInvalid, match=sentence):
        parse_manifest(json.dumps(content).encode())


@pytest.mark.parametrize("url", ["/x", "../x", "a/../../x", "https://elsewhere/x", "x?y"])
def test_the_address_of_a_file_is_below_the_mirror(url: str) -> None:
    content = json.loads(manifest_of(pack_files()).as_json())
    content["files"][0]["url"] = url
    with pytest.raises(VoicesManifestInvalid, match="below the mirror"):
        parse_manifest(json.dumps(content).encode())


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff", b'{"format": 1'])
def test_what_is_no_manifest(content: bytes) -> None:
    with pytest.raises(VoicesManifestInvalid):
        parse_manifest(content)


class TestPacking:
    def test_a_zipformer_in_eight_bits_and_a_piper_voice(self, tmp_path: Path) -> None:
        files = pack_files() | {"stt/encoder.onnx": b"wide", "stt/README.md": b"read me", "stt/test.wav": b"sound"}
        manifest = make_manifest(write_folder(tmp_path, files), ORDER)
        assert manifest.stt is not None
        assert manifest.tts is not None
        assert (manifest.stt.type, manifest.stt.encoder) == ("transducer", "stt/encoder.int8.onnx")
        assert (manifest.tts.type, manifest.tts.speakers[0].number) == ("vits", 3)
        assert {file.path for file in manifest.files} == {*pack_files(), "stt/README.md"}

    def test_moonshine_and_kokoro(self, tmp_path: Path) -> None:
        names = (
            "preprocess.onnx",
            "encode.int8.onnx",
            "uncached_decode.int8.onnx",
            "cached_decode.int8.onnx",
            "tokens.txt",
        )
        voice = ("model.onnx", "voices.bin", "tokens.txt", "espeak-ng-data/phontab")
        files = {f"stt/{name}": b"x" for name in names} | {f"tts/{name}": b"y" for name in voice}
        manifest = make_manifest(write_folder(tmp_path, files), ORDER)
        assert manifest.stt is not None
        assert manifest.tts is not None
        assert (manifest.stt.type, manifest.tts.type) == ("moonshine", "kokoro")
        assert {file.path for file in manifest.files} == set(files)

    @pytest.mark.parametrize(
        ("files", "sentence"),
        [
            ({"x": b""}, "neither a folder stt nor a folder tts"),
            ({"tts/tokens.txt": b""}, r"one file \*\.onnx; found: none"),
            ({"tts/a.onnx": b"", "tts/b.onnx": b"", "tts/tokens.txt": b""}, r"found: a\.onnx, b\.onnx"),
        ],
    )
    def test_what_is_missing_is_named(self, tmp_path: Path, files: dict[str, bytes], sentence: str) -> None:
        with pytest.raises(VoicesFolderInvalid, match=sentence):
            make_manifest(write_folder(tmp_path, files), ORDER)

    def test_a_link_out_of_the_folder_is_refused(self, tmp_path: Path) -> None:
        folder = write_folder(tmp_path / "pack", pack_files())
        (tmp_path / "secret").write_bytes(b"secret")
        (folder / "tts" / "LICENSE").symlink_to(tmp_path / "secret")
        with pytest.raises(VoicesFolderInvalid, match="link to a file outside"):
            make_manifest(folder, ORDER)
