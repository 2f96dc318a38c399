"""Each carrier's client against the carrier's emulator: whole calls, transfers and numbers, on virtual time.

The two were written by different people from the same facts; where they disagree, one has read them wrongly.
"""

import asyncio
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from offhook.runs.states import LIVE_STATES
from offhook.telephony.carriers import build_remote_carriers
from offhook.telephony.ports import (
    CarrierAccount,
    CarrierFailed,
    DigitPressed,
    InboundCall,
    LookupResult,
    LostCallQuery,
    MachineVerdict,
    MarkReached,
    MediaStarted,
    StatusUpdate,
    TransferLeg,
    TransferOrder,
)
from offhook_lab.carriers import (
    CloudonixEmulator,
    TelnyxEmulator,
    phones,
)
from offhook_lab.carriers.core.chaos import RestFault
from tests.telephony.emulator_desk import AGENT, EACH, EMULATORS, OURS, THEIRS, Desk, connecting, run


def statuses(reports: list[Any]) -> list[str]:
    return [one.status for one in reports if isinstance(one, StatusUpdate)]


@EACH
def test_an_outbound_call_until_we_hang_up(name: str) -> None:
    async def test(desk: Desk) -> None:
        async def person(phone: phones.EmulatedPhone) -> None:
            await phone.wait_for_speech_end()
            await phone.press_keys("5")
            await phone.say_text("Yes, please.")

        desk.carrier.phones[THEIRS] = phones.scripted(person)
        call = await desk.dial()
        while not any(isinstance(event, MarkReached) for event in desk.heard) or len(desk.audio) < 8000:
            await asyncio.sleep(0.1)
        await asyncio.sleep(2.0)
        await desk.spec.calls.dialer.hang_up(desk.account, call.id)
        await desk.carrier.wait_settled()
        await desk.spec.calls.dialer.hang_up(desk.account, call.id)  # over already: no error

        assert call.errors == []
        assert call.stream is not None
        assert call.stream.problems == []
        started = next(event for event in desk.heard if isinstance(event, MediaStarted))
        # Vonage's socket knows what the document made it say, and this document was written before there was a call.
        assert started.call_id == ("x" if name == "vonage" else call.id)
        assert MarkReached("s1") in desk.heard
        if name != "vobiz":  # whose table of events has no keys
            assert DigitPressed("5") in desk.heard
        assert 0.8 < call.phone.heard_speech_s < 1.2
        found = statuses(desk.reports(call))
        assert found[-1] == "completed"

    run(name, test)


@EACH
@pytest.mark.parametrize(
    ("plan", "status"),
    [(phones.busy(), "busy"), (phones.no_answer(3.0), "no_answer"), (phones.unreachable(), "failed")],
    ids=["busy", "no_answer", "unreachable"],
)
def test_a_call_that_nobody_takes(name: str, plan: Any, status: str) -> None:
    async def test(desk: Desk) -> None:
        desk.carrier.phones[THEIRS] = plan
        call = await desk.dial()
        await desk.carrier.wait_settled()

        assert statuses(desk.reports(call))[-1] == status

    run(name, test)


@pytest.mark.parametrize("name", sorted(set(EMULATORS) - {"cloudonix"}))
def test_a_machine_answers(name: str) -> None:
    async def test(desk: Desk) -> None:
        desk.carrier.phones[THEIRS] = phones.voicemail(1.0, records_s=6.0)
        call = await desk.dial(has_machine_detection=True)
        await desk.carrier.wait_settled()

        verdicts = [one for one in desk.reports(call) if isinstance(one, MachineVerdict)]
        answered = [sent for sent in desk.carrier.callbacks_of("answer") if sent.url == desk.links.answer_url]
        for sent in answered:
            told = desk.spec.webhooks.statuses.parse_status("answer", desk.webhook(sent))
            verdicts += [told] if isinstance(told, MachineVerdict) else []
        assert verdicts
        assert all(verdict.is_machine for verdict in verdicts)
        assert verdicts[-1].may_speak

    run(name, test)


@EACH
def test_an_inbound_call(name: str) -> None:
    async def test(desk: Desk) -> None:
        desk.carrier.point_at(f"{desk.us.base_url}/inbound/run")
        desk.serve("/inbound/run", await connecting(desk))
        call = desk.carrier.call_in(THEIRS, OURS, phones.scripted(_caller))
        inbound = await _asked(desk)
        if name == "telnyx":
            await desk.spec.webhooks.answerer.answer_call(desk.account, inbound.call_id, desk.links)
        await desk.carrier.wait_settled()

        assert (inbound.call_id, inbound.from_number, inbound.to_number) == (call.id, THEIRS, OURS)
        assert call.errors == []
        assert call.phone.heard_speech_s > 0.8
        assert call.ended_by == "caller"
        assert any(isinstance(event, MediaStarted) for event in desk.heard)

    run(name, test)


async def _caller(phone: phones.EmulatedPhone) -> None:
    await phone.wait_for_speech_end()
    await phone.say_text("Hello.")
    phone.hang_up()


async def _asked(desk: Desk) -> InboundCall:
    """What the carrier asks at the inbound address, proven and recognized by its own parts and by nobody else's."""
    carriers = build_remote_carriers(desk.http)
    while True:
        for sent in desk.carrier.callbacks:
            webhook = desk.webhook(sent)
            assert desk.proof(sent) is not None, sent
            found = desk.spec.webhooks.inbound.parse_inbound(webhook)
            if found is None:
                continue
            assert isinstance(found, InboundCall)
            recognizing = [
                other
                for other in carriers.names
                if (spec := carriers.find(other)) is not None
                and spec.webhooks.inbound is not None
                and spec.webhooks.inbound.is_from_carrier(webhook)
            ]
            assert recognizing == [desk.carrier.name]
            reference = desk.spec.webhooks.inbound.account_reference(webhook)
            config = desk.spec.account.config
            assert reference is not None
            assert config.canonical_account(reference) == config.canonical_account(
                desk.account.config[config.account_field]
            )
            return found
        await asyncio.sleep(0.05)


@EACH
def test_a_refusal_is_spoken(name: str) -> None:
    async def test(desk: Desk) -> None:
        desk.carrier.point_at(f"{desk.us.base_url}/inbound/run")
        if name != "telnyx":
            desk.serve(
                "/inbound/run",
                await desk.spec.webhooks.answerer.refuse_call(desk.account, "x", "We are closed & sorry."),
            )
        call = desk.carrier.call_in(THEIRS, OURS, phones.silent())
        inbound = await _asked(desk)
        if name == "telnyx":
            await desk.spec.webhooks.answerer.refuse_call(desk.account, inbound.call_id, "We are closed & sorry.")
            while not (spoken := desk.carrier.callbacks_of("event:call.speak.ended")):
                await asyncio.sleep(0.1)
            await desk.spec.webhooks.follow_up.follow_up(desk.account, desk.webhook(spoken[0]))
        await desk.carrier.wait_settled()

        assert call.spoken == ["We are closed & sorry."]
        assert call.streams == []

    run(name, test)


@EACH
def test_a_busy_call_stays_unanswered_where_the_carrier_can(name: str) -> None:
    async def test(desk: Desk) -> None:
        desk.carrier.point_at(f"{desk.us.base_url}/inbound/run")
        answerer = desk.spec.webhooks.answerer
        if name == "vonage":  # whose documents can only speak
            assert await answerer.reject_as_busy(desk.account, "x") is None
            return
        if name != "telnyx":
            desk.serve("/inbound/run", await answerer.reject_as_busy(desk.account, "x"))
        call = desk.carrier.call_in(THEIRS, OURS, phones.silent())
        inbound = await _asked(desk)
        if name == "telnyx":
            await answerer.reject_as_busy(desk.account, inbound.call_id)
        await desk.carrier.wait_settled()

        assert not call.answered.is_set()
        assert call.rejected in {"busy", "USER_BUSY"}
        assert (call.errors, call.spoken, call.streams) == ([], [], [])

    run(name, test)


@EACH
def test_a_blind_transfer(name: str) -> None:
    async def test(desk: Desk) -> None:
        desk.carrier.phones[THEIRS] = phones.silent()
        desk.carrier.phones[AGENT] = phones.hangs_up_after(2.0)
        call = await desk.dial()
        await call.answered.wait()
        await asyncio.sleep(2.0)
        forward = desk.spec.webhooks.answerer.forward_document(AGENT, OURS, 20)
        url = desk.serve("/forward", forward)
        await desk.spec.calls.blind_transfer.redirect_caller(desk.account, call.id, AGENT, OURS, 20, url)
        await asyncio.sleep(5.0)
        await desk.spec.calls.dialer.hang_up(desk.account, call.id)
        await desk.carrier.wait_settled()

        [other] = [leg for leg in desk.carrier.calls if leg is not call]
        assert (other.to_number, other.answered.is_set()) == (AGENT, True)
        assert call.errors == []

    run(name, test)


@EACH
def test_a_warm_transfer(name: str) -> None:
    async def test(desk: Desk) -> None:
        async def colleague(phone: phones.EmulatedPhone) -> None:
            await phone.wait_seconds(3.0)
            await phone.say_text("Hello, what can I do for you today?")
            phone.hang_up()

        desk.carrier.phones[THEIRS] = phones.silent()
        desk.carrier.phones[AGENT] = phones.scripted(colleague)
        call = await desk.dial()
        await call.answered.wait()
        await asyncio.sleep(2.0)
        legs = desk.spec.calls.transfer_legs
        room = desk.serve("/room", desk.spec.webhooks.answerer.conference_document("t1"))
        order = TransferOrder("t1", call.id, AGENT, OURS, 20, f"{desk.us.base_url}/transfer-result/t1", room)
        destination_id = await legs.start_leg(desk.account, order)
        destination = desk.carrier.find_call(destination_id)
        assert destination is not None
        await destination.answered.wait()
        await asyncio.sleep(0.5)
        leg = TransferLeg("t1", call.id, destination_id, answer_url=room)
        conference_id = await legs.seat_destination(desk.account, leg)
        heard_before = call.phone.heard_speech_s
        await legs.join_caller(desk.account, TransferLeg("t1", call.id, destination_id, conference_id, room))
        await destination.ended.wait()
        if name == "telnyx":  # whose caller stays in the conference until the platform hears that it is empty
            await desk.spec.calls.dialer.hang_up(desk.account, call.id)
        await desk.carrier.wait_settled()

        kinds = []
        for sent in desk.carrier.callbacks:
            if "/transfer-result/t1" in sent.url or sent.url == room:
                report = desk.spec.webhooks.statuses.parse_transfer(desk.webhook(sent))
                if report is not None and report.destination_id == destination_id:
                    kinds.append(report.kind)
        assert kinds[0] == "answered"
        assert kinds[-1] == "ended"
        assert call.errors == []
        assert destination.errors == []
        assert call.phone.heard_speech_s > heard_before + 1.0

    run(name, test)


@pytest.mark.parametrize("name", sorted(set(EMULATORS) - {"cloudonix"}))
def test_numbers_from_search_to_release(name: str) -> None:
    async def test(desk: Desk) -> None:
        catalog, mine = desk.spec.numbers.catalog, desk.account
        country = "IN" if name == "vobiz" else "US"
        offered = await catalog.search_numbers(mine, country, None, None, 5)
        assert offered
        number = offered[0].phone_number
        assert await catalog.find_owned(mine, number) is None
        carrier_id = await catalog.buy_number(mine, number, country)
        assert await catalog.find_owned(mine, number) is not None
        with pytest.raises(CarrierFailed) as refused:  # it is sold
            await catalog.buy_number(mine, number, country)
        assert (refused.value.retryable, refused.value.is_fate_unknown) == (False, False)
        await desk.spec.numbers.routing.route_number(mine, number, f"{desk.us.base_url}/api/v1/telephony/inbound/run")
        await catalog.release_number(mine, number, carrier_id)
        await catalog.release_number(mine, number, carrier_id)
        if name != "vobiz":  # where it takes a day
            assert await catalog.find_owned(mine, number) is None
        if desk.spec.numbers.lookup is not None:
            assert isinstance(await desk.spec.numbers.lookup.look_up(mine, THEIRS), LookupResult)

    run(name, test)


@pytest.mark.parametrize("name", ["plivo", "telnyx", "twilio", "vobiz", "vonage"])
def test_a_call_whose_dial_lost_its_answer_is_found(name: str) -> None:
    async def test(desk: Desk) -> None:
        desk.carrier.phones[THEIRS] = phones.hangs_up_after(2.0)
        sought = LostCallQuery(7, THEIRS, OURS, desk.carrier.clock.now())
        finder = desk.spec.calls.finder
        if name == "telnyx":  # which lists live calls only
            with pytest.raises(CarrierFailed, match="Telnyx does not have this call"):
                await finder.find_calls(desk.account, sought)
        else:
            assert await finder.find_calls(desk.account, sought) == []
        desk.carrier.chaos.rest.append(RestFault("acts_then_silent", "POST *[Cc]all*"))
        with pytest.raises(CarrierFailed) as failed:
            await desk.dial()
        assert failed.value.is_fate_unknown
        (call,) = desk.carrier.calls
        (found,) = await finder.find_calls(desk.account, sought)
        assert (found.call_id, found.status in LIVE_STATES) == (call.id, True)
        later = replace(sought, dialed_at=sought.dialed_at + timedelta(hours=1), run_id=8)
        await desk.carrier.wait_settled()
        if name != "telnyx":
            (found,) = await finder.find_calls(desk.account, sought)
            assert (found.call_id, found.status) == (call.id, "completed")
            assert await finder.find_calls(desk.account, later) == []

    run(name, test)


@pytest.mark.parametrize(("name", "bill"), [("twilio", ("0.00850", "USD")), ("vobiz", ("0.5", "INR"))])
def test_what_a_call_cost_is_told_to_whoever_asks(name: str, bill: tuple[str, str]) -> None:
    async def test(desk: Desk) -> None:
        desk.carrier.phones[THEIRS] = phones.hangs_up_after(2.0)
        call = await desk.dial()
        assert (await desk.spec.calls.bills.read_bill(desk.account, call.id)).cost is None, "it is not rated yet"
        await desk.carrier.wait_settled()
        assert call.ended_at is not None
        call.ended_at -= timedelta(seconds=5)  # its rating is a matter of the wall's clock
        found = await desk.spec.calls.bills.read_bill(desk.account, call.id)
        assert (found.duration_s, str(found.cost), found.currency) == (call.duration_s, *bill)

    run(name, test)


@pytest.mark.parametrize("name", sorted(set(EMULATORS) - {"twilio"}))
def test_what_a_call_cost_is_said_at_its_end(name: str) -> None:
    async def test(desk: Desk) -> None:
        if isinstance(desk.carrier, TelnyxEmulator):
            next(iter(desk.carrier.applications.values()))["call_cost_in_webhooks"] = True
        if isinstance(desk.carrier, CloudonixEmulator):
            desk.carrier.domain_settings["cdr"] = f"{desk.us.base_url}/cloudonix/cdr"
        desk.carrier.phones[THEIRS] = phones.hangs_up_after(2.0)
        call = await desk.dial()
        await desk.carrier.wait_settled()
        bills = [bill for one in desk.reports(call) if (bill := getattr(one, "bill", None)) is not None]
        records = [sent for sent in desk.carrier.callbacks if sent.url.endswith("/cdr")]
        bills += [desk.spec.webhooks.statuses.parse_status("cdr", desk.webhook(sent)).bill for sent in records]
        currency = {"vobiz": "INR", "vonage": "EUR"}.get(name, "USD")
        assert {bill.currency for bill in bills} == {currency}
        assert (bills[-1].cost is None) == (name == "cloudonix"), "whose records have no price"
        if name != "telnyx":  # whose event has the seconds that are charged
            assert bills[-1].duration_s == call.duration_s

    run(name, test)


@EACH
def test_right_and_wrong_credentials(name: str) -> None:
    async def test(desk: Desk) -> None:
        await desk.spec.account.check.check_account(desk.account, f"{desk.us.base_url}/inbound/run")
        secret = {"telnyx": "api_key", "vonage": "api_secret", "cloudonix": "bearer_token"}.get(name, "auth_token")
        wrong = CarrierAccount(1, name, 5, {**desk.account.config, secret: "wrong"})
        with pytest.raises(CarrierFailed) as failed:
            await desk.spec.account.check.check_account(wrong, f"{desk.us.base_url}/inbound/run")
        assert (failed.value.code, failed.value.retryable) == ("unauthorized", False)

    run(name, test)
