"""The packs that are installed, as vendors offer them: read again when the folder has changed."""

import time
from pathlib import Path
from typing import Final

from offhook.models.ports import ModelError
from offhook.models.vendors import Kind, ModelInfo, VoiceInfo
from offhook.models.voice_packs.manifest import Recognizer, Voice
from offhook.models.voice_packs.store import InstalledPack, PackStore

PROVIDER: Final = "voice_pack"
# A folder that has changed within this time may change again without another time stamp.
SETTLED_NS: Final = 1_000_000_000


class InstalledPacks:
    """A pack is there from one moment to the next, and gone likewise: its folder is renamed."""

    def __init__(self, folder: Path) -> None:
        self._store = PackStore(folder)
        self._packs: tuple[InstalledPack, ...] = ()
        self._read_at: int | None = None

    def list_packs(self) -> tuple[InstalledPack, ...]:
        try:
            changed_at = self._store.folder.stat().st_mtime_ns
        except OSError:
            self._packs, self._read_at = (), None
            return self._packs
        if self._read_at != changed_at:
            self._packs = tuple(self._store.list_packs())
            self._read_at = changed_at if time.time_ns() - changed_at > SETTLED_NS else None
        return self._packs

    def find_pack(self, name: str, kind: Kind) -> InstalledPack:
        """Raises ModelError, not retryable, where no pack of this name has this kind of model now."""
        for pack in self.list_packs():
            if pack.name == name and _model_of(pack, kind) is not None:
                return pack
        what = "voice" if kind == "tts" else "recognizer"
        raise ModelError(
            f"{kind}_pack_missing", f"No installed voice pack named {name!r:.60} has a {what}.", retryable=False
        )

    def offered_models(self, kind: Kind) -> tuple[ModelInfo, ...]:
        return tuple(
            ModelInfo(pack.name, title=pack.manifest.title, languages=tuple(model.languages))
            for pack in self.list_packs()
            if (model := _model_of(pack, kind)) is not None
        )

    def offered_voices(self) -> tuple[VoiceInfo, ...]:
        return tuple(
            VoiceInfo(speaker.id, speaker.title, tuple(pack.manifest.tts.languages), models=(pack.name,))
            for pack in self.list_packs()
            if pack.manifest.tts is not None
            for speaker in pack.manifest.tts.speakers
        )


def _model_of(pack: InstalledPack, kind: Kind) -> Recognizer | Voice | None:
    return pack.manifest.tts if kind == "tts" else pack.manifest.stt
