"""Warm transfers whose answer comes as a callback: the semantics of section 6, and the waiting in whichever process."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import pytest
from httpx2 import Response

from offhook.bootstrap import build_root, stop_domains
from offhook.kit.crypto import Keyring
from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs.live.call_tools import CallHandover, TransferRefused
from offhook.settings import Settings
from offhook.telephony.ports import CarrierFailed, CarrierRegistry, TransferOrder
from offhook.voice.ports import HandoverFailed
from tests.fakes.carrier import FakeCarrier
from tests.telephony.fakecom import Account

SALES = "+12015550177"


@dataclass
class Transfer:
    """One that rings: ``waiting`` is the agent's tool call."""

    account: Account
    order: TransferOrder
    waiting: "asyncio.Task[CallHandover]"

    async def send_report(self, kind: str, **more: str) -> Response:
        path = f"/transfer-result/{self.order.transfer_id}"
        return await self.account.says(path, {"kind": kind, "destination_id": "DEST", **more})


class Desk:
    def __init__(self, account: Account, root: Root) -> None:
        self.account = account
        transfers = root.get(RunServices).agents.tools.transfers
        assert transfers is not None
        self.desk = transfers

    async def ring(self, *, timeout_s: float = 30) -> Transfer:
        run_id = await self.account.dial()
        self.account.carrier.asked.clear()
        waiting = asyncio.ensure_future(self.desk.ring_destination(self.account.org.id, run_id, SALES, timeout_s))
        while not (started := self.account.carrier.asked_for("start")):
            await self.account.carrier.asked.wait()
            self.account.carrier.asked.clear()
        return Transfer(self.account, started[-1]["order"], waiting)


@pytest.fixture
def desk(account: Account, root: Root) -> Desk:
    return Desk(account, root)


async def test_answered_seated_and_joined(desk: Desk) -> None:
    transfer = await desk.ring()
    order, carrier = transfer.order, desk.account.carrier
    assert (order.to_number, order.from_number, order.call_id) == (SALES, "+12015550150", "FC1")
    assert order.result_url == f"http://testserver/api/v1/telephony/transfer-result/{order.transfer_id}"
    room = await desk.account.says(f"/transfer-answer/{order.transfer_id}", {})
    assert room.json() == {"room": order.transfer_id}
    assert (await transfer.send_report("answered")).json() == {"status": "ok"}
    assert (await transfer.send_report("answered")).json() == {"status": "duplicate"}
    handover = await transfer.waiting
    assert [one["leg"].destination_id for one in carrier.asked_for("seat")] == [f"DEST-{order.transfer_id[:6]}"]
    assert carrier.asked_for("join") == []
    await handover.connect_caller()
    (joined,) = carrier.asked_for("join")
    assert joined["leg"].conference_id == f"CONF-DEST-{order.transfer_id[:6]}"
    # section 6: a hang-up after the answer ends the caller's leg, so that no empty bridge is left
    assert (await transfer.send_report("ended")).json() == {"status": "ok"}
    assert carrier.hung_up == ["FC1"]
    assert (await transfer.send_report("ended")).json() == {"status": "duplicate"}
    assert carrier.hung_up == ["FC1"]


@pytest.mark.parametrize(("kind", "reason"), [("failed", "busy"), ("failed", "no_answer"), ("ended", "call_failed")])
async def test_not_answered(desk: Desk, kind: str, reason: str) -> None:
    transfer = await desk.ring()
    more = {"reason": reason} if kind == "failed" else {}
    assert (await transfer.send_report(kind, **more)).json() == {"status": "ok"}
    with pytest.raises(TransferRefused) as refused:
        await transfer.waiting
    assert refused.value.reason == reason
    late = await transfer.send_report("answered")
    assert late.json() == {"status": "ignored"}
    assert desk.account.carrier.asked_for("seat") == []
    assert "FC1" not in desk.account.carrier.hung_up, "the caller stays with the agent"


async def test_a_destination_that_hangs_up_before_the_caller_comes(desk: Desk) -> None:
    transfer = await desk.ring()
    await transfer.send_report("answered")
    handover = await transfer.waiting
    await transfer.send_report("ended")
    assert desk.account.carrier.hung_up == ["FC1"]
    with pytest.raises(HandoverFailed):
        await handover.connect_caller()
    assert desk.account.carrier.asked_for("join") == []


async def test_a_caller_who_hangs_up_while_it_rings(desk: Desk) -> None:
    transfer = await desk.ring()
    transfer.waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await transfer.waiting
    leg = f"DEST-{transfer.order.transfer_id[:6]}"
    assert desk.account.carrier.hung_up == [leg]
    assert (await transfer.send_report("answered")).json() == {"status": "ignored"}
    assert desk.account.carrier.hung_up == [leg, leg], "nobody would ever join it"


async def test_the_room_that_the_carrier_does_not_make(desk: Desk) -> None:
    desk.account.carrier.refuses["seat"] = CarrierFailed("conference", "No room.", retryable=False)
    transfer = await desk.ring()
    assert (await transfer.send_report("answered")).json() == {"status": "ok"}
    with pytest.raises(TransferRefused) as refused:
        await transfer.waiting
    assert refused.value.reason == "call_failed"


async def test_a_carrier_that_refuses_to_ring(desk: Desk) -> None:
    desk.account.carrier.refuses["start"] = CarrierFailed("busy", "Busy.", retryable=False)
    transfer = await desk.ring()
    with pytest.raises(TransferRefused) as refused:
        await transfer.waiting
    assert refused.value.reason == "busy"


async def test_what_a_stranger_says_of_a_transfer(desk: Desk) -> None:
    transfer = await desk.ring()
    path = f"/transfer-result/{transfer.order.transfer_id}"
    assert (await desk.account.says(path, {"kind": "answered"}, token="wrong")).status_code == 401
    assert (await desk.account.says("/transfer-result/" + "0" * 32, {"kind": "answered"})).status_code == 404
    assert (await desk.account.says(path, {"kind": "nothing"})).json() == {"status": "ignored"}
    assert not transfer.waiting.done()
    transfer.waiting.cancel()
    await asyncio.gather(transfer.waiting, return_exceptions=True)


class TestInAnotherProcess:
    @pytest.fixture
    async def other(self, settings: Settings, database_url: str, fakecom: FakeCarrier) -> AsyncIterator[Root]:
        built = build_root(settings, database_url)
        built.get(CarrierRegistry).add(fakecom.spec())
        yield built
        await stop_domains(built)
        await built.db.dispose()

    async def test_the_callback_wakes_the_one_that_waits(self, account: Account, other: Root) -> None:
        transfer = await Desk(account, other).ring()
        await transfer.send_report("answered")
        handover = await asyncio.wait_for(transfer.waiting, 60)
        await handover.release_destination()
        assert account.carrier.hung_up == [f"DEST-{transfer.order.transfer_id[:6]}"]


async def test_blind(account: Account, root: Root) -> None:
    run_id = await account.dial()
    handover = await Desk(account, root).desk.ring_destination(account.org.id, run_id, SALES, 30, is_blind=True)
    assert account.carrier.asked_for("start") == []
    await handover.connect_caller()
    (redirected,) = account.carrier.asked_for("redirect")
    url = redirected.pop("forward_url").removeprefix("http://testserver/api/v1")
    assert redirected == {"call_id": "FC1", "to_number": SALES, "from_number": "+12015550150"}
    assert (await account.client.post(url)).json() == {"dial": SALES, "caller": "+12015550150"}
    assert (await account.client.post(url[:-1])).status_code == 401


@pytest.mark.parametrize(("purpose", "payload"), [("run", "7:recording"), ("campaign-download", "campaigns/1/a.csv")])
async def test_a_link_of_another_purpose_forwards_nobody(
    account: Account, root: Root, purpose: str, payload: str
) -> None:
    token = root.get(Keyring).sign_link(purpose, payload, int(root.clock.now().timestamp()) + 60)
    for answer in (
        await account.client.post(f"/telephony/forward/sandbox/{token}"),
        await account.client.get(f"/telephony/forward/twilio/{token}"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (401, "link_refused")
