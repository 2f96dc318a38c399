"""Reads stored files into pieces of text, in a child process with limits."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Final

import structlog

from offhook.kit.json_values import JsonObject
from offhook.kit.processes.limited_programs import (
    TIMED_OUT,
    InputFile,
    OutputFile,
    ProcessLimits,
    SandboxedProcessRunner,
)
from offhook.knowledge.offline.prepared_model import tokenizer_path
from offhook.knowledge.uploads import DocumentIntake

PROGRAM: Final = "offhook.kit.reading.program"
LIMITS: Final = ProcessLimits(timeout_s=120.0, cpu_s=90, memory_bytes=1 << 30, file_bytes=64 << 20)
# Web pages are read in a second; slower ones were made to be slow.
HTML_LIMITS: Final = replace(LIMITS, timeout_s=40.0, cpu_s=30)
# One organization has at most all but one of them.
MAX_CONCURRENT: Final = 3
# Exit codes of ``kit.reading.program``, which is not imported here: its libraries stay out of our memory.
_UNREADABLE_EXIT: Final = 3
_TOO_HARD_MESSAGE: Final = "Reading the file takes too much memory or time. Split it or save it as text."
_BROKEN_MESSAGE: Final = "The file could not be read. Open it in the program that created it and save it again."
log = structlog.get_logger(__name__)
# Exit by a signal: out of processor time, killed, or out of disk.
_LIMIT_EXITS: Final = frozenset({TIMED_OUT, -9, -24, -25, 4})


class DocumentUnreadable(Exception):
    """The file cannot be read; the message is a sentence for the user who uploaded it."""


@dataclass(frozen=True, slots=True)
class ExtractedDocument:
    """The size of a file's text, and the ``path`` of its pieces."""

    path: Path
    pages: int
    characters: int
    tokens: int
    pieces: int

    def iter_batches(self, size: int) -> Iterator[list[JsonObject]]:
        """Yields the pieces with their positions in batches."""
        with self.path.open(encoding="utf-8") as lines:
            numbered = ({**json.loads(line), "position": at} for at, line in enumerate(lines))
            while batch := list(islice(numbered, size)):
                yield batch


class DocumentReader:
    """Reads stored files in limited child processes."""

    def __init__(self, intake: DocumentIntake) -> None:
        self._intake = intake
        self._programs = SandboxedProcessRunner(LIMITS, max_concurrent=MAX_CONCURRENT)

    @asynccontextmanager
    async def read_document(
        self, organization_id: int, storage_key: str, kind: str
    ) -> AsyncIterator[ExtractedDocument]:
        """Yields the pieces of a stored file. Raises DocumentUnreadable and FileGone."""
        async with self._intake.fetch_file(storage_key) as source, self._intake.draft_file() as target:
            tokenizer = await asyncio.to_thread(tokenizer_path)
            limits = HTML_LIMITS if kind == "html" else LIMITS
            arguments = (InputFile(source), kind, OutputFile(target), InputFile(tokenizer) if tokenizer else "")
            done = await self._programs.run(PROGRAM, *arguments, owner=organization_id, limits=limits)
            if done.exit_code == _UNREADABLE_EXIT:
                raise DocumentUnreadable(done.stdout)
            if done.exit_code != 0:
                log.warning("document_read_failed", code=done.exit_code, kind=kind)
                raise DocumentUnreadable(_TOO_HARD_MESSAGE if done.exit_code in _LIMIT_EXITS else _BROKEN_MESSAGE)
            numbers = json.loads(done.stdout)
            yield ExtractedDocument(
                target, numbers["pages"], numbers["characters"], numbers["tokens"], numbers["pieces"]
            )
