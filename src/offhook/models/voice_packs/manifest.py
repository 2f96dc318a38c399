"""``voices.json``: what is in a pack, as the mirror serves it and as the installed pack keeps it.

A manifest is the only place of hashes. Who gives it decides what is installed, so it comes from the operator's own mirror,
folder or file.
"""

import hashlib
import json
import re
from collections.abc import Iterator
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, ConfigDict, Field, ValidationError, model_validator

from offhook.kit.schema import Schema
from offhook.models.voice_packs.errors import VoicesManifestInvalid

MANIFEST_NAME: Final = "voices.json"
FORMAT: Final = "offhook-voices/1"
MAX_MANIFEST_BYTES: Final = 4_000_000
MAX_FILES: Final = 5000
MAX_PACK_BYTES: Final = 20_000_000_000
_PART: Final = re.compile(r"[A-Za-z0-9_+@=,!-][A-Za-z0-9_+@=,!. -]{0,99}")
_URL: Final = re.compile(r"[A-Za-z0-9._~%!$&'()*+,;=@/-]{1,500}")
# Names that the store writes into a pack's folder itself.
RESERVED_NAMES: Final = frozenset({MANIFEST_NAME, "installed.json"})


def check_path(path: str) -> str:
    """Returns a path within a pack, with ``/`` between its parts. Raises ValueError for one that could lead elsewhere."""
    parts = path.split("/")
    if len(path) > 300 or not all(_PART.fullmatch(part) and not part.endswith((".", " ")) for part in parts):
        raise ValueError(f"{path!r:.120} is not a path of a pack")
    if path.lower() in RESERVED_NAMES:
        raise ValueError(f"{path!r} is reserved")
    return path


PackPath = Annotated[str, AfterValidator(check_path)]
# SPDX names, or ``LicenseRef-…`` where there is none.
LicenseName = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9.+()\- ]{0,79}$")]


def check_url(url: str) -> str:
    """Returns the address of a file below that of a mirror. Raises ValueError for one that climbs or leaves it."""
    if not _URL.fullmatch(url) or url.startswith("/") or {".", ".."} & set(url.split("/")):
        raise ValueError(f"{url!r:.120} is not an address below the mirror's")
    return url


FileUrl = Annotated[str, AfterValidator(check_url)]


class _ManifestPart(Schema):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class PackFile(_ManifestPart):
    """``url`` is relative to the mirror's address; without one it is ``path``."""

    path: PackPath
    size: int = Field(ge=0, le=MAX_PACK_BYTES)
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    license: LicenseName
    url: FileUrl | None = None


class PackSpeaker(_ManifestPart):
    """A voice within the voice's model, by its number there."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_+-]{0,39}$")
    title: str = Field(min_length=1, max_length=80)
    number: int = Field(default=0, ge=0, le=10_000)


class TransducerRecognizer(_ManifestPart):
    """A streaming zipformer."""

    type: Literal["transducer"]
    encoder: PackPath
    decoder: PackPath
    joiner: PackPath
    tokens: PackPath
    languages: list[str] = Field(default=["en"], min_length=1)


class MoonshineRecognizer(_ManifestPart):
    """Moonshine: hears an utterance when it is over."""

    type: Literal["moonshine"]
    preprocessor: PackPath
    encoder: PackPath
    uncached_decoder: PackPath
    cached_decoder: PackPath
    tokens: PackPath
    languages: list[str] = Field(default=["en"], min_length=1)


class PiperVoice(_ManifestPart):
    """Piper and other VITS models. ``data_dir`` is the folder of espeak-ng's data, ``lexicon`` takes its place."""

    type: Literal["vits"]
    model: PackPath
    tokens: PackPath
    data_dir: PackPath | None = None
    lexicon: PackPath | None = None
    languages: list[str] = Field(default=["en"], min_length=1)
    speakers: list[PackSpeaker] = Field(default=[PackSpeaker(id="default", title="Default")], min_length=1)


class KokoroVoice(_ManifestPart):
    type: Literal["kokoro"]
    model: PackPath
    voices: PackPath
    tokens: PackPath
    data_dir: PackPath | None = None
    lexicon: PackPath | None = None
    languages: list[str] = Field(default=["en"], min_length=1)
    speakers: list[PackSpeaker] = Field(default=[PackSpeaker(id="default", title="Default")], min_length=1)


Recognizer = Annotated[TransducerRecognizer | MoonshineRecognizer, Field(discriminator="type")]
Voice = Annotated[PiperVoice | KokoroVoice, Field(discriminator="type")]
_FILE_FIELDS: Final = frozenset(
    [
        "encoder",
        "decoder",
        "joiner",
        "tokens",
        "preprocessor",
        "uncached_decoder",
        "cached_decoder",
        "model",
        "voices",
        "lexicon",
    ]
)


class PackManifest(_ManifestPart):
    """One pack: a recognizer, a voice, or both."""

    format: Literal["offhook-voices/1"]
    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,39}$")
    title: str = Field(min_length=1, max_length=120)
    stt: Recognizer | None = None
    tts: Voice | None = None
    files: list[PackFile] = Field(min_length=1, max_length=MAX_FILES)

    @model_validator(mode="after")
    def _check_files(self) -> "PackManifest":
        paths = [file.path.lower() for file in self.files]
        if len(set(paths)) != len(paths):
            raise ValueError("two files have the same path")
        folders = set(_folders_of(paths))
        if folders & set(paths):
            raise ValueError("a file has the path of a folder")
        if self.size > MAX_PACK_BYTES:
            raise ValueError(f"a pack has at most {MAX_PACK_BYTES // 10**9} GB")
        if self.stt is None and self.tts is None:
            raise ValueError("a pack has a recognizer (stt) or a voice (tts)")
        for part in (self.stt, self.tts):
            self._check_part(part, {file.path for file in self.files})
        return self

    def _check_part(self, part: Recognizer | Voice | None, paths: set[str]) -> None:
        for name, value in part.model_dump().items() if part else ():
            if name in _FILE_FIELDS and value is not None and value not in paths:
                raise ValueError(f"{name} names {value!r}, which is not in files")
            if name == "data_dir" and value is not None and value not in set(_folders_of(paths)):
                raise ValueError(f"data_dir names {value!r}, in which no file lies")

    @property
    def size(self) -> int:
        return sum(file.size for file in self.files)

    @property
    def licenses(self) -> list[str]:
        """Returns the names of the licenses, each once."""
        return sorted({file.license for file in self.files})

    @property
    def digest(self) -> str:
        """Returns what tells this manifest from every other: SHA-256 in hex of its content, however it is formatted."""
        return hashlib.sha256(json.dumps(self.model_dump(), sort_keys=True).encode()).hexdigest()

    def as_json(self) -> bytes:
        return (json.dumps(self.model_dump(exclude_none=True), indent=1) + "\n").encode()


def parse_manifest(content: bytes) -> PackManifest:
    """Raises VoicesManifestInvalid, which names the first wrong field."""
    try:
        return PackManifest.model_validate_json(content)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        message = first["msg"].removeprefix("Value error, ")
        raise VoicesManifestInvalid(
            f"The manifest is not a voice pack manifest{f' at {where}' if where else ''}: {message:.200}."
        ) from None


def _folders_of(paths: "list[str] | set[str]") -> Iterator[str]:
    for path in paths:
        while "/" in path:
            path = path.rpartition("/")[0]  # noqa: PLW2901 - climbs to the top
            yield path
