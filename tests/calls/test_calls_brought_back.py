"""Each carrier that can brings back a call whose line to us broke, whatever repetitions and strangers say meanwhile."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import replace

import pytest

from offhook.runs import LiveCallRegistry
from offhook.voice import events
from offhook_lab.carriers import CarrierEmulator, EmulatedCall, OutgoingCallback, phones
from tests.calls.carrier_desk import OURS, THEIRS, prepare
from tests.calls.desks import Desk, each
from tests.calls.test_carriers import desks, root
from tests.calls.test_resumed_calls import SORRY, agent_texts, cut_line, event_types
from tests.fakes.calls import wait_until_idle
from tests.telephony.emulator_desk import EMULATORS

__all__ = ["desks", "root"]

pytestmark = [pytest.mark.real_time, pytest.mark.timeout(120)]

# Twilio has tests of its own.
BRING_BACK = ("plivo", "telnyx", "vobiz", "vonage")


@pytest.fixture
async def carriers() -> AsyncIterator[list[CarrierEmulator]]:
    async with AsyncExitStack() as stack:
        running = [await stack.enter_async_context(EMULATORS[name]().running()) for name in BRING_BACK]
        for carrier in running:
            prepare(carrier)
        yield running


def question_of(desk: Desk, call: EmulatedCall) -> OutgoingCallback:
    """What the carrier asked when the line broke; Telnyx tells it, and gets a request."""
    kinds = ("answer", "event:disconnected", "event:streaming.stopped")
    return next(
        sent
        for sent in desk.carrier.callbacks
        if sent.call_id == call.id and sent.kind in kinds and ("/resume/" in sent.url or "/events/" in sent.url)
    )


async def ask_again(carrier: CarrierEmulator, question: OutgoingCallback) -> OutgoingCallback:
    """The same question with a new signature of this carrier."""
    return await carrier.callback_sender.send_again(question, headers=dict(carrier.sign_callback(question)))


async def break_and_go_on(desk: Desk) -> OutgoingCallback:
    heard, again, goes_on = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def person(phone: phones.EmulatedPhone) -> None:
        await phone.wait_for_speech_end()
        heard.set()
        await phone.wait_for_speech()
        await phone.wait_for_speech_end()
        again.set()
        await goes_on.wait()
        phone.hang_up()

    call = desk.carrier.call_in(THEIRS, OURS, phones.scripted(person))
    async with asyncio.timeout(60):
        await heard.wait()
    cut_line(call)
    async with asyncio.timeout(60):
        await again.wait()
    question = question_of(desk, call)
    repeated = await ask_again(desk.carrier, question)
    assert (repeated.status, repeated.answer) == (200, question.answer), "its token is spent: the call goes on"
    goes_on.set()
    run = await desk.came(call)
    assert (run["status"], run["outcome"], run["end_reason"]) == ("completed", "answered", "caller_hung_up")
    assert agent_texts(run) == ["Hello, how can I help?", SORRY]
    assert event_types(run).count(events.CALL_RESUMED) == 1
    assert len(call.streams) == 2
    late = await ask_again(desk.carrier, question)
    assert late.status in (200, 204)
    assert b"/media/" not in late.answer, "a call that is over is not connected"
    await desk.carrier.wait_settled()
    assert call.errors == desk.refused() == []
    return question


async def test_calls_go_on_after_their_line_broke(desks: list[Desk]) -> None:
    live = desks[0].server.root.get(LiveCallRegistry)
    live.handovers.reconnect_timeout_s = 60.0
    questions: dict[str, OutgoingCallback] = {}

    async def test(desk: Desk) -> None:
        questions[desk.carrier.name] = await break_and_go_on(desk)

    await each(desks, test)
    await wait_until_idle(live)
    for desk, other in zip(desks, [*desks[1:], desks[0]], strict=True):
        question = questions[desk.carrier.name]
        assert (await ask_again(desk.carrier, replace(question, forgery="unsigned"))).status == 401
        assert (await ask_again(other.carrier, question)).status == 401, "signed by another carrier"
        nameless = replace(question, url=question.url.partition("?")[0])
        assert (await ask_again(desk.carrier, nameless)).status == 401, "without the run's secret"
