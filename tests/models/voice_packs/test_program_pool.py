"""How many programs of packs a process keeps, and for how long: on virtual time, with programs that only count."""

import asyncio
from collections.abc import Callable, Coroutine
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from offhook.models.ports import ModelError
from offhook.models.providers.voice_pack.program_pool import IDLE_END_S, MAX_LOADED, RESTART_PAUSE_S, ProgramPool
from offhook.models.voice_packs.store import InstalledPack
from tests.fakes.clock import run_virtual
from tests.models.voice_packs.packs import manifest_of, pack_files


class CountingProgram:
    """Implements PackProgram."""

    def __init__(self, pack: InstalledPack, fails: bool) -> None:
        self.name = pack.name
        self.starts = 0
        self.is_closed = False
        self.fails = fails

    async def start(self) -> None:
        self.starts += 1
        if self.fails:
            raise ModelError("tts_program_died", "It ended.", retryable=True)

    async def close(self) -> None:
        self.is_closed = True


class Shelf:
    def __init__(self, *, fails: bool = False) -> None:
        self.built: list[CountingProgram] = []
        self.fails = fails
        self.pool: ProgramPool[CountingProgram] = ProgramPool("tts", self._build)

    def _build(self, pack: InstalledPack) -> CountingProgram:
        self.built.append(CountingProgram(pack, self.fails))
        return self.built[-1]


def pack(name: str) -> InstalledPack:
    return InstalledPack(Path("/voices") / name, manifest_of(pack_files(), name), datetime.now(UTC))


def virtually(scenario: Callable[[], Coroutine[Any, Any, None]]) -> None:
    run_virtual(scenario(), limit_s=10 * IDLE_END_S)


def test_calls_share_a_program_and_it_ends_when_none_has_used_it_for_long() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        async with shelf.pool.use(pack("a")) as one, shelf.pool.use(pack("a")) as other:
            assert one is other
            await asyncio.sleep(3 * IDLE_END_S)
        await asyncio.sleep(IDLE_END_S - 1)
        async with shelf.pool.use(pack("a")) as third:
            assert third is one
            assert not one.is_closed
        await asyncio.sleep(IDLE_END_S + 1)
        assert [program.is_closed for program in shelf.built] == [True]
        assert shelf.pool.programs == []
        await shelf.pool.close()

    virtually(scenario)


def test_one_more_pack_ends_the_one_that_is_idle_for_longest() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        for name in "abc":
            async with shelf.pool.use(pack(name)):
                await asyncio.sleep(1)
        async with shelf.pool.use(pack("d")):
            assert [program.name for program in shelf.pool.programs] == ["b", "c", "d"]
        assert shelf.built[0].is_closed
        await shelf.pool.close()
        assert all(program.is_closed for program in shelf.built)

    virtually(scenario)


def test_where_calls_use_all_the_next_pack_is_refused() -> None:
    async def scenario() -> None:
        shelf = Shelf()
        for index in range(MAX_LOADED):
            await shelf.pool.acquire(pack(f"p{index}"))
        with pytest.raises(ModelError) as caught:
            await shelf.pool.acquire(pack("one-more"))
        assert (caught.value.code, caught.value.retryable) == ("tts_busy", False)
        shelf.pool.release(pack("p0"))
        async with shelf.pool.use(pack("one-more")):
            assert shelf.built[0].is_closed
        await shelf.pool.close()

    virtually(scenario)


def test_a_pack_that_does_not_start_is_tried_again_after_a_pause() -> None:
    async def scenario() -> None:
        shelf = Shelf(fails=True)
        for _ in range(3):
            with pytest.raises(ModelError, match="The voice pack a does not start: It ended"):
                await shelf.pool.acquire(pack("a"))
        (program,) = shelf.built
        assert program.starts == 1
        await asyncio.sleep(RESTART_PAUSE_S + 1)
        program.fails = False
        async with shelf.pool.use(pack("a")):
            assert program.starts == 2
        await shelf.pool.close()

    virtually(scenario)
