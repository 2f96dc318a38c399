"""A kept file becomes pieces of text, read in a child process that may take so much and no more."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import structlog

from offhook.kit.processes.limited_programs import TIMED_OUT, ProcessLimits, SandboxedProcessRunner
from offhook.knowledge.offline.model import tokenizer_path
from offhook.knowledge.uploads import DocumentIntake

PROGRAM: Final = "offhook.kit.reading.program"
LIMITS: Final = ProcessLimits(timeout_s=120.0, cpu_s=90, memory_bytes=1 << 30, file_bytes=64 << 20)
# Pages of the web are read in a second; what takes longer was made to.
HTML_LIMITS: Final = replace(LIMITS, timeout_s=40.0, cpu_s=30)
MAX_CONCURRENT: Final = 2
# The exit codes of ``kit.reading.program``, which is not imported here: its libraries stay out of our memory.
_UNREADABLE_EXIT: Final = 3
_TOO_HARD_MESSAGE: Final = "The file takes too much memory or time to read: split it, or save it as text."
_BROKEN_MESSAGE: Final = "The file could not be read: open it in its program and save it again."
log = structlog.get_logger(__name__)
# Exit by a signal: out of processor time, killed, or out of disk.
_LIMIT_EXITS: Final = frozenset({TIMED_OUT, -9, -24, -25, 4})


class DocumentUnreadable(Exception):
    """A sentence for whoever uploaded the file."""


@dataclass(frozen=True, slots=True)
class ExtractedDocument:
    """What a file holds, in numbers; its pieces lie in ``path``."""

    path: Path
    pages: int
    characters: int
    tokens: int
    pieces: int

    def iter_batches(self, size: int) -> Iterator[list[dict[str, Any]]]:
        """The pieces with their positions, so many at a time."""
        with self.path.open(encoding="utf-8") as lines:
            numbered = ({**json.loads(line), "position": at} for at, line in enumerate(lines))
            while batch := list(islice(numbered, size)):
                yield batch


class DocumentReader:
    """One per process."""

    def __init__(self, intake: DocumentIntake) -> None:
        self._intake = intake
        self._programs = SandboxedProcessRunner(LIMITS, at_once=MAX_CONCURRENT)

    @asynccontextmanager
    async def read_document(self, storage_key: str, kind: str) -> AsyncIterator[ExtractedDocument]:
        """The pieces of a kept file, for as long as the block lasts. DocumentUnreadable; FileGone."""
        async with self._intake.fetch_file(storage_key) as source, self._intake.draft_file() as target:
            tokenizer = await asyncio.to_thread(tokenizer_path)
            limits = HTML_LIMITS if kind == "html" else LIMITS
            arguments = (str(source), kind, str(target), str(tokenizer or ""))
            done = await self._programs.run(PROGRAM, *arguments, limits=limits)
            if done.exit_code == _UNREADABLE_EXIT:
                raise DocumentUnreadable(done.stdout)
            if done.exit_code != 0:
                log.warning("document_read_failed", code=done.exit_code, kind=kind)
                raise DocumentUnreadable(_TOO_HARD_MESSAGE if done.exit_code in _LIMIT_EXITS else _BROKEN_MESSAGE)
            numbers = json.loads(done.stdout)
            yield ExtractedDocument(
                target, numbers["pages"], numbers["characters"], numbers["tokens"], numbers["pieces"]
            )
