"""Creates a manifest for files that were downloaded by hand: ``FOLDER/stt`` holds a recognizer, ``FOLDER/tts`` a voice.

The files of a model are told by the names that their publishers give them. The hashes are those of the files in the
folder: they say that an installation has what the folder has, and nothing about where the folder has it from.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from offhook.models.voice_packs.errors import VoicesFolderInvalid
from offhook.models.voice_packs.manifest import FORMAT, MANIFEST_NAME, PackManifest
from offhook.models.voice_packs.store import hash_file

_PAPERS: Final = ("license", "copying", "notice", "readme", "model_card")
_HINT: Final = (
    "A recognizer has encoder, decoder, joiner and tokens.txt (zipformer), or preprocess, encode, uncached_decode, "
    "cached_decode and tokens.txt (Moonshine); a voice has one .onnx, tokens.txt and mostly espeak-ng-data (Piper), and "
    "voices.bin too (Kokoro)."
)


@dataclass(frozen=True, slots=True)
class PackOrder:
    """What the files cannot tell. A license is the name on the model's own page, by SPDX where it has one."""

    name: str
    title: str
    stt_license: str | None = None
    tts_license: str | None = None
    languages: tuple[str, ...] = ("en",)
    speakers: tuple[tuple[str, int], ...] = ()


def make_manifest(folder: Path, order: PackOrder) -> PackManifest:
    """Reads the folder and returns its manifest; writes nothing. Raises VoicesFolderInvalid."""
    files: list[dict[str, object]] = []
    parts: dict[str, object] = {}
    for kind, license_name in (("stt", order.stt_license), ("tts", order.tts_license)):
        if not (folder / kind).is_dir():
            continue
        if license_name is None:
            raise VoicesFolderInvalid(f"Give the license of the files in {kind}/ with --{kind}-license.")
        part = _ModelFolder(folder, kind)
        fields = part.read_recognizer() if kind == "stt" else part.read_voice()
        speakers = [{"id": name, "title": name, "number": number} for name, number in order.speakers]
        extra = {"speakers": speakers} if kind == "tts" and speakers else {}
        parts[kind] = {**fields, "languages": list(order.languages), **extra}
        files += [_describe_file(folder, path, license_name) for path in part.used_files(fields)]
    if not parts:
        raise VoicesFolderInvalid(f"{folder} has neither a folder stt nor a folder tts. {_HINT}")
    content = {"format": FORMAT, "name": order.name, "title": order.title, **parts, "files": files}
    try:
        return PackManifest.model_validate(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise VoicesFolderInvalid(f"No manifest can be made of {folder}: {where}: {first['msg']}.") from None


def write_manifest(folder: Path, manifest: PackManifest) -> Path:
    """Writes ``voices.json`` beside the files; from then on the folder is a mirror."""
    path = folder / MANIFEST_NAME
    draft = path.with_suffix(".tmp")
    draft.write_bytes(manifest.as_json())
    draft.replace(path)
    return path


class _ModelFolder:
    """The files of one model; paths are relative to the pack's folder."""

    def __init__(self, folder: Path, kind: str) -> None:
        self._top = folder
        self._folder = folder / kind
        self._kind = kind

    def read_recognizer(self) -> dict[str, object]:
        """Returns a recognizer's part of the manifest without its languages."""
        if self._find("joiner*.onnx"):
            names = ("encoder", "decoder", "joiner")
            return {"type": "transducer", **{name: self._need(f"{name}*.onnx") for name in names}, **self._tokens()}
        return {
            "type": "moonshine",
            "preprocessor": self._need("preprocess*.onnx"),
            "encoder": self._need("encode*.onnx"),
            "uncached_decoder": self._need("uncached_decode*.onnx"),
            "cached_decoder": self._need("cached_decode*.onnx"),
            **self._tokens(),
        }

    def read_voice(self) -> dict[str, object]:
        """Returns a voice's part of the manifest without its languages and speakers."""
        fields: dict[str, object] = {"type": "vits", "model": self._need("*.onnx"), **self._tokens()}
        if self._find("voices.bin"):
            fields |= {"type": "kokoro", "voices": self._need("voices.bin")}
        data = self._folder / "espeak-ng-data"
        if data.is_dir():
            fields["data_dir"] = self._relative(data)
        if self._find("lexicon*.txt"):
            fields["lexicon"] = self._need("lexicon*.txt")
        return fields

    def used_files(self, fields: dict[str, object]) -> list[str]:
        """Returns what the model reads, and the papers that come with it."""
        used = {str(value) for name, value in fields.items() if name not in {"type", "data_dir"}}
        if "data_dir" in fields:
            used |= {
                self._relative(path) for path in (self._top / str(fields["data_dir"])).rglob("*") if path.is_file()
            }
        papers = [path for path in self._folder.iterdir() if path.name.lower().startswith(_PAPERS)]
        return sorted(used | {self._relative(path) for path in papers if path.is_file()})

    def _tokens(self) -> dict[str, str]:
        return {"tokens": self._need("tokens.txt")}

    def _find(self, pattern: str) -> Sequence[Path]:
        return sorted(self._folder.glob(pattern))

    def _need(self, pattern: str) -> str:
        """Returns the file of this pattern; of several, the one with weights in eight bits."""
        found = self._find(pattern)
        small = [path for path in found if "int8" in path.name]
        chosen = small if len(found) > 1 and len(small) == 1 else found
        if len(chosen) == 1:
            return self._relative(chosen[0])
        what = ", ".join(path.name for path in found) if found else "none"
        raise VoicesFolderInvalid(f"{self._kind}/ has to hold one file {pattern}; found: {what}. {_HINT}")

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._top).as_posix()


def _describe_file(folder: Path, path: str, license_name: str) -> dict[str, object]:
    file = folder / path
    if file.is_symlink() and not file.resolve().is_relative_to(folder.resolve()):
        raise VoicesFolderInvalid(f"{path} is a link to a file outside of the folder: put the file itself there.")
    return {
        "path": path,
        "size": file.stat().st_size,
        "sha256": hash_file(file).hexdigest(),
        "license": license_name,
    }
