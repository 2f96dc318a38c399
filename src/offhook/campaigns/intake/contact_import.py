"""A contact CSV becomes rows of a table: read and checked in a child process, copied in one transaction.

The child keeps its own memory and its own core: a list of a million contacts does not stop the loop that carries voices.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.campaigns import repository
from offhook.campaigns.errors import ContactsInvalid
from offhook.kit.processes.limited_programs import ProcessLimits, SandboxedProcessRunner

PROGRAM: Final = Path(__file__).with_name("contact_reader_program.py")
# A million contacts take a minute; the answer names 200 columns and 20 errors at most.
LIMITS: Final = ProcessLimits(
    timeout_s=180.0, cpu_s=120, memory_bytes=1 << 30, file_bytes=2 << 30, output_bytes=1 << 20
)
# The calls of this machine need its cores: further files wait for their turn.
MAX_CONCURRENT: Final = 2
_CHUNK: Final = 256 * 1024
_COLUMNS: Final = ("campaign_id", "organization_id", "due_at", "row_number", "phone_number", "variables")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class CheckedContacts:
    """A file without errors: ``lines`` is what PostgreSQL reads (``row, number, variables``)."""

    lines: Path
    columns: tuple[str, ...]
    contacts: int


class ContactReader:
    """One per process."""

    def __init__(self, limits: ProcessLimits = LIMITS) -> None:
        self._programs = SandboxedProcessRunner(limits, at_once=MAX_CONCURRENT)

    async def check_file(self, source: Path, lines: Path, wanted: Sequence[str]) -> CheckedContacts:
        """Read ``source`` and write ``lines``. ContactsInvalid (422) lists what is wrong and where."""
        done = await self._programs.run(PROGRAM, str(source), str(lines), json.dumps(list(wanted)))
        if done.exit_code != 0:
            log.warning("contact_file_unreadable", code=done.exit_code)
            raise ContactsInvalid([{"row": None, "column": None, "message": "The file could not be read."}], 1)
        answer = json.loads(done.stdout)
        if answer["total_errors"]:
            raise ContactsInvalid(answer["errors"], answer["total_errors"])
        return CheckedContacts(lines, tuple(answer["columns"]), answer["rows"])


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
