"""Places of organizations for work that takes seconds: one each, and the others wait in turn."""

import asyncio
from contextlib import AsyncExitStack

from offhook.errors import TooManyRequests
from offhook.scenarios.places import OrganizationPlaces
from tests.fakes.clock import run_virtual


async def work(places: OrganizationPlaces, organization_id: int, seconds: float, done: list[int]) -> float | None:
    """Returns how long it waited; None when it was refused."""
    try:
        async with places.hold(organization_id) as waited_s:
            await asyncio.sleep(seconds)
            done.append(organization_id)
            return waited_s
    except TooManyRequests:
        return None


def test_organizations_that_ask_all_the_time_lock_no_other_out() -> None:
    async def scene() -> None:
        places = OrganizationPlaces(2, wait_s=20, refusal=TooManyRequests)
        done: list[int] = []

        async def ask_again_and_again(organization_id: int) -> None:
            while True:
                await work(places, organization_id, 15, done)

        busy = [asyncio.create_task(ask_again_and_again(organization_id)) for organization_id in (1, 2)]
        await asyncio.sleep(1)
        for _ in range(5):
            waited_s = await work(places, 3, 1, done)
            assert waited_s is not None
            assert waited_s <= 15
        for one in busy:
            one.cancel()
        await asyncio.gather(*busy, return_exceptions=True)
        assert done.count(3) == 5

    run_virtual(scene())


def test_who_has_a_place_or_waits_for_one_is_refused_another() -> None:
    async def scene() -> None:
        places = OrganizationPlaces(1, wait_s=20, refusal=TooManyRequests)
        done: list[int] = []
        tasks = [asyncio.create_task(work(places, each, 5, done)) for each in (1, 1, 2, 2, 3)]
        assert [await task for task in tasks] == [0, None, 5, None, 10]
        assert done == [1, 2, 3]
        assert not places._lines, "nothing is kept about those who are gone"

    run_virtual(scene())


def test_the_wait_has_an_end() -> None:
    async def scene() -> None:
        places = OrganizationPlaces(1, wait_s=20, refusal=TooManyRequests)
        async with places.hold(1):
            assert await work(places, 2, 1, []) is None
        assert await work(places, 2, 1, []) == 0

    run_virtual(scene())


def test_a_longer_line_waits_behind_one_of_each_other_organization() -> None:
    async def scene() -> None:
        places = OrganizationPlaces(1, in_line=3, wait_s=20, refusal=TooManyRequests)
        done: list[int] = []
        tasks = [asyncio.create_task(work(places, each, 1, done)) for each in (1, 1, 1, 1, 2, 3)]
        assert [await task for task in tasks].count(None) == 1
        assert done == [1, 2, 3, 1, 1]

    run_virtual(scene())


def test_who_is_canceled_leaves_the_line() -> None:
    async def scene() -> None:
        places = OrganizationPlaces(1, wait_s=20, refusal=TooManyRequests)
        async with AsyncExitStack() as held:
            await held.enter_async_context(places.hold(1))
            waiting = asyncio.create_task(work(places, 2, 1, []))
            await asyncio.sleep(1)
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
        assert await work(places, 2, 1, []) == 0

    run_virtual(scene())
