"""What each carrier is asked over REST, as its emulator has seen it: which requests, in which order, and what was in them.

What is not in a carrier's table is not asked over REST there: its documents say it, or its media socket (keys, marks, clears).
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from offhook.telephony.ports import TransferLeg, TransferOrder
from offhook_lab.carriers import phones
from offhook_lab.carriers.core.rest import RestRequest
from tests.telephony.emulator_desk import AGENT, EACH, OURS, THEIRS, Desk, connecting, run
from tests.telephony.rest_tables import INBOUND, TABLES


def fields(request: RestRequest) -> dict[str, Any]:
    """Of the query, the form and the JSON; what has one value is that."""
    listed = {**request.query, **({} if request.json else request.form)}
    return {name: found[0] if len(found) == 1 else found for name, found in listed.items()} | request.json


def filled(wanted: Any, facts: dict[str, str]) -> Any:
    if isinstance(wanted, str):
        return wanted.format_map(facts)
    if isinstance(wanted, dict):
        return {key: filled(value, facts) for key, value in wanted.items()}
    return [filled(one, facts) for one in wanted] if isinstance(wanted, list) else wanted


def among(wanted: Any, found: Any) -> bool:
    """Whether everything that is wanted is there; a list has nothing else."""
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(
            key in found and among(value, found[key]) for key, value in wanted.items()
        )
    if isinstance(wanted, list):
        return isinstance(found, list) and len(found) == len(wanted) and all(map(among, wanted, found))
    return bool(wanted == found)


class Asking:
    """``facts`` fill the table's holes."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk
        self.table = TABLES[desk.carrier.name]
        self.asked: set[str] = set()
        self.facts = {
            **{name: str(value) for name, value in desk.account.config.items()},
            "answer": desk.links.answer_url,
            "callbacks": desk.links.callbacks,
            "media": desk.links.media_url,
        }

    @contextmanager
    def to(self, what: str, **known_before: str) -> Iterator[dict[str, str]]:
        """What is asked in this block is what the table has of it, and the carrier took it; whatever is learnt in the
        block is put into the answer."""
        before = len(self.desk.carrier.requests)
        self.facts |= known_before
        yield self.facts
        requests = self.desk.carrier.requests[before:]
        wanted = filled([list(one) for one in self.table.get(what, [])], self.facts)
        self.asked.add(what)
        got = [(request.method, request.path, fields(request)) for request in requests]
        assert len(got) == len(wanted), (what, got)
        for (method, end, needed), (is_method, path, has) in zip(wanted, got, strict=True):
            assert (method, path[-len(end) :]) == (is_method, end), what
            assert among(needed, has), (what, needed, has)
        assert all(request.status is not None and request.status < 300 for request in requests), what


@EACH
def test_what_a_carrier_is_asked(name: str) -> None:
    async def test(desk: Desk) -> None:
        asking = Asking(desk)
        await _calls(desk, asking)
        await _transfer(desk, asking)
        await _calls_in(desk, asking)
        await _numbers(desk, asking)
        assert asking.table.keys() <= asking.asked

    run(name, test)


async def _calls(desk: Desk, asking: Asking) -> None:
    desk.carrier.phones[THEIRS] = phones.scripted(lambda phone: phone.press_keys("5"))
    desk.carrier.phones[AGENT] = phones.silent()
    with asking.to("place"):
        call = await desk.dial(has_machine_detection=desk.carrier.name != "cloudonix")
    await call.answered.wait()
    with asking.to("talk, and hear keys"):
        await asyncio.sleep(2.0)
    url = desk.serve("/forward", desk.spec.webhooks.answerer.forward_document(AGENT, OURS, 20))
    with asking.to("blind", call=call.id, forward=url):
        await desk.spec.calls.blind_transfer.redirect_caller(desk.account, call.id, AGENT, OURS, 20, url)
        await asyncio.sleep(2.0)
    with asking.to("hang up"):
        await desk.spec.calls.dialer.hang_up(desk.account, call.id)
        await desk.carrier.wait_settled()


async def _transfer(desk: Desk, asking: Asking) -> None:
    desk.carrier.phones[THEIRS] = phones.silent()
    legs, room = (
        desk.spec.calls.transfer_legs,
        desk.serve("/room", desk.spec.webhooks.answerer.conference_document("t1")),
    )
    call = await desk.dial()
    await call.answered.wait()
    result = f"{desk.us.base_url}/transfer-result/t1"
    with asking.to("ring", call=call.id, room=room, result=result) as facts:
        order = TransferOrder("t1", call.id, AGENT, OURS, 20, result, room)
        facts["other"] = await legs.start_leg(desk.account, order)
        other = desk.carrier.find_call(facts["other"])
        assert other is not None
        await other.answered.wait()
        await asyncio.sleep(0.5)
    with asking.to("seat"):
        conference = await legs.seat_destination(desk.account, TransferLeg("t1", call.id, other.id, answer_url=room))
    with asking.to("join", conference=conference or ""):
        await legs.join_caller(desk.account, TransferLeg("t1", call.id, other.id, conference, room))
        await asyncio.sleep(0.5)
    call.phone.hang_up()
    other.phone.hang_up()
    await desk.carrier.wait_settled()


async def _calls_in(desk: Desk, asking: Asking) -> None:
    """Which everybody but Telnyx answers with a document."""
    desk.carrier.point_at(f"{desk.us.base_url}/inbound/run")
    is_told = desk.carrier.name == "telnyx"
    desk.serve("/inbound/run", await connecting(desk))
    with asking.to("answer") as facts:
        call = desk.carrier.call_in(THEIRS, OURS, phones.hangs_up_after(2.0))
        facts["call"] = call.id
        await asyncio.sleep(0.5)
        if is_told:
            await desk.spec.webhooks.answerer.answer_call(desk.account, call.id, desk.links)
        await desk.carrier.wait_settled()
    assert call.answered.is_set()
    with asking.to("refuse") as facts:
        if not is_told:
            desk.serve(
                "/inbound/run",
                await desk.spec.webhooks.answerer.refuse_call(desk.account, "x", "We are closed & sorry."),
            )
        call = desk.carrier.call_in(THEIRS, OURS, phones.silent())
        facts["call"] = call.id
        await asyncio.sleep(0.5)
        if is_told:
            await desk.spec.webhooks.answerer.refuse_call(desk.account, call.id, "We are closed & sorry.")
            while not (spoken := desk.carrier.callbacks_of("event:call.speak.ended")):
                await asyncio.sleep(0.1)
            await desk.spec.webhooks.follow_up.follow_up(desk.account, desk.webhook(spoken[0]))
        await desk.carrier.wait_settled()
    assert call.spoken == ["We are closed & sorry."]


async def _numbers(desk: Desk, asking: Asking) -> None:
    catalog, mine = desk.spec.numbers.catalog, desk.account
    number = OURS
    if catalog is not None:
        country, area = ("IN", None) if desk.carrier.name == "vobiz" else ("US", "212")
        with asking.to("search"):
            number = (await catalog.search_numbers(mine, country, area, None, 5))[0].phone_number
        with asking.to("buy", number=number, digits=number[1:]):
            number_id = await catalog.buy_number(mine, number, country)
        number_id = await catalog.find_owned(mine, number)
    with asking.to("point", number_id=str(number_id) if catalog is not None else ""):
        await desk.spec.numbers.routing.route_number(mine, number, INBOUND)
    if catalog is not None:
        with asking.to("release"):
            await catalog.release_number(mine, number, number_id)
    if desk.spec.numbers.lookup is not None:
        with asking.to("look up"):
            await desk.spec.numbers.lookup.look_up(mine, THEIRS)
