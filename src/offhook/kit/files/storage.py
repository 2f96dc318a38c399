"""Files by key on the local disk, under one folder; keys are relative paths that we make, never the user's."""

from pathlib import Path


class LocalFileStorage:
    """``root`` is created on first use. Keys look like ``recordings/12/345.wav``."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path_for(self, key: str) -> Path:
        """The path of a key, its folder made; ValueError when the key leaves the root."""
        path = (self.root / key).resolve()
        if not path.is_relative_to(self.root.resolve()):
            raise ValueError(f"key {key!r} leaves the storage folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        return path
