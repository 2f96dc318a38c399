"""The arguments of a pack's programs at startup."""

import json

from offhook.models.voice_packs.manifest import Recognizer, Voice
from offhook.models.voice_packs.store import InstalledPack

_NO_FILES = frozenset({"type", "languages", "speakers", "data_dir"})


def program_argument(pack: InstalledPack, model: Recognizer | Voice | None, *, threads: int) -> str:
    """Returns the model's files, by their names in the manifest, as JSON."""
    assert model is not None
    files = {
        name: str(pack.locate(value))
        for name, value in model.model_dump(exclude_none=True).items()
        if name not in _NO_FILES
    }
    return json.dumps({**files, "type": model.type, "threads": threads})
