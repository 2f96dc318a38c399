"""While an agent speaks and its frames are late, requests leave the loop to it; otherwise they wait for nothing."""

import asyncio

import pytest

from offhook.kit.http.turns.loop_turns import LoopTurns, TurnTaking
from offhook.kit.http.turns.request_share import BURST_S, MIN_SHARE, RequestShare
from offhook.kit.virtual_time import run_on_virtual_time

BEAT_S = 0.02
STEP_S = 0.01


def speak(share: RequestShare, *, until: float, late_s: float, since: float = 0.0) -> None:
    for beat in range(int((until - since) / BEAT_S)):
        share.note_beat(since + beat * BEAT_S, late_s)


def requests_in_a_second(share: RequestShare, began: float) -> int:
    """Counts the steps of 10 ms that requests take one after the other."""
    now, steps = began, 0
    while now < began + 1.0:
        if wait_s := share.wait_s(now):
            now += wait_s
            continue
        share.spend(STEP_S)
        share.note_beat(now, 0.01)
        now, steps = now + STEP_S, steps + 1
    return steps


def test_requests_take_all_they_want_while_no_agent_speaks() -> None:
    share = RequestShare()
    for step in range(100):
        share.spend(10 * STEP_S)
        assert share.wait_s(step * STEP_S) == 0.0


def test_requests_take_all_they_want_while_frames_are_on_time() -> None:
    share = RequestShare()
    for step in range(100):
        now = step * STEP_S
        share.note_beat(now, 0.001)
        share.spend(STEP_S)
        assert share.wait_s(now + STEP_S) == 0.0


def test_requests_take_little_while_frames_are_late_but_never_nothing() -> None:
    share = RequestShare()
    speak(share, until=2.0, late_s=0.01)
    assert share.share == MIN_SHARE
    allowed = (BURST_S + MIN_SHARE) / STEP_S
    assert allowed - 2 <= requests_in_a_second(share, began=2.0) <= allowed + 2


def test_operators_see_the_share_that_holds_now() -> None:
    share = RequestShare()
    speak(share, until=2.0, late_s=0.01)
    assert share.current_share(2.0) == MIN_SHARE
    assert share.current_share(3.0) == 1.0


def test_requests_get_their_share_back_when_frames_are_on_time_again() -> None:
    share = RequestShare()
    speak(share, until=2.0, late_s=0.01)
    speak(share, since=2.0, until=30.0, late_s=0.0)
    assert share.share == 1.0


def test_nobody_waits_for_an_agent_that_has_stopped_speaking() -> None:
    share = RequestShare()
    speak(share, until=2.0, late_s=0.01)
    assert share.wait_s(2.0) == 0.0
    share.spend(1.0)
    assert share.wait_s(2.0) > 0
    assert share.wait_s(3.0) == 0.0


def test_one_long_step_does_not_hold_up_the_next_for_long() -> None:
    share = RequestShare()
    speak(share, until=2.0, late_s=0.01)
    share.spend(10.0)
    assert share.wait_s(2.0) <= BURST_S / MIN_SHARE


@pytest.mark.parametrize("senders", [1, 3])
def test_requests_that_wait_are_all_answered_in_turns(senders: int) -> None:
    """The loop is theirs again as soon as they have waited for what they took."""

    async def talk() -> tuple[float, list[str]]:
        loop, share, answered = asyncio.get_running_loop(), RequestShare(), []
        turns = LoopTurns(share)
        speak(share, since=loop.time() - 2.0, until=loop.time(), late_s=0.01)
        began = loop.time()

        async def answer(sender: str) -> None:
            for _ in range(3):
                share.spend(BURST_S)
                await asyncio.sleep(0)
            answered.append(sender)

        names = [f"sender {number}" for number in range(senders)]
        await asyncio.gather(*(TurnTaking(answer(name), turns, name) for name in names))
        return loop.time() - began, answered

    took_s, answered = run_on_virtual_time(talk(), limit_s=60)
    assert len(answered) == senders
    assert took_s > 0.1
