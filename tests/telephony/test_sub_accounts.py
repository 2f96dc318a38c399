"""One sub-account of the platform's Twilio account for each organization: made once, its own keys, closed at the end."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from httpx2 import AsyncClient

from offhook.orgs import service as orgs
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.accounts.sub_account_statements import CLAIM_TIMEOUT
from offhook.telephony.accounts.sub_accounts import CLOSE_AFTER
from offhook_lab.carriers import OutgoingCallback
from offhook_lab.carriers.core.chaos import RestFault
from offhook_lab.carriers.core.phones import PhonePlan, hangs_up_after
from offhook_lab.carriers.twilio.signature import compute_signature
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.orgs.accounts import make_account, sign_in
from tests.telephony.conftest import Agent, MakeAgent
from tests.telephony.sub_account_desk import Carrier, Desk

THEIRS = "+12125550199"
CREATIONS = "POST */Accounts.json"


@pytest.fixture
async def carrier() -> AsyncIterator[Carrier]:
    async with Carrier().running() as running:
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
    return Desk(root, client, carrier.twilio, await sign_in(client, "boss@hq.example"))


class TestTheSwitch:
    async def test_is_the_operator_s(self, desk: Desk, client: AsyncClient, org: OrgFixture) -> None:
        for method, path in (("GET", ""), ("PATCH", ""), ("GET", "/sub-accounts")):
            refused = await client.request(method, f"/superuser/managed-carrier{path}", headers=org.owner_headers)
            assert (refused.status_code, refused.json()["code"]) == (403, "superuser_required")

    async def test_is_off_and_leaves_the_numbers_that_there_are(self, desk: Desk, org: OrgFixture) -> None:
        before = await desk.buy(org)
        assert desk.owner_of(before) == desk.twilio.account_sid
        shown = (await desk.client.get("/superuser/managed-carrier", headers=desk.boss)).json()
        assert shown == {
            "provider": "twilio",
            "account_reference": desk.twilio.account_sid,
            "has_sub_accounts": True,
            "uses_sub_accounts": False,
        }
        assert (await desk.switch()).json()["uses_sub_accounts"] is True
        after = await desk.buy(org)
        assert [desk.owner_of(before), desk.owner_of(after)] == [
            desk.twilio.account_sid,
            next(iter(desk.twilio.sub_accounts)),
        ]
        await desk.switch(is_on=False)
        assert desk.owner_of(await desk.buy(org)) == desk.twilio.account_sid
        for bought in (before, after):
            await desk.release(org, bought)
        told = await desk.rows("SELECT data FROM audit_entries WHERE action = 'managed_carrier.updated' ORDER BY id")
        assert [row[0]["uses_sub_accounts"] for row in told] == [True, False]

    async def test_stays_off_where_the_account_is_a_sub_account(self, desk: Desk, carrier: Carrier) -> None:
        desk.twilio.parent_sid = "AC" + "9" * 32
        refused = await desk.switch()
        assert (refused.status_code, refused.json()["code"]) == (409, "sub_accounts_refused")
        desk.twilio.chaos.rest.append(RestFault("server_error", "GET *"))
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
        assert desk.twilio.account_sid not in {ours, theirs}
        (account,) = await desk.accounts(org)
        assert account["credentials"] == {"account_sid": ours}
        opened = await desk.opened(org, account["id"])
        token = desk.twilio.sub_accounts[ours].auth_token
        assert opened.config == {"account_sid": ours, "auth_token": token, "amd_enabled": True}
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
        desk.twilio.refuses_sub_accounts = True
        refused = await desk.buy(org)
        assert (refused.status_code, refused.json()["code"]) == (502, "sub_account_not_created")
        assert desk.twilio.numbers == {}
        assert await desk.rows("SELECT state FROM number_purchases") == [("failed",)]
        assert "may not create" in (await desk.listed())[0]["error"]
        desk.twilio.refuses_sub_accounts = False
        assert desk.sub_account_of(await desk.buy(org)).status == "active"

    async def test_gets_one_from_two_purchases_at_once(self, desk: Desk, org: OrgFixture) -> None:
        desk.twilio.chaos.rest.append(RestFault("acts_slowly", CREATIONS, seconds=0.5))
        numbers = (await desk.for_sale(org))[:4]
        bought = await asyncio.gather(*(desk.buy(org, number=number) for number in numbers))
        assert [one.json().get("code") for one in bought] == [None] * 4
        assert len(desk.twilio.sub_accounts) == 1
        assert {desk.owner_of(one) for one in bought} == set(desk.twilio.sub_accounts)

    async def test_finds_the_one_whose_creation_got_no_answer(self, desk: Desk, org: OrgFixture) -> None:
        desk.twilio.chaos.rest.append(RestFault("acts_then_silent", CREATIONS))
        bought = await desk.buy(org)
        assert desk.owner_of(bought) in desk.twilio.sub_accounts
        assert len(desk.twilio.sub_accounts) == 1

    async def test_waits_where_the_carrier_may_still_create_it(
        self, desk: Desk, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        desk.service.wait_s = 0.3
        desk.twilio.chaos.rest += [
            RestFault("acts_then_silent", CREATIONS),
            RestFault("rate_limited", "GET */Accounts.json", times=2),
        ]
        # The first look finds nothing because it is refused; nothing is created then.
        assert (await desk.buy(org)).json()["code"] == "sub_account_not_created"
        desk.twilio.chaos.rest[:] = [RestFault("acts_then_silent", CREATIONS), RestFault("hangs", "GET nothing")]
        await desk.rows("UPDATE carrier_sub_accounts SET claimed_at = :now RETURNING id", now=desk.root.clock.now())
        assert (await desk.buy(org)).json()["code"] == "sub_account_pending"
        shifted_clock.advance(seconds=CLAIM_TIMEOUT.total_seconds() + 1)
        desk.service.wait_s = 30.0
        assert (await desk.buy(org)).status_code == 200
        assert len(desk.twilio.sub_accounts) == 1

    async def test_keeps_one_when_a_slow_process_is_overtaken(
        self, desk: Desk, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        late, numbers = asyncio.Event(), await desk.for_sale(org)
        desk.twilio.chaos.rest.append(RestFault("acts_slowly", CREATIONS, until=late))
        slow = asyncio.create_task(desk.buy(org, number=numbers[0]))
        async with asyncio.timeout(30):
            while not desk.twilio.sub_accounts:
                await asyncio.sleep(0.02)
        shifted_clock.advance(seconds=CLAIM_TIMEOUT.total_seconds() + 1)
        quick = await desk.buy(org, number=numbers[1])
        late.set()
        assert [quick.status_code, (await slow).status_code] == [200, 200]
        assert desk.owner_of(quick) == desk.owner_of(await slow)
        assert [one.status for one in desk.twilio.sub_accounts.values()] == ["active"]
        assert [one["state"] for one in await desk.listed()] == ["active"]


class TestItsCalls:
    @pytest.fixture(autouse=True)
    async def is_on(self, desk: Desk) -> None:
        assert (await desk.switch()).status_code == 200

    async def held(self, desk: Desk, org: OrgFixture, agent: Agent) -> tuple[int, list[OutgoingCallback]]:
        """A call of the organization and what Twilio says of it, kept back."""
        desk.twilio.chaos.holds_callbacks = True
        desk.twilio.phones[THEIRS] = PhonePlan(script=hangs_up_after(0.2).script, verdict="human", verdict_s=0.0)
        (account,) = await desk.accounts(org)
        body = {"workflow_id": agent.id, "phone_number": THEIRS, "telephony_configuration_id": account["id"]}
        placed = await desk.client.post("/telephony/initiate-call", json=body, headers=org.owner_headers)
        assert placed.status_code == 200, placed.text
        await desk.twilio.wait_settled(60)
        held = [one for one in desk.twilio.held_callbacks if one.kind.startswith("status")]
        assert held
        return int(placed.json()["workflow_run_id"]), held

    async def test_are_placed_and_proved_with_its_own_keys(
        self, desk: Desk, org: OrgFixture, other_org: OrgFixture, agent: Agent
    ) -> None:
        ours, theirs = desk.sub_account_of(await desk.buy(org)), desk.sub_account_of(await desk.buy(other_org))
        run_id, held = await self.held(desk, org, agent)
        (dialed,) = desk.twilio.sent_to("POST", "/Calls.json")
        assert dialed.path == f"/2010-04-01/Accounts/{ours.sid}/Calls.json"
        assert dialed.basic_credentials() == (ours.sid, ours.auth_token)
        before = await desk.rows("SELECT id, status, call_id FROM runs")
        for one in held:
            assert one.fields["AccountSid"] == ours.sid
            for token in (desk.twilio.auth_token, theirs.auth_token, ""):
                forged = {"X-Twilio-Signature": compute_signature(token, one.url, one.form)}
                refused = await desk.send(one, forged)
                assert (refused.status_code, refused.json()["code"]) == (401, "webhook_refused")
        assert await desk.rows("SELECT id, status, call_id FROM runs") == before
        for one in held:
            taken = await desk.send(one, dict(desk.twilio.sign_callback(one)))
            assert taken.status_code == 200, taken.text
        assert await desk.rows("SELECT status FROM runs WHERE id = :id", id=run_id) == [("completed",)]

    async def test_are_not_touched_by_another_sub_account_s_events(
        self, desk: Desk, org: OrgFixture, other_org: OrgFixture, agent: Agent, make_agent: MakeAgent
    ) -> None:
        await desk.buy(org)
        await desk.buy(other_org)
        run_id, _ = await self.held(desk, org, agent)
        desk.twilio.held_callbacks.clear()
        _, told = await self.held(desk, other_org, await make_agent(other_org, "theirs"))
        secret = desk.root.get(PublicAddress).run_secret(run_id)
        before = await desk.rows("SELECT status, call_id FROM runs WHERE id = :id", id=run_id)
        for one in told:
            path = one.url.partition("/status-callback/")[0]
            moved = replace(one, url=f"{path}/status-callback/{run_id}?token={secret}")
            refused = await desk.send(moved, dict(desk.twilio.sign_callback(moved)))
            assert (refused.status_code, refused.json()["code"]) == (401, "webhook_refused")
        assert await desk.rows("SELECT status, call_id FROM runs WHERE id = :id", id=run_id) == before

    async def test_come_in_by_its_own_number_only(
        self, desk: Desk, org: OrgFixture, other_org: OrgFixture, agent: Agent
    ) -> None:
        bought, theirs = await desk.buy(org, agent.id), await desk.buy(other_org)
        number = bought.json()["phone_number"]
        assert desk.twilio.numbers[number].settings["VoiceUrl"].endswith("/telephony/inbound/run")
        call = desk.twilio.call_in(THEIRS, number, PhonePlan(script=hangs_up_after(0.2).script))
        await desk.twilio.wait_settled(60)
        (asked,) = [one for one in desk.twilio.callbacks_of("answer") if one.call_id == call.id][:1]
        assert b"<Stream" in asked.answer
        other = desk.sub_account_of(theirs)
        form = [(name, "CAother" if name == "CallSid" else value) for name, value in asked.form]
        form = [(name, other.sid if name == "AccountSid" else value) for name, value in form]
        claims = await desk.client.post(
            "/telephony/inbound/run",
            data=dict(form),
            headers={"X-Twilio-Signature": compute_signature(other.auth_token, asked.url, form)},
        )
        assert claims.status_code == 200, claims.text
        assert "not in service" in claims.text
        mixed = await desk.client.post(
            "/telephony/inbound/run",
            data=dict(asked.form),
            headers={"X-Twilio-Signature": compute_signature(other.auth_token, asked.url, asked.form)},
        )
        assert mixed.status_code == 401
        assert await desk.rows("SELECT call_id FROM runs WHERE organization_id = :id", id=org.id) == [(call.id,)]


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
        desk.twilio.chaos.rest.append(RestFault("server_error", f"POST */Accounts/{ours.sid}.json"))
        await self.close_later(desk, shifted_clock)
        assert [one["state"] for one in await desk.listed()] == ["closing"]
        await desk.service.close_empty({})
        assert ours.status == "closed"
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
        desk.twilio.chaos.rest.append(RestFault("acts_slowly", "POST *IncomingPhoneNumbers*", until=late))
        buying = asyncio.create_task(desk.buy(org))
        async with asyncio.timeout(30):
            while not desk.twilio.numbers:
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
        desk.twilio.chaos.rest.append(RestFault("server_error", f"POST */Accounts/{ours.sid}.json"))
        assert await desk.service.close_all(org.id) is False
        assert await desk.service.close_all(org.id) is True
        assert ours.status == "closed"

    async def test_comes_also_to_one_that_was_never_recorded(
        self, desk: Desk, org: OrgFixture, shifted_clock: ShiftedClock
    ) -> None:
        late = asyncio.Event()
        desk.twilio.chaos.rest.append(RestFault("acts_slowly", CREATIONS, until=late))
        dead = asyncio.create_task(desk.buy(org))
        async with asyncio.timeout(30):
            while not desk.twilio.sub_accounts:
                await asyncio.sleep(0.02)
        assert await desk.service.close_all(org.id) is False, "it is being created"
        shifted_clock.advance(seconds=CLAIM_TIMEOUT.total_seconds() + 1)
        assert await desk.service.close_all(org.id) is True
        assert [one.status for one in desk.twilio.sub_accounts.values()] == ["closed"]
        dead.cancel()
        late.set()
