"""Reads and checks a contact CSV in a child process.

The child has its own memory and core limits, so a list of a million contacts does not stop the loop that carries calls.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import structlog

from offhook.campaigns.errors import ContactsInvalid
from offhook.campaigns.intake.repository import CheckedContacts
from offhook.kit.processes.limited_programs import InputFile, OutputFile, ProcessLimits, SandboxedProcessRunner

PROGRAM: Final = Path(__file__).with_name("contact_reader_program.py")
# A million contacts take a minute; the answer has at most 200 columns and 20 errors.
LIMITS: Final = ProcessLimits(
    timeout_s=180.0, cpu_s=120, memory_bytes=1 << 30, file_bytes=2 << 30, output_bytes=1 << 20
)
# The calls of this machine need its cores: further files wait for their turn. Of one organization, and so of one file,
# one is checked at a time.
MAX_CONCURRENT: Final = 2
log = structlog.get_logger(__name__)


class ContactReader:
    """Checks contact files in limited child processes. One per process."""

    def __init__(self, limits: ProcessLimits = LIMITS) -> None:
        self._programs = SandboxedProcessRunner(limits, max_concurrent=MAX_CONCURRENT)

    async def check_file(
        self, organization_id: int, source: Path, lines: Path, required: Sequence[str]
    ) -> CheckedContacts:
        """Reads ``source`` and writes ``lines``. Raises ContactsInvalid (422) with the errors and their places, and
        TooManyRequests (429).
        """
        files = (InputFile(source), OutputFile(lines))
        done = await self._programs.run(PROGRAM, *files, json.dumps(list(required)), owner=organization_id)
        if done.exit_code != 0:
            log.warning("contact_file_unreadable", code=done.exit_code)
            raise ContactsInvalid([{"row": None, "column": None, "message": "The file could not be read."}], 1)
        answer = json.loads(done.stdout)
        if answer["total_errors"]:
            raise ContactsInvalid(answer["errors"], answer["total_errors"])
        return CheckedContacts(lines, tuple(answer["columns"]), answer["rows"])
