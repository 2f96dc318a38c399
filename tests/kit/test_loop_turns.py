"""Requests take turns in the event loop: what is due runs between two of them, and nobody's number of requests matters."""

import asyncio
from collections.abc import Callable
from itertools import pairwise

import pytest

from offhook.kit.http.turns.loop_turns import LoopTurns, TurnTaking

STEPS = 4


class Office:
    """Requests whose rows arrive all at once, and a call whose next frame is always due."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.turns = LoopTurns()

    async def serve(self, *owners: str) -> None:
        frames = asyncio.ensure_future(self._send_frames())
        await asyncio.gather(*(TurnTaking(self._answer(owner), self.turns, owner) for owner in owners))
        frames.cancel()

    async def _answer(self, owner: str) -> None:
        for _ in range(STEPS):
            self.seen.append(owner)
            await asyncio.sleep(0)

    async def _send_frames(self) -> None:
        while True:
            self.seen.append("frame")
            await asyncio.sleep(0)


async def test_a_frame_is_sent_between_two_steps_of_requests() -> None:
    office = Office()
    await office.serve(*["acme"] * 10)
    assert office.seen.count("acme") == 10 * STEPS
    steps = [index for index, name in enumerate(office.seen) if name == "acme"]
    assert all(later - earlier >= 2 for earlier, later in pairwise(steps))


async def test_one_request_is_done_before_twenty_of_another_organization() -> None:
    office = Office()
    await office.serve(*["greedy"] * 20, "modest")
    served = [name for name in office.seen if name != "frame"]
    last_of_modest = len(served) - served[::-1].index("modest")
    assert served[:last_of_modest].count("greedy") <= 3 * STEPS


async def test_a_request_alone_does_not_wait() -> None:
    office = Office()
    await office.serve("acme")
    assert len(office.seen) - STEPS <= STEPS + 3


async def test_a_request_that_waits_for_nothing_else_is_done_at_once() -> None:
    seen: list[str] = []

    async def answer() -> None:
        seen.append("answer")

    await TurnTaking(answer(), LoopTurns(), "acme")
    assert seen == ["answer"]


async def test_errors_come_out() -> None:
    async def fail() -> None:
        await asyncio.sleep(0)
        raise ValueError("no such agent")

    with pytest.raises(ValueError, match="no such agent"):
        await TurnTaking(fail(), LoopTurns(), "acme")


@pytest.mark.parametrize("rounds", range(6))
async def test_a_cancelled_request_ends_in_order_wherever_it_waits(rounds: int) -> None:
    """Also while it waits for its turn: the others get theirs."""
    turns, ended = LoopTurns(), asyncio.Event()

    async def work(then: Callable[[], None]) -> None:
        try:
            for _ in range(20):
                await asyncio.sleep(0)
        finally:
            await asyncio.sleep(0)
            then()

    async def request(then: Callable[[], None]) -> None:
        await TurnTaking(work(then), turns, "acme")

    others = [asyncio.ensure_future(request(lambda: None)) for _ in range(5)]
    left = asyncio.ensure_future(request(ended.set))
    for _ in range(8 + rounds):
        await asyncio.sleep(0)
    left.cancel()
    with pytest.raises(asyncio.CancelledError):
        await left
    assert ended.is_set()
    await asyncio.gather(*others)
