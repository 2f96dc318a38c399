"""What an installation asks of the disk, as a port: tests fill the disk and stop it at every step."""

import os
import shutil
from pathlib import Path
from typing import BinaryIO, Protocol

from offhook.kit.files.synced_folder import sync_folder


class PackDisk(Protocol):
    """Every method may raise OSError."""

    def free_bytes(self, folder: Path) -> int: ...

    def write_block(self, file: BinaryIO, block: bytes) -> None:
        """Writes the whole block to an unbuffered file."""
        ...

    def sync_file(self, file: BinaryIO) -> None:
        """Returns when the file is on the disk."""
        ...

    def move(self, source: Path, target: Path) -> None:
        """Renames a file or folder on one disk, at once and for good."""
        ...


class LocalPackDisk:
    """Implements PackDisk with the operating system."""

    def free_bytes(self, folder: Path) -> int:
        return shutil.disk_usage(folder).free

    def write_block(self, file: BinaryIO, block: bytes) -> None:
        left = memoryview(block)
        while left:
            left = left[file.write(left) :]

    def sync_file(self, file: BinaryIO) -> None:
        os.fsync(file.fileno())

    def move(self, source: Path, target: Path) -> None:
        source.replace(target)
        sync_folder(target.parent)
        if source.parent != target.parent:
            sync_folder(source.parent)
