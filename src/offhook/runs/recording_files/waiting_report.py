"""Reports to the database which recordings wait on this machine for upload, for the superusers' page."""

import asyncio
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from offhook.errors import DomainError
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS
from offhook.nodes import superuser_queries as spools
from offhook.nodes.superuser_queries import WaitingRecordings

# Holds the recording folder's id, so that the next process on this folder continues its row.
NAME_FILE: Final = ".spool"
_MAX_ERROR: Final = 500
_MAX_PLACE: Final = 512


class WaitingReport:
    """One per process. Reports nothing until it has the process's ``node_id``. ``has_row``: the database may still have what it
    reported last."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.node_id: str | None = None
        self._db = db
        self._folder = folder
        self._place = f"{socket.gethostname()}:{folder.absolute()}"[-_MAX_PLACE:]
        self._error: str | None = None
        self._failed_at: datetime | None = None
        # An earlier process may have left a row.
        self.has_row = True

    def note_failure(self, error: Exception) -> None:
        """Keeps why a recording was not uploaded. Of database errors, only the kind: their messages repeat values."""
        if isinstance(error, DomainError):
            said = error.message
        elif isinstance(error, DATABASE_ERRORS):
            said = f"The database did not respond ({type(error).__name__})."
        else:
            said = str(error) or type(error).__name__
        self._error, self._failed_at = said[:_MAX_ERROR], datetime.now(UTC)

    async def write_waiting(self, paths: Sequence[Path]) -> None:
        """Writes the row, or removes it if nothing waits."""
        if self.node_id is None:
            return
        waiting = await asyncio.to_thread(self._measure, paths)
        if waiting is None and not self.has_row:
            return
        spool_id = await asyncio.to_thread(self._read_name)
        async with self._db.transaction() as session:
            if waiting is None:
                await spools.remove_spool(session, spool_id)
            else:
                await spools.write_spool(session, spool_id, node_id=self.node_id, place=self._place, waiting=waiting)
        self.has_row = waiting is not None

    def _measure(self, paths: Sequence[Path]) -> WaitingRecordings | None:
        found = []
        for path in paths:
            with suppress(FileNotFoundError):  # uploaded by now
                found.append(path.stat())
        if not found:
            return None
        oldest = datetime.fromtimestamp(min(file.st_mtime for file in found), UTC)
        return WaitingRecordings(len(found), sum(file.st_size for file in found), oldest, self._error, self._failed_at)

    def _read_name(self) -> str:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / NAME_FILE
        if not path.exists():  # written whole, by the first of two processes
            draft = path.with_name(f"{NAME_FILE}.{secrets.token_hex(8)}")
            try:
                draft.write_text(secrets.token_hex(16))
                with suppress(FileExistsError):
                    path.hardlink_to(draft)
            finally:  # each sweep on a full disk would leave one, three a minute
                draft.unlink(missing_ok=True)
        return path.read_text().strip()
