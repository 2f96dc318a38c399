"""Programs of one organization do not fill the line of all: turns, limits, and what happens when a caller leaves."""

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import pytest

from offhook.errors import TooManyRequests
from offhook.kit.processes import limited_programs
from offhook.kit.processes.fair_places import FairPlaces
from offhook.kit.processes.limited_programs import OutputFile, ProcessLimits, ProcessResult, SandboxedProcessRunner

BUSY, OTHER, THIRD = 1, 2, 3
LIMITS = ProcessLimits(timeout_s=60.0, cpu_s=30, memory_bytes=1 << 30, file_bytes=1 << 20)
ENDLESS = """
import os, sys
os.write(int(sys.argv[1]), str(os.getpid()).encode())
while True:
    pass
"""


class Line:
    """Work that ends when it is told to, and its order."""

    def __init__(self, places: FairPlaces) -> None:
        self.places = places
        self.running: list[int | None] = []
        self.tasks: list[asyncio.Task[None]] = []
        self._ends: list[asyncio.Event] = []

    async def come(self, owner: int | None, count: int = 1) -> list[asyncio.Task[None]]:
        came = [asyncio.create_task(self._work(owner)) for _ in range(count)]
        self.tasks += came
        await settle()
        return came

    async def end(self, owner: int | None) -> None:
        at = self.running.index(owner)
        self.running.pop(at)
        self._ends.pop(at).set()
        await settle()

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    async def _work(self, owner: int | None) -> None:
        async with self.places.take(owner):
            end = asyncio.Event()
            self.running.append(owner)
            self._ends.append(end)
            await end.wait()


async def settle() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_who_comes_late_is_next_although_another_has_twelve_waiting() -> None:
    line = Line(FairPlaces(1, max_waiting=12))
    await line.come(BUSY, 13)
    await line.come(OTHER, 2)
    order = []
    for _ in range(5):
        order += line.running
        await line.end(line.running[0])
    assert order == [BUSY, OTHER, BUSY, OTHER, BUSY]
    await line.close()


async def test_the_last_of_several_places_is_for_who_has_none() -> None:
    line = Line(FairPlaces(3))
    await line.come(BUSY, 4)
    assert line.running == [BUSY, BUSY]
    await line.come(OTHER, 2)
    assert line.running == [BUSY, BUSY, OTHER]
    await line.come(THIRD)
    await line.end(BUSY)
    assert line.running == [BUSY, OTHER, THIRD], "one place each while others wait"
    await line.end(THIRD)
    assert line.running == [BUSY, OTHER], "the others have one, and both want the last"
    await line.close()


async def test_an_organization_has_a_few_waiting_and_hears_when_to_come_back() -> None:
    line = Line(FairPlaces(2))
    await line.come(BUSY, 5)
    assert line.running == [BUSY]
    with pytest.raises(TooManyRequests) as refused:
        line.places.require_room(BUSY)
    assert (refused.value.code, refused.value.headers) == ("too_many_requests", {"Retry-After": "5"})
    (sixth,) = await line.come(BUSY)
    assert isinstance(sixth.exception(), TooManyRequests)
    line.places.require_room(OTHER)
    await line.come(OTHER)
    assert line.running == [BUSY, OTHER]
    await line.close()


async def test_who_leaves_the_line_gives_up_the_turn() -> None:
    line = Line(FairPlaces(1))
    await line.come(BUSY)
    (leaving,) = await line.come(OTHER)
    await line.come(THIRD)
    leaving.cancel()
    await line.end(BUSY)
    assert line.running == [THIRD]
    await line.close()
    async with asyncio.timeout(1), line.places.take(BUSY):
        pass


async def test_a_place_that_is_given_to_who_leaves_goes_to_the_next() -> None:
    line = Line(FairPlaces(1))
    async with line.places.take(BUSY):
        (leaving,) = await line.come(OTHER)
        await line.come(THIRD)
    leaving.cancel()
    await settle()
    assert line.running == [THIRD]
    await line.close()


async def test_a_program_of_another_is_next_in_a_runner(monkeypatch: pytest.MonkeyPatch) -> None:
    began: list[str] = []

    def run(program: str, *_: object) -> ProcessResult:
        began.append(program)
        return ProcessResult(0, "")

    monkeypatch.setattr(limited_programs, "_run_program", run)
    runner = SandboxedProcessRunner(LIMITS, max_concurrent=1, max_waiting=12)
    of_busy = [asyncio.create_task(runner.run(f"busy {number}", owner=BUSY)) for number in range(13)]
    await asyncio.sleep(0)
    await asyncio.gather(runner.run("other", owner=OTHER), *of_busy)
    assert began[:3] == ["busy 0", "other", "busy 1"]
    assert len(began) == 14


async def test_a_running_program_is_killed_with_its_caller(tmp_path: Path) -> None:
    program, started = tmp_path / "endless.py", tmp_path / "started"
    program.write_text(ENDLESS)
    runner = SandboxedProcessRunner(LIMITS, max_concurrent=1)
    task = asyncio.create_task(runner.run(program, OutputFile(started), owner=BUSY))
    async with asyncio.timeout(20):
        while not (started.exists() and started.read_text()):
            await asyncio.sleep(0.01)
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    with pytest.raises(ProcessLookupError):
        os.kill(int(started.read_text()), 0)
    program.write_text("print('next')")
    assert (await runner.run(program, owner=OTHER)).stdout == "next"


async def test_a_caller_who_leaves_before_the_process_exists_leaves_none(tmp_path: Path) -> None:
    program, written = tmp_path / "endless.py", tmp_path / "written"
    program.write_text(ENDLESS)
    runner = SandboxedProcessRunner(LIMITS, max_concurrent=1)
    task = asyncio.create_task(runner.run(program, OutputFile(written), owner=BUSY))
    await asyncio.sleep(0)
    task.cancel()
    async with asyncio.timeout(20):
        with suppress(asyncio.CancelledError):
            await task
    assert not written.exists() or not written.read_text()
