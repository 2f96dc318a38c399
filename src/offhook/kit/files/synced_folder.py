"""What a crash of the machine must not undo: a file that was renamed into its place."""

import os
from pathlib import Path


def sync_folder(folder: Path) -> None:
    """Returns when the names in the folder are on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
