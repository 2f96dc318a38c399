"""Carriers that misbehave: each call still ends once, in the right state, and no phone rings twice."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import Any

import pytest

from offhook.runs import RunServices
from offhook.runs.queries import count_live_calls
from offhook_lab.carriers import CallbackFault, CarrierEmulator, RestFault, SocketFault, phones
from tests.calls.carrier_desk import prepare
from tests.calls.desks import Desk, each
from tests.calls.test_carriers import desks, root
from tests.fakes.clock import ShiftedClock
from tests.telephony.emulator_desk import EMULATORS

__all__ = ["desks", "root"]

pytestmark = [pytest.mark.real_time, pytest.mark.timeout(300)]

# Carriers and the request that places a call.
DIALS = {"plivo": "POST */Call/", "telnyx": "POST */calls", "twilio": "POST */Calls.json"}
# All that is told of a call, but not what is asked for: documents of answers.
REPORTS = "[!a]*"
LIVE = {"initiated", "ringing", "in_progress"}


async def _hears_the_agent(phone: phones.EmulatedPhone) -> None:
    """And hangs up, so that how the call ends is known by its media, too."""
    await phone.wait_for_speech()
    phone.hang_up()


async def _hangs_up_in_time(phone: phones.EmulatedPhone) -> None:
    """Where the carrier connects a call whose media was cut again, it goes on until the caller has had enough."""
    await phone.wait_seconds(8)
    phone.hang_up()


@dataclass(frozen=True)
class Case:
    """``status``: of the request that dials; ``ends``: in which the run may end; ``placed``: calls at the carrier."""

    posts: Callable[[], Sequence[CallbackFault]] = tuple
    rest: str = ""
    is_cut: bool = False
    status: int = 200
    ends: frozenset[str] = frozenset({"completed"})
    placed: int = 1
    plan: phones.PhonePlan = field(default_factory=lambda: phones.scripted(_hears_the_agent))


FAILED = frozenset({"failed"})
# What is wrong with callbacks is wrong with those of every call, so that one call is made after the other.
ALONE = {
    "late": Case(lambda: [CallbackFault("late", REPORTS, times=99, seconds=0.7)]),
    # the first comes after the second
    "reordered, twice": Case(lambda: [CallbackFault("swapped", REPORTS), CallbackFault("twice", REPORTS, times=99)]),
    "lost": Case(lambda: [CallbackFault("lost", REPORTS, times=99)]),
    "forged": Case(lambda: [CallbackFault("forged", REPORTS, times=99)]),
    "cut": Case(is_cut=True, plan=phones.scripted(_hangs_up_in_time), ends=frozenset({"failed", "completed"})),
}
TOGETHER = {
    "429": Case(rest="rate_limited", status=502, ends=FAILED, placed=0),
    "500": Case(rest="server_error", ends=FAILED, placed=0),
    "500 after it acted": Case(rest="acts_then_fails"),
    "no answer after it acted": Case(rest="acts_then_silent"),
    "media before the answer": Case(rest="acts_slowly"),
}


@pytest.fixture
async def carriers() -> AsyncIterator[list[CarrierEmulator]]:
    async with AsyncExitStack() as stack:
        running = [await stack.enter_async_context(EMULATORS[name]().running()) for name in DIALS]
        for carrier in running:
            prepare(carrier)
        yield running


async def dial(desk: Desk, case: Case, number: str) -> None:
    carrier = desk.carrier
    carrier.phones[number] = case.plan
    carrier.chaos.callbacks[:] = case.posts()
    carrier.chaos.sockets[:] = [SocketFault(0.3)] if case.is_cut else []
    if case.rest:
        carrier.chaos.rest[:] = [RestFault(case.rest, DIALS[carrier.name], seconds=1.5)]  # type: ignore[arg-type]
    body = {
        "workflow_id": desk.server.workflow_id,
        "phone_number": number,
        "telephony_configuration_id": desk.configuration_id,
    }
    answer = await desk.server.http.post("/telephony/initiate-call", json=body)
    assert answer.status_code == case.status, answer.text
    assert [fault for fault in carrier.chaos.rest if fault.times] == []


async def run_of(desk: Desk, number: str) -> dict[str, Any]:
    found = await desk.server.http.get(f"/workflow/{desk.server.workflow_id}/runs?limit=100")
    (run,) = [run for run in found.json()["runs"] if run["phone_number"] == number]
    return dict(run)


async def is_over(desk: Desk, case: Case, number: str) -> None:
    carrier = desk.carrier
    async with asyncio.timeout(60):
        while (await run_of(desk, number))["status"] in LIVE and case.placed:
            await asyncio.sleep(0.2)
        calls = [call for call in carrier.calls if call.to_number == number]
        for call in calls:  # none is left ringing or talking to nobody
            await call.ended.wait()
    assert len(calls) == case.placed
    await carrier.wait_settled(60)
    of_calls = [sent for sent in carrier.callbacks if sent.call_id in {call.id for call in calls}]
    refused = [(sent.kind, sent.status, sent.answer or sent.error) for sent in of_calls if sent.status != 200]
    assert [one for one in refused if one[1] != 401] == []
    assert len(refused) == len([sent for sent in of_calls if sent.forgery])
    troubles = {fault.what for fault in case.posts()}
    assert (bool(refused), any(sent.call_id == call.id for call in calls for sent in carrier.callback_sender.lost)) == (
        "forged" in troubles,
        "lost" in troubles,
    )
    assert [fault for fault in carrier.chaos.sockets if fault.times] == []


async def of_each(cases: dict[str, Case], test: Callable[[str, Case], Awaitable[None]]) -> None:
    """All of them; what fails says which."""
    found = await asyncio.gather(*(test(name, case) for name, case in cases.items()), return_exceptions=True)
    failed = {name: error for name, error in zip(cases, found, strict=True) if error is not None}
    assert not failed, "; ".join(f"{name}: {error!r}" for name, error in failed.items())


@pytest.mark.slow
async def test_every_fault(desks: list[Desk], shifted_clock: ShiftedClock) -> None:
    server = desks[0].server
    cases = ALONE | TOGETHER

    def number(desk: Desk, name: str) -> str:
        return f"+1212555{20 + desks.index(desk)}{list(cases).index(name):02}"

    async def misbehaves(desk: Desk) -> None:
        for name, case in ALONE.items():
            try:
                await dial(desk, case, number(desk, name))
                await is_over(desk, case, number(desk, name))
            except Exception as error:
                raise AssertionError(name) from error
        for name, case in TOGETHER.items():
            await dial(desk, case, number(desk, name))
        await of_each(TOGETHER, lambda name, case: is_over(desk, case, number(desk, name)))

    await each(desks, misbehaves)
    # of a dial that was not answered, and that nobody ever heard of again
    shifted_clock.advance(minutes=6)
    await server.root.get(RunServices).sweeper.sweep()

    async def ended_well(desk: Desk) -> None:
        async def test(name: str, case: Case) -> None:
            run = await run_of(desk, number(desk, name))
            run = await desk.server.run(run["id"])
            events = [(event["type"], event["data"]) for event in run["events"]]
            assert run["status"] in case.ends, (run["end_reason"], run["call_id"], events)

        await of_each(cases, test)

    await each(desks, ended_well)
    async with server.root.db.transaction() as session:
        assert await count_live_calls(session, server.org.id) == 0
