"""One sub-account of the platform's account for each organization, at every carrier that has them: made once, its own
keys, closed at the end."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.orgs import service as orgs
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.accounts.sub_account_statements import CLAIM_TIMEOUT
from offhook.telephony.accounts.sub_accounts import CLOSE_AFTER
from offhook_lab.carriers import OutgoingCallback
from offhook_lab.carriers.core.chaos import RestFault
from offhook_lab.carriers.core.phones import PhonePlan, hangs_up_after
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import make_account, sign_in
from tests.telephony.conftest import Agent, MakeAgent
from tests.telephony.sub_account_desk import Carrier, Desk
from tests.telephony.sub_account_wires import WIRES, about_another_run, is_about_a_run

THEIRS = "+12125550199"


@pytest.fixture(params=sorted(WIRES))
async def carrier(request: pytest.FixtureRequest) -> AsyncIterator[Carrier]:
    async with Carrier(WIRES[request.param]).running() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path, carrier: Carrier) -> Settings:
    return carrier.settings(tmp_path / "data")


@pytest.fixture
async def desk(root: Root, app: FastAPI, client: AsyncClient, carrier: Carrier) -> Desk:
    carrier.apps.append(app)
    await make_account(root, "boss@hq.example", organization_name="HQ")
    async with root.db.transaction() as session:
        await orgs.grant_superuser(session, "boss@hq.example")
    return Desk(root, client, carrier.emulator, carrier.wire, await sign_in(client, "boss@hq.example"))


class TestTheSwitch:
    async def test_is_the_operator_s(self, desk: Desk, client: AsyncClient, org: OrgFixture) -> None:
        for method, path in (("GET", ""), ("PATCH", ""), ("GET", "/sub-accounts")):
            refused = await client.request(method, f"/superuser/managed-carrier{path}", headers=org.owner_headers)
            assert (refused.status_code, refused.json()["code"]) == (403, "superuser_required")

    async def test_is_off_and_leaves_the_numbers_that_there_are(self, desk: Desk, org: OrgFixture) -> None:
        before = await desk.buy(org)
        assert desk.owner_of(before) == desk.carrier.account_reference
        shown = (await desk.client.get("/superuser/managed-carrier", headers=desk.boss)).json()
        assert shown == {
            "provider": desk.carrier.name,
            "account_reference": desk.service.parent_reference,
            "has_sub_accounts": True,
            "uses_sub_accounts": False,
        }
        assert (await desk.switch()).json()["uses_sub_accounts"] is True
        after = await desk.buy(org)
        assert [desk.owner_of(before), desk.owner_of(after)] == [
            desk.carrier.account_reference,
            next(iter(desk.carrier.sub_accounts)),
        ]
        await desk.switch(is_on=False)
        assert desk.owner_of(await desk.buy(org)) == desk.carrier.account_reference
        for bought in (before, after):
            await desk.release(org, bought)
        told = await desk.rows("SELECT data FROM audit_entries WHERE action = 'managed_carrier.updated' ORDER BY id")
        assert [row[0]["uses_sub_accounts"] for row in told] == [True, False]

    async def test_stays_off_where_the_account_is_a_sub_account(self, desk: Desk, carrier: Carrier) -> None:
        desk.carrier.is_sub_account = True
        refused = await desk.switch()
        assert (refused.status_code, refused.json()["code"]) == (409, "sub_accounts_refused")
        desk.carrier.chaos.rest.append(RestFault("server_error", "GET *"))
        unasked = await desk.switch()
        assert (unasked.status_code, unasked.json()["code"]) == (502, "carrier_check_failed")
        assert await desk.service.is_on() is False


class TestEachOrganization:
    @pytest.fixture(autouse=True)
    async def is_on(self, desk: Desk) -> None:
        assert (await desk.switch()).status_code == 200

    async def test_has_one_with_its_own_token(self, desk: Desk, org: OrgFixture, other_org: OrgFixture) -> None:
        bought = [await desk.buy(one) for one in (org, org, other_org)]
        ours, again, theirs = (desk.owner_of(one) for one in bought)
        assert ours == again != theirs
        assert desk.carrier.account_reference not in {ours, theirs}
        (account,) = await desk.accounts(org)
        sub_account = desk.carrier.sub_accounts[ours]
        token, known = sub_account.secret, desk.carrier.credentials_of(sub_account)
        assert token not in str(account)
        opened = await desk.opened(org, account["id"])
        assert {**opened.config, **known, "amd_enabled": True} == opened.config
        assert not set(opened.config.values()) & set(desk.carrier.credentials.values()), "nothing of the parent's"
        (stored,) = await desk.rows("SELECT secrets FROM telephony_configurations WHERE id = :id", id=account["id"])
        assert token.encode() not in stored[0]
        shown = await desk.listed()
        assert [(one["organization_id"], one["account_reference"], one["number_count"]) for one in shown] == [
            (other_org.id, theirs, 1),
            (org.id, ours, 2),
        ]
        assert token not in str(shown)
        assert await desk.audited(org) == ["carrier_sub_account.created"]

    async def test_gets_no_number_where_the_carrier_refuses(self, desk: Desk, org: OrgFixture) -> None:
        desk.carrier.refuses_sub_accounts = True
        refused = await desk.buy(org)
        assert (refused.status_code, refused.json()["code"]) == (502, "sub_account_not_created")
        assert desk.carrier.numbers == {}
        assert await desk.rows("SELECT state FROM number_purchases") == [("failed",)]
        assert "may not create" in (await desk.listed())[0]["error"]
        desk.carrier.refuses_sub_accounts = False
        assert desk.sub_account_of(await desk.buy(org)).status == "active"

    async def test_gets_one_from_two_purchases_at_once(self, desk: Desk, org: OrgFixture) -> None:
        desk.carrier.chaos.rest.append(RestFault("acts_slowly", desk.wire.creations, seconds=0.5))
        numbers = (await desk.for_sale(org))[:4]
        bought = await asyncio.gather(*(desk.buy(org, number=number) for number in numbers))
        assert [one.json().get("code") for one in bought] == [None] * 4
        assert len(desk.carrier.sub_accounts) == 1
        assert {desk.owner_of(one) for one in bought} == set(desk.carrier.sub_accounts)

    async def test_finds_the_one_whose_creation_got_no_answer(self, desk: Desk, org: OrgFixture) -> None:
        desk.carrier.chaos.rest.append(RestFault("acts_then_silent", desk.wire.creations))
        bought = await desk.buy(org)
        assert desk.owner_of(bought) == desk.wire.only_one(desk.carrier).reference

    async def test_finds_it_behind_more_than_a_page_of_others(self, desk: Desk, org: OrgFixture) -> None:
        """Plivo's page has twenty, the longest list that is read in parts."""
        assert desk.service.manager is not None
        parent = desk.root.get(CarrierAccounts).platform_account(org.id)
        for number in range(21):
            await desk.service.manager.create_sub_account(parent, f"other-{number}")
        others = set(desk.carrier.sub_accounts)
        desk.carrier.chaos.rest.append(RestFault("acts_then_silent", desk.wire.creations))
        bought = await desk.buy(org)
        kept = [one for name, one in desk.carrier.sub_accounts.items() if name not in others and one.status == "active"]
        assert [one.reference for one in kept] == [desk.owner_of(bought)]
        assert {desk.carrier.sub_accounts[name].status for name in others} == {"active"}

    async def test_waits_where_the_carrier_may_still_create_it(
        self, desk: Desk, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        desk.carrier.chaos.rest += [
            RestFault("acts_then_silent", desk.wire.creations),
            RestFault("rate_limited", desk.wire.lookups, times=2),
        ]
        # The first look finds nothing because it is refused; nothing is created then.
        assert (await desk.buy(org)).json()["code"] == "sub_account_not_created"
        desk.service.wait_s = 0.3
        desk.carrier.chaos.rest[:] = [
            RestFault("acts_then_silent", desk.wire.creations),
            RestFault("hangs", "GET nothing"),
        ]
        await desk.rows("UPDATE carrier_sub_accounts SET claimed_at = :now RETURNING id", now=desk.root.clock.now())
        assert (await desk.buy(org)).json()["code"] == "sub_account_pending"
        shifted_clock.advance(seconds=CLAIM_TIMEOUT.total_seconds() + 1)
        desk.service.wait_s = 30.0
        bought = await desk.buy(org)
        assert desk.owner_of(bought) == desk.wire.only_one(desk.carrier).reference

    @pytest.mark.parametrize("fault", ["server_error", "acts_then_silent"])
    async def test_finishes_the_one_whose_setup_failed(
        self,
        desk: Desk,
        org: OrgFixture,
        shifted_clock: ShiftedClock,
        fault: Literal["server_error", "acts_then_silent"],
    ) -> None:
        for request in desk.wire.setups:
            desk.carrier.chaos.rest.append(RestFault(fault, request, times=2))
            # One without an answer is looked for at once, so that it may be finished already.
            assert (await desk.buy(org)).json().get("code") in {None, "sub_account_not_created"}
            desk.carrier.chaos.rest.clear()
            shifted_clock.advance(seconds=CLAIM_TIMEOUT.total_seconds() + 1)
        assert (await desk.buy(org)).status_code == 200
        made = desk.wire.only_one(desk.carrier)
        (account,) = await desk.accounts(org)
        opened = await desk.opened(org, account["id"])
        assert opened.config == {**opened.config, **desk.carrier.credentials_of(made)}

    @pytest.mark.parametrize("fault", ["acts_slowly", "acts_then_silent"])
    async def test_keeps_one_when_a_slow_process_is_overtaken(
        self,
        desk: Desk,
        org: OrgFixture,
        shifted_clock: ShiftedClock,
        fault: Literal["acts_slowly", "acts_then_silent"],
    ) -> None:
        late, numbers = asyncio.Event(), await desk.for_sale(org)
        desk.carrier.chaos.rest.append(RestFault(fault, desk.wire.creations, until=late))
        slow = asyncio.create_task(desk.buy(org, number=numbers[0]))
        async with asyncio.timeout(30):
            while not desk.carrier.sub_accounts:
                await asyncio.sleep(0.02)
        shifted_clock.advance(seconds=CLAIM_TIMEOUT.total_seconds() + 1)
        quick = await desk.buy(org, number=numbers[1])
        late.set()
        assert [quick.status_code, (await slow).status_code] == [200, 200]
        only = desk.wire.only_one(desk.carrier).reference
        assert [desk.owner_of(quick), desk.owner_of(await slow)] == [only, only]
        assert [one["state"] for one in await desk.listed()] == ["active"]


class TestItsCalls:
    @pytest.fixture(autouse=True)
    async def is_on(self, desk: Desk) -> None:
        assert (await desk.switch()).status_code == 200

    async def held(self, desk: Desk, org: OrgFixture, agent: Agent) -> tuple[int, list[OutgoingCallback]]:
        """A call of the organization and what the carrier says of it, kept back."""
        desk.carrier.chaos.holds_callbacks = True
        desk.carrier.phones[THEIRS] = PhonePlan(script=hangs_up_after(0.2).script, verdict="human", verdict_s=0.0)
        (account,) = await desk.accounts(org)
        body = {"workflow_id": agent.id, "phone_number": THEIRS, "telephony_configuration_id": account["id"]}
        placed = await desk.client.post("/telephony/initiate-call", json=body, headers=org.owner_headers)
        assert placed.status_code == 200, placed.text
        await desk.carrier.wait_settled(60)
        held = [one for one in desk.carrier.held_callbacks if is_about_a_run(one)]
        assert held
        return int(placed.json()["workflow_run_id"]), held

    async def test_are_placed_and_proved_with_its_own_keys(
        self, desk: Desk, org: OrgFixture, other_org: OrgFixture, agent: Agent
    ) -> None:
        ours, theirs = [desk.owner_of(await desk.buy(one)) for one in (org, other_org)]
        run_id, held = await self.held(desk, org, agent)
        (dialed,) = desk.carrier.sent_to(*desk.wire.dials)
        assert desk.carrier.account_asking(dialed) == ours
        before = await desk.rows("SELECT id, status, call_id FROM runs")
        for one in held:
            for signer in (desk.carrier.account_reference, theirs):
                refused = await desk.send(one, dict(desk.carrier.sign_as(ours, one, signer)))
                assert (refused.status_code, refused.json()["code"]) == (401, "webhook_refused")
            assert (await desk.send(one, {})).status_code == 401
        assert await desk.rows("SELECT id, status, call_id FROM runs") == before
        for one in held:
            taken = await desk.send(one, dict(desk.carrier.sign_callback(one)))
            assert taken.status_code == 200, taken.text
        assert await desk.rows("SELECT status FROM runs WHERE id = :id", id=run_id) == [("completed",)]

    async def test_are_not_touched_by_another_sub_account_s_events(
        self, desk: Desk, org: OrgFixture, other_org: OrgFixture, agent: Agent, make_agent: MakeAgent
    ) -> None:
        await desk.buy(org)
        await desk.buy(other_org)
        run_id, _ = await self.held(desk, org, agent)
        desk.carrier.held_callbacks.clear()
        _, told = await self.held(desk, other_org, await make_agent(other_org, "theirs"))
        secret = desk.root.get(PublicAddress).run_secret(run_id)
        before = await desk.rows("SELECT status, call_id FROM runs WHERE id = :id", id=run_id)
        for one in told:
            moved = about_another_run(one, run_id, secret)
            refused = await desk.send(moved, dict(desk.carrier.sign_callback(moved)))
            assert (refused.status_code, refused.json()["code"]) == (401, "webhook_refused")
        assert await desk.rows("SELECT status, call_id FROM runs WHERE id = :id", id=run_id) == before

    async def test_come_in_by_its_own_number_only(
        self, desk: Desk, org: OrgFixture, other_org: OrgFixture, agent: Agent
    ) -> None:
        bought, other = await desk.buy(org, agent.id), desk.owner_of(await desk.buy(other_org))
        number = bought.json()["phone_number"]
        call = desk.carrier.call_in(THEIRS, number, PhonePlan(script=hangs_up_after(0.2).script))
        await desk.carrier.wait_settled(60)
        asked = next(one for one in desk.carrier.callbacks_of(desk.wire.asks) if one.call_id == call.id)
        told = desk.wire.retell(asked, desk.carrier.credentials_of(desk.carrier.sub_accounts[other]))
        claims = await desk.send(told, dict(desk.carrier.sign_as(other, told)))
        assert claims.status_code == 200, claims.text
        refusals = await desk.rows("SELECT organization_id, reason FROM refused_calls")
        assert refusals == [(other_org.id, "phone_number_not_configured")]
        forged = await desk.send(asked, dict(desk.carrier.sign_as(desk.owner_of(bought), asked, other)))
        assert forged.status_code == 401
        assert await desk.rows("SELECT call_id FROM runs") == [(call.id,)]


class TestItsEnd:
    @pytest.fixture(autouse=True)
    async def is_on(self, desk: Desk) -> None:
        assert (await desk.switch()).status_code == 200

    async def close_later(self, desk: Desk, shifted_clock: ShiftedClock) -> None:
        await desk.service.close_empty({})
        shifted_clock.advance(seconds=(CLOSE_AFTER + timedelta(minutes=1)).total_seconds())
        await desk.service.close_empty({})

    async def test_comes_when_its_last_number_is_gone_for_a_while(
        self, desk: Desk, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        first, second = await desk.buy(org), await desk.buy(org)
        ours = desk.sub_account_of(first)
        await desk.release(org, first)
        await self.close_later(desk, shifted_clock)
        assert ours.status == "active", "it has a number"
        await desk.release(org, second)
        await desk.service.close_empty({})
        assert ours.status == "active", "the bills of its last calls are read with its keys"
        desk.carrier.chaos.rest.append(RestFault("server_error", desk.wire.closings.format(reference=ours.reference)))
        await self.close_later(desk, shifted_clock)
        assert [one["state"] for one in await desk.listed()] == ["closing"]
        await desk.service.close_empty({})
        assert ours.status == desk.wire.closed
        assert await desk.accounts(org) == [], "its keys are deleted"
        assert await desk.audited(org) == ["carrier_sub_account.created", "carrier_sub_account.closed"]
        assert desk.sub_account_of(await desk.buy(org)) is not ours

    async def test_does_not_come_while_a_number_is_bought(
        self, desk: Desk, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        first = await desk.buy(org)
        await desk.release(org, first)
        await desk.service.close_empty({})
        late = asyncio.Event()
        desk.carrier.chaos.rest.append(RestFault("acts_slowly", desk.wire.purchases, until=late))
        buying = asyncio.create_task(desk.buy(org))
        async with asyncio.timeout(30):
            while not desk.carrier.numbers:
                await asyncio.sleep(0.02)
        await self.close_later(desk, shifted_clock)
        late.set()
        bought = await buying
        assert bought.status_code == 200, bought.text
        assert desk.sub_account_of(bought).status == "active"

    async def test_comes_with_the_organization_s(self, desk: Desk, org: OrgFixture) -> None:
        bought = await desk.buy(org)
        ours = desk.sub_account_of(bought)
        assert await desk.service.close_all(org.id) is False, "it has a number"
        await desk.release(org, bought)
        desk.carrier.chaos.rest.append(RestFault("server_error", desk.wire.closings.format(reference=ours.reference)))
        assert await desk.service.close_all(org.id) is False
        assert await desk.service.close_all(org.id) is True
        assert ours.status == desk.wire.closed

    async def test_comes_also_to_one_that_was_never_recorded(
        self, desk: Desk, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        late = asyncio.Event()
        desk.carrier.chaos.rest.append(RestFault("acts_slowly", desk.wire.creations, until=late))
        dead = asyncio.create_task(desk.buy(org))
        async with asyncio.timeout(30):
            while not desk.carrier.sub_accounts:
                await asyncio.sleep(0.02)
        assert await desk.service.close_all(org.id) is False, "it is being created"
        shifted_clock.advance(seconds=CLAIM_TIMEOUT.total_seconds() + 1)
        assert await desk.service.close_all(org.id) is True
        assert [one.status for one in desk.carrier.sub_accounts.values()] == [desk.wire.closed]
        dead.cancel()
        late.set()
