"""Processes that play calls again, one call after the other."""

import asyncio
import json
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self

from offhook.runs.errors import JournalDamaged
from offhook.scenarios.errors import ReplayFailed
from offhook.scenarios.processes import open_program, quick_command
from offhook.scenarios.replays.orders import ReplayableRun, RunReplay

# Gets the processor time of each call in seconds as its argument.
PROGRAM: Final = quick_command("offhook.scenarios.replays.program")
# A call of a quarter of an hour takes less than one second.
MAX_CPU_S: Final = 20
TIMEOUT_S: Final = 120.0


class ReplayProcess:
    """Started by its first call, and again by the next one after it died."""

    def __init__(self, program: Sequence[str] = PROGRAM, *, timeout_s: float = TIMEOUT_S) -> None:
        self._program = program
        self._timeout_s = timeout_s
        self._process: asyncio.subprocess.Process | None = None
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._end()

    async def replay(self, run: ReplayableRun) -> RunReplay:
        """Returns what came of a replay. Raises JournalDamaged, ReplayFailed (409)."""
        order = await asyncio.to_thread(lambda: json.dumps(run.as_json(), default=str).encode() + b"\n")
        try:
            async with asyncio.timeout(self._timeout_s):
                line = await self._ask(order)
        except (TimeoutError, BrokenPipeError, ConnectionResetError):
            line = b""
        if not line:
            await self._end()
            raise ReplayFailed
        answer = json.loads(line)
        if "damage" in answer:
            raise JournalDamaged(answer["damage"])
        return RunReplay.from_json(answer["replay"])

    async def _ask(self, order: bytes) -> bytes:
        if self._process is None:
            program = open_program(self._program, str(MAX_CPU_S), is_interruptible=False)
            self._process = await self._stack.enter_async_context(program)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(order)
        await self._process.stdin.drain()
        return await self._process.stdout.readline()

    async def _end(self) -> None:
        self._process = None
        await self._stack.aclose()
