"""Ownership of a data folder: one server at a time, and a note by which other commands find it."""

import fcntl
import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from offhook.kit.processes.child_process import is_running


class DataFolderError(Exception):
    """The data folder cannot be used; one sentence says why and what to do."""


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """The process that owns the folder. ``url`` is None for one that serves no HTTP (a worker, a short command)."""

    pid: int
    url: str | None
    database_url: str | None


class DataFolder:
    """The folder ``OFFHOOK_DATA_DIR``: created on first use, private to its user."""

    def __init__(self, path: Path) -> None:
        self.path = path.absolute()
        self._note_path = self.path / "server.json"

    def prepare(self) -> None:
        """Creates the folder. Raises :class:`DataFolderError` when it cannot be created or written."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise DataFolderError(
                f"The data folder {self.path} cannot be created ({error.strerror}): set "
                "OFFHOOK_DATA_DIR to a folder that you own."
            ) from None
        if not os.access(self.path, os.W_OK | os.X_OK):
            raise DataFolderError(
                f"The data folder {self.path} cannot be written: set OFFHOOK_DATA_DIR to a folder that you own."
            )

    @contextmanager
    def hold_lock(self, *, wait_s: float = 0) -> Iterator[None]:
        """Owns the folder for the length of the block. Raises :class:`DataFolderError`, naming the owner, when it is
        taken.

        The kernel drops the lock with our process, however that ends.
        """
        self.prepare()
        deadline = time.monotonic() + wait_s
        with (self.path / "lock").open("a") as file:
            while True:
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() >= deadline:
                        raise DataFolderError(self._taken_message()) from None
                    time.sleep(0.05)
            try:
                yield
            finally:
                self._note_path.unlink(missing_ok=True)

    def announce(self, info: ServerInfo) -> None:
        """Writes the note; only its owner may read it."""
        note = self._note_path.with_suffix(".tmp")
        note.touch(mode=0o600)
        note.write_text(json.dumps(asdict(info)))
        note.replace(self._note_path)

    def running_server(self) -> ServerInfo | None:
        """Returns the process that announced itself here and still holds the lock."""
        try:
            info = ServerInfo(**json.loads(self._note_path.read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return info if is_running(info.pid) and self._is_locked() else None

    def _is_locked(self) -> bool:
        """Returns whether the lock is held: process ids are reused, but a lock does not outlive its owner."""
        with (self.path / "lock").open("a") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
            return False

    def _taken_message(self) -> str:
        owner = self.running_server()
        if owner is None:
            return f"Another Offhook process is using the data folder {self.path}: wait for it, or stop it."
        at = f" at {owner.url}" if owner.url else ""
        return (
            f"Offhook already runs on the data folder {self.path} (process {owner.pid}{at}): "
            "stop it, or set OFFHOOK_DATA_DIR to another folder."
        )
