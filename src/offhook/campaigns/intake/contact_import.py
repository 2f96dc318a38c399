"""A contact CSV becomes rows of a table: read and checked in a child process, copied in one transaction.

The child keeps its own memory and its own core: a list of a million contacts does not stop the loop that carries voices.
"""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository
from offhook.campaigns.errors import ContactsInvalid

PROGRAM: Final = Path(__file__).with_name("contact_reader_program.py")
READ_TIMEOUT_S: Final = 180.0
_CHUNK: Final = 256 * 1024
_COLUMNS: Final = ("campaign_id", "organization_id", "due_at", "row_number", "phone_number", "variables")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CheckedContacts:
    """A file without errors: ``lines`` is what PostgreSQL reads (``row, number, variables``)."""

    lines: Path
    columns: tuple[str, ...]
    contacts: int


async def check_file(source: Path, lines: Path, wanted: Sequence[str]) -> CheckedContacts:
    """Read ``source`` and write ``lines``. ContactsInvalid (422) lists what is wrong and where."""
    answer = await asyncio.to_thread(_run_program, source, lines, wanted)
    if answer is None:
        raise ContactsInvalid([{"row": None, "column": None, "message": "The file could not be read."}], 1)
    if answer["total_errors"]:
        raise ContactsInvalid(answer["errors"], answer["total_errors"])
    return CheckedContacts(lines, tuple(answer["columns"]), answer["rows"])


def _run_program(source: Path, lines: Path, wanted: Sequence[str]) -> dict[str, Any] | None:
    # by its path and isolated: it needs nothing of this package but the reading of phone numbers
    command = [sys.executable, "-I", str(PROGRAM), str(source), str(lines), json.dumps(list(wanted))]
    try:
        done = subprocess.run(  # noqa: S603 - our own program; the file is only an argument
            command,
            env={"PATH": os.environ.get("PATH", "")},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=READ_TIMEOUT_S,
            check=False,
            text=True,
        )
    except subprocess.TimeoutExpired:
        log.warning("contact_file_unreadable", code="timeout")
        return None
    if done.returncode != 0:
        log.warning("contact_file_unreadable", code=done.returncode, error=done.stderr[-500:])
        return None
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


async def insert_contacts(
    session: AsyncSession, organization_id: int, campaign_id: int, checked: CheckedContacts, now: datetime
) -> None:
    """Insert the contacts in the session's transaction; the file is read piece by piece."""
    connection = await (await session.connection()).get_raw_connection()
    driver: Any = connection.driver_connection
    prefix = f"{campaign_id}\t{organization_id}\t{now.isoformat()}\t".encode()
    await driver.copy_to_table("campaign_contacts", source=_prefix_lines(checked.lines, prefix), columns=_COLUMNS)
    await repository.analyze_contacts(session, checked.contacts)


async def _prefix_lines(path: Path, prefix: bytes) -> AsyncIterator[bytes]:
    """The file with ``prefix`` before every line; a line break within a cell is written as two characters."""
    with path.open("rb") as file:
        is_at_start = True
        while chunk := await asyncio.to_thread(file.read, _CHUNK):
            ends = chunk.endswith(b"\n")
            body = chunk[:-1].replace(b"\n", b"\n" + prefix) + chunk[-1:]
            yield prefix + body if is_at_start else body
            is_at_start = ends
