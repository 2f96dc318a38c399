"""A pack of a few kilobytes, and what has to hold after every installation, whole or not."""

import hashlib
import random
from collections.abc import Callable
from errno import ENOSPC
from pathlib import Path
from typing import BinaryIO

from offhook.models.voice_packs.disk import LocalPackDisk
from offhook.models.voice_packs.manifest import MANIFEST_NAME, PackManifest
from offhook.models.voice_packs.mirrors import FetchLimits
from offhook.models.voice_packs.store import PackStore

ENCODER = "stt/encoder.int8.onnx"
VOICE = "tts/voice.onnx"
# As patient as a machine under load needs; no attempt waits for the next.
CALM = FetchLimits(attempts=3, pause_s=0.0, max_pause_s=0.0)
HASTY = FetchLimits(silence_s=0.2, rate_window_s=0.2, attempts=3, pause_s=0.0, max_pause_s=0.0)


def pack_files(seed: int = 0) -> dict[str, bytes]:
    rng = random.Random(seed)
    sizes = {
        ENCODER: 90_000,
        "stt/decoder.onnx": 3_000,
        "stt/joiner.onnx": 2_000,
        "stt/tokens.txt": 400,
        VOICE: 120_000,
        "tts/tokens.txt": 300,
        "tts/espeak-ng-data/voices/!v/Mr serious": 70,
        "tts/espeak-ng-data/empty": 0,
    }
    return {path: rng.randbytes(size) for path, size in sizes.items()}


def manifest_of(files: dict[str, bytes], name: str = "tiny") -> PackManifest:
    return PackManifest.model_validate(
        {
            "format": "offhook-voices/1",
            "name": name,
            "title": "A tiny pack",
            "stt": {
                "type": "transducer",
                "encoder": ENCODER,
                "decoder": "stt/decoder.onnx",
                "joiner": "stt/joiner.onnx",
                "tokens": "stt/tokens.txt",
            },
            "tts": {
                "type": "vits",
                "model": VOICE,
                "tokens": "tts/tokens.txt",
                "data_dir": "tts/espeak-ng-data",
            },
            "files": [
                {
                    "path": path,
                    "size": len(content),
                    "sha256": hashlib.sha256(content).hexdigest(),
                    "license": "Apache-2.0" if path.startswith("stt/") else "MIT",
                }
                for path, content in files.items()
            ],
        }
    )


def served(files: dict[str, bytes], manifest: PackManifest | None = None) -> dict[str, bytes]:
    """What a mirror has: the files and their manifest."""
    return {**files, MANIFEST_NAME: (manifest or manifest_of(files)).as_json()}


def write_folder(folder: Path, files: dict[str, bytes]) -> Path:
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    return folder


def check_no_half_pack(store: PackStore, files: dict[str, bytes]) -> bool:
    """Nothing that is in use, or looks as if it were, lacks a byte. Returns whether the pack is there."""
    packs = store.list_packs()
    for pack in packs:
        for file in pack.manifest.files:
            assert pack.locate(file.path).read_bytes() == files[file.path], file.path
        assert {path.relative_to(pack.folder).as_posix() for path in pack.folder.rglob("*") if path.is_file()} == {
            *files,
            "installed.json",
        }
    named = {path for path in store.folder.glob("*") if "@" in path.name and not path.suffix} if packs else set()
    assert named == {pack.folder for pack in packs}
    return bool(packs)


class SmallDisk(LocalPackDisk):
    """Has room for so many bytes more; says that it has plenty, as a disk does that others fill meanwhile."""

    def __init__(self, room: int) -> None:
        self.room = room

    def free_bytes(self, folder: Path) -> int:
        return 10**12

    def write_block(self, file: BinaryIO, block: bytes) -> None:
        super().write_block(file, block[: self.room])
        if len(block) > self.room:
            self.room = 0
            raise OSError(ENOSPC, "No space left on device")
        self.room -= len(block)


class Crash(BaseException):
    """The machine stops."""


class CrashingDisk(LocalPackDisk):
    """Stops at the ``steps``-th thing that it is asked to do, before or after doing it."""

    def __init__(self, steps: int, *, is_after: bool) -> None:
        self.steps = steps
        self._is_after = is_after

    def write_block(self, file: BinaryIO, block: bytes) -> None:
        self._count(lambda: super(CrashingDisk, self).write_block(file, block))

    def sync_file(self, file: BinaryIO) -> None:
        self._count(lambda: super(CrashingDisk, self).sync_file(file))

    def move(self, source: Path, target: Path) -> None:
        self._count(lambda: super(CrashingDisk, self).move(source, target))

    def _count(self, act: Callable[[], None]) -> None:
        self.steps -= 1
        if self.steps == 0 and not self._is_after:
            raise Crash
        act()
        if self.steps == 0:
            raise Crash
