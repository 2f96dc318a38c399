"""A kept file becomes pieces of text, read in a child process that may take so much and no more."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import structlog

from offhook.kit.processes.limited_programs import TIMED_OUT, LimitedPrograms, Limits
from offhook.knowledge.offline.model import tokenizer_path
from offhook.knowledge.uploads import Intake

PROGRAM: Final = "offhook.kit.reading.program"
LIMITS: Final = Limits(within_s=120.0, cpu_s=90, memory_bytes=1 << 30, file_bytes=64 << 20)
AT_ONCE: Final = 2
# The exit codes of ``kit.reading.program``, which is not imported here: its libraries stay out of our memory.
_UNREADABLE: Final = 3
_TOO_HARD: Final = "The file takes too much memory or time to read: split it, or save it as text."
_BROKEN: Final = "The file could not be read: open it in its program and save it again."
log = structlog.get_logger(__name__)
# Exit by a signal: out of processor time, killed, or out of disk.
_BY_LIMIT: Final = frozenset({TIMED_OUT, -9, -24, -25, 4})


class DocumentUnreadable(Exception):
    """A sentence for whoever uploaded the file."""


@dataclass(frozen=True, slots=True)
class Found:
    """What a file holds, in numbers; its pieces lie in ``path``."""

    path: Path
    pages: int
    characters: int
    tokens: int
    pieces: int

    def batches(self, size: int) -> Iterator[list[dict[str, Any]]]:
        """The pieces with their positions, so many at a time."""
        with self.path.open(encoding="utf-8") as lines:
            numbered = ({**json.loads(line), "position": at} for at, line in enumerate(lines))
            while batch := list(islice(numbered, size)):
                yield batch


class Reader:
    """One per process."""

    def __init__(self, intake: Intake) -> None:
        self._intake = intake
        self._programs = LimitedPrograms(LIMITS, at_once=AT_ONCE)

    @asynccontextmanager
    async def read(self, storage_key: str, kind: str) -> AsyncIterator[Found]:
        """The pieces of a kept file, for as long as the block lasts. DocumentUnreadable; FileGone."""
        async with self._intake.fetched(storage_key) as source, self._intake.draft() as target:
            tokenizer = await asyncio.to_thread(tokenizer_path)
            done = await self._programs.run(PROGRAM, str(source), kind, str(target), str(tokenizer or ""))
            if done.code == _UNREADABLE:
                raise DocumentUnreadable(done.said)
            if done.code != 0:
                log.warning("document_not_read", code=done.code, kind=kind)
                raise DocumentUnreadable(_TOO_HARD if done.code in _BY_LIMIT else _BROKEN)
            numbers = json.loads(done.said)
            yield Found(target, numbers["pages"], numbers["characters"], numbers["tokens"], numbers["pieces"])
