"""The programs of voice packs that a process has loaded: few at a time, and none for long that no call uses."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Protocol, TypeVar

from offhook.kit.tasks import TaskTracker
from offhook.models.ports import ModelError
from offhook.models.vendors import Kind
from offhook.models.voice_packs.store import InstalledPack

# Each takes the memory of its model, some 100 MB and more.
MAX_LOADED: Final = 3
IDLE_END_S: Final = 1800.0
# A pack that could not be loaded is not tried again for so long: each try takes seconds of a call.
RESTART_PAUSE_S: Final = 30.0


class PackProgram(Protocol):
    async def start(self) -> None:
        """Ensures that it runs. Raises ModelError."""
        ...

    async def close(self) -> None: ...


Program = TypeVar("Program", bound=PackProgram)


@dataclass(slots=True)
class _LoadedProgram(Generic[Program]):
    program: Program
    users: int = 0
    idle_since: float = 0.0
    failure: ModelError | None = None
    failed_at: float = 0.0


class ProgramPool(Generic[Program]):
    """The programs of one kind, by the folder of their pack: a newer version of a pack is another one."""

    def __init__(self, kind: Kind, build: Callable[[InstalledPack], Program]) -> None:
        self._kind = kind
        self._build = build
        self._loaded: dict[Path, _LoadedProgram[Program]] = {}
        self._tasks = TaskTracker()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def programs(self) -> list[Program]:
        return [each.program for each in self._loaded.values()]

    @asynccontextmanager
    async def use(self, pack: InstalledPack) -> AsyncIterator[Program]:
        """Has the pack's program running for the length of the block. Raises ModelError."""
        program = await self.acquire(pack)
        try:
            yield program
        finally:
            self.release(pack)

    async def acquire(self, pack: InstalledPack) -> Program:
        """Returns the running program, which stays until :meth:`release`. Raises ModelError, not retryable."""
        loaded = self._loaded.get(pack.folder)
        if loaded is None:
            await self._make_room()
            loaded = self._loaded.setdefault(pack.folder, _LoadedProgram(self._build(pack)))
        loaded.users += 1
        try:
            await self._start(pack, loaded)
        except BaseException:
            self.release(pack)
            raise
        return loaded.program

    def release(self, pack: InstalledPack) -> None:
        loaded = self._loaded.get(pack.folder)
        if loaded is None:
            return
        loaded.users -= 1
        if loaded.users == 0:
            loop = asyncio.get_running_loop()
            loaded.idle_since = loop.time()
            if self._timer is None:
                self._timer = loop.call_later(IDLE_END_S, self._end_idle)

    async def _start(self, pack: InstalledPack, loaded: _LoadedProgram[Program]) -> None:
        now = asyncio.get_running_loop().time()
        if loaded.failure is not None and now - loaded.failed_at < RESTART_PAUSE_S:
            raise loaded.failure
        try:
            await loaded.program.start()
        except ModelError as error:
            loaded.failed_at = now
            loaded.failure = ModelError(
                f"{self._kind}_unavailable",
                f"The voice pack {pack.name} does not start: {error} `offhook voices verify {pack.name}` reads its files.",
                retryable=False,
            )
            raise loaded.failure from error
        loaded.failure = None

    async def _make_room(self) -> None:
        """Ends the program that no call has used for longest. Raises ModelError when calls use all of them."""
        if len(self._loaded) < MAX_LOADED:
            return
        idle = [(each.idle_since, folder) for folder, each in self._loaded.items() if each.users == 0]
        if not idle:
            raise ModelError(
                f"{self._kind}_busy", f"Calls use {MAX_LOADED} other voice packs, the most at a time.", retryable=False
            )
        await self._loaded.pop(min(idle)[1]).program.close()

    def _end_idle(self) -> None:
        self._timer = None
        now = asyncio.get_running_loop().time()
        for folder, each in list(self._loaded.items()):
            if each.users == 0 and now - each.idle_since >= IDLE_END_S:
                del self._loaded[folder]
                self._tasks.start(each.program.close(), name="voice-pack-end")
        waiting = [each.idle_since for each in self._loaded.values() if each.users == 0]
        if waiting:
            self._timer = asyncio.get_running_loop().call_later(min(waiting) + IDLE_END_S - now, self._end_idle)

    async def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        closing: list[Awaitable[None]] = [each.program.close() for each in self._loaded.values()]
        self._loaded.clear()
        await asyncio.gather(*closing)
        await self._tasks.close()
