"""Starts programs that play scenarios: processes of their own, without our environment, that end with us."""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from offhook.kit.processes import quick_program
from offhook.kit.processes.child_process import die_with_parent

MAX_LINE_BYTES: Final = 8 * 1024 * 1024


def quick_command(module: str) -> tuple[str, ...]:
    """Returns the command that runs the ``main`` of one of our modules, without the rest of the product."""
    return sys.executable, "-m", quick_program.__name__, module


@asynccontextmanager
async def start_program(
    command: Sequence[str], order: bytes, *arguments: str, has_questions: bool = False
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Gives a program its order on the standard input, and yields the process to read lines of; it is killed at the
    end. ``has_questions``: its standard input stays open for answers."""
    async with open_program(command, *arguments) as process:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(order + b"\n")
            await process.stdin.drain()
            if not has_questions:
                process.stdin.close()
        yield process


@asynccontextmanager
async def open_program(
    command: Sequence[str], *arguments: str, is_interruptible: bool = True
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Yields a process that waits for orders on its standard input; it is killed at the end. ``is_interruptible``: Ctrl-C on
    our terminal ends it, too."""
    # the child gets no setting and no secret of our environment
    kept = {name: os.environ[name] for name in ("PATH", "LANG", "PYTHONPATH", "HOME") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *command,
        *arguments,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        limit=MAX_LINE_BYTES,
        env={**kept, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "RAYON_NUM_THREADS": "1"},
        start_new_session=not is_interruptible,
        preexec_fn=die_with_parent(),
    )
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        await process.wait()
