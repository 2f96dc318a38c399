"""Numbers that the platform buys: one for each key, never one that is paid for and belongs to nobody."""

from typing import Any

import pytest
from httpx2 import AsyncClient, Response
from pydantic import SecretStr
from sqlalchemy import text

from offhook.orgs import Caller
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.number_offers import PurchaseRequest
from offhook.telephony.ports import CarrierFailed, CarrierRegistry
from offhook.telephony.services import TelephonyServices
from tests.fakes.carrier import FakeCarrier
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.telephony.conftest import Agent


class Shop:
    def __init__(self, client: AsyncClient, org: OrgFixture) -> None:
        self.client, self.headers = client, org.owner_headers

    async def connect(self, key: str | None = None, **body: Any) -> Response:
        headers = self.headers | ({"Idempotency-Key": key} if key else {})
        return await self.client.post("/telephony/quick-connect", json=body, headers=headers)

    async def release(self, number_id: int) -> Response:
        return await self.client.delete(f"/telephony/managed-numbers/{number_id}", headers=self.headers)

    async def search(self, **query: str) -> dict[str, Any]:
        answer = await self.client.get("/telephony/available-numbers", params=query, headers=self.headers)
        assert answer.status_code == 200, answer.text
        offered: dict[str, Any] = answer.json()
        return offered

    async def for_sale(self, **query: str) -> list[str]:
        return [one["phone_number"] for one in (await self.search(**query))["numbers"]]


@pytest.fixture
def shop(client: AsyncClient, org: OrgFixture) -> Shop:
    return Shop(client, org)


async def test_the_sandbox_sells_and_takes_back(shop: Shop, agent: Agent, client: AsyncClient) -> None:
    offered = await shop.for_sale(country="US", area_code="212")
    assert all(number.startswith("+1212555") for number in offered)
    bought = (await shop.connect(mode="new", phone_number=offered[0], workflow_id=agent.id, label="Main")).json()
    assert (bought["phone_number"], bought["status"], bought["is_primary"]) == (offered[0], "active", True)
    assert bought["workflow_id"] == agent.id
    assert offered[0] not in await shop.for_sale(country="us", area_code="212")
    taken = await shop.connect(mode="new", phone_number=offered[0])
    assert (taken.status_code, taken.json()["code"]) == (409, "no_number_available")
    foreign = await shop.connect(mode="new", phone_number="+4930123456")
    assert (foreign.status_code, foreign.json()["code"]) == (409, "no_number_available")
    forward = (await shop.connect(mode="forward", existing_number="+12125550001", area_code="212")).json()
    assert forward["forward_to"] == forward["phone_number"] != offered[0]
    assert "+12125550001" in forward["instructions"]
    assert not forward["is_primary"]
    configs = (await client.get("/organizations/telephony-configs", headers=shop.headers)).json()["configurations"]
    assert [(row["is_managed"], row["phone_number_count"]) for row in configs] == [(True, 2)]
    kept = await client.delete(f"/organizations/telephony-configs/{configs[0]['id']}", headers=shop.headers)
    assert (kept.status_code, kept.json()["code"]) == (409, "managed_configuration")
    gone = await shop.release(bought["phone_number_id"])
    assert (gone.status_code, gone.content) == (204, b"")
    assert offered[0] in await shop.for_sale(country="US", area_code="212")
    assert (await shop.release(bought["phone_number_id"])).status_code == 404
    for country in ("GB", "FR", "JP"):
        assert await shop.for_sale(country=country), country


async def test_simulated_numbers_are_named_as_such(shop: Shop) -> None:
    assert (await shop.search(country="US"))["is_simulated"] is True


async def test_one_key_buys_one_number(shop: Shop) -> None:
    first = await shop.connect("k1", mode="new")
    assert (await shop.connect("k1", mode="new")).json() == first.json()
    other = await shop.connect("k1", mode="new", area_code="212")
    assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")


async def test_what_cannot_be_asked_for(shop: Shop, client: AsyncClient, org: OrgFixture) -> None:
    for body in (
        {"mode": "x"},
        {"mode": "forward"},
        {"mode": "new", "country": "USA"},
        {"mode": "new", "phone_number": "1"},
    ):
        assert (await shop.connect(**body)).status_code == 422, body
    assert (await shop.connect(mode="new", workflow_id=99999)).status_code == 404
    assert (await client.get("/telephony/available-numbers", headers=shop.headers)).status_code == 422
    as_member = await client.post("/telephony/quick-connect", json={"mode": "new"}, headers=org.headers_for("member"))
    assert as_member.status_code == 403


class TestAtACarrier:
    """The platform's own account is at a carrier that takes money."""

    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        account = '{"account": "platform", "token": "t"}'
        return settings.model_copy(
            update={"platform_carrier": "twilio", "platform_carrier_account": SecretStr(account)}
        )

    @pytest.fixture
    def carrier(self, root: Root) -> FakeCarrier:
        fake = FakeCarrier()
        root.get(CarrierRegistry).add(fake.spec("twilio"))
        return fake

    async def states(self, root: Root) -> list[str]:
        async with root.db.transaction() as session:
            return list((await session.execute(text("SELECT state FROM number_purchases ORDER BY id"))).scalars())

    async def test_bought_pointed_at_us_and_released(self, shop: Shop, carrier: FakeCarrier, root: Root) -> None:
        bought = (await shop.connect(mode="new", area_code="201")).json()
        assert carrier.numbers == {bought["phone_number"]}
        assert carrier.asked_for("point")[0]["number"] == bought["phone_number"]
        assert await self.states(root) == ["done"]
        assert (await shop.release(bought["phone_number_id"])).status_code == 204
        assert carrier.numbers == set()
        assert (await shop.search(country="US"))["is_simulated"] is False

    async def test_an_answer_that_is_lost_after_the_charge(self, shop: Shop, carrier: FakeCarrier, root: Root) -> None:
        carrier.refuses["buy"] = CarrierFailed("timeout", "No answer.", retryable=True, is_fate_unknown=True)
        bought = await shop.connect("k", mode="new")
        assert bought.status_code == 200, "the carrier says that it is ours"
        assert (carrier.numbers, await self.states(root)) == ({bought.json()["phone_number"]}, ["done"])
        assert (await shop.connect("k", mode="new")).json() == bought.json()

    async def test_one_that_was_not_sold_after_all(self, shop: Shop, carrier: FakeCarrier, root: Root) -> None:
        carrier.refuses["buy"] = CarrierFailed("timeout", "No answer.", retryable=True, is_fate_unknown=True)
        carrier.sells = False
        failed = await shop.connect("k", mode="new")
        assert (failed.status_code, failed.json()["code"]) == (502, "number_not_bought")
        assert (carrier.numbers, await self.states(root)) == (set(), ["failed"])
        carrier.refuses.clear()
        carrier.sells = True
        assert (await shop.connect("k", mode="new")).status_code == 200
        assert len(carrier.numbers) == 1

    async def test_what_a_dead_process_left_is_finished_while_it_is_wanted(
        self,
        shop: Shop,
        carrier: FakeCarrier,
        root: Root,
        org: OrgFixture,
        agent: Agent,
        shifted_clock: ShiftedClock,
    ) -> None:
        """Its process dies between the carrier's answer and the organization's number."""
        managed, caller = (
            root.get(TelephonyServices).managed_numbers,
            Caller(org.id, org.user_ids["owner"], None, "owner", False),
        )
        platform = root.get(CarrierAccounts).platform_account(org.id)

        async def leave(number: str, workflow_id: int | None) -> None:
            wish = PurchaseRequest("new", "US", phone_number=number, workflow_id=workflow_id, label="Front")
            await managed._buy_number(platform, await managed._record_purchase(caller, wish, "twilio", number, 0))

        await leave("+12015550140", agent.id)
        await leave("+12015550141", 99999)
        await leave("+12015550142", None)
        again = await shop.connect(mode="new", phone_number="+12015550142", label="Front")
        assert again.status_code == 200, "asked for again, it is there once"
        shifted_clock.advance(minutes=2)
        for _ in range(2):
            await managed.settle_purchases({})
        assert carrier.numbers == {"+12015550140", "+12015550142"}, "an agent that is gone makes it useless"
        configs = (await shop.client.get("/organizations/telephony-configs", headers=shop.headers)).json()
        path = f"/organizations/telephony-configs/{configs['configurations'][0]['id']}/phone-numbers"
        numbers = (await shop.client.get(path, headers=shop.headers)).json()["phone_numbers"]
        kept = {row["address"]: (row["inbound_workflow_id"], row["label"]) for row in numbers}
        assert kept == {"+12015550140": (agent.id, "Front"), "+12015550142": (None, "Front")}
        assert {one["number"] for one in carrier.asked_for("point")} == carrier.numbers

    async def test_a_carrier_that_cannot_be_asked_afterwards(
        self, shop: Shop, carrier: FakeCarrier, root: Root, shifted_clock: ShiftedClock
    ) -> None:
        away = CarrierFailed("timeout", "No answer.", retryable=True, is_fate_unknown=True)
        carrier.refuses |= {"buy": away, "owned": away}
        await shop.connect(mode="new")
        assert (len(carrier.numbers), await self.states(root)) == (1, ["buying"])
        managed = root.get(TelephonyServices).managed_numbers
        shifted_clock.advance(minutes=2)
        await managed.settle_purchases({})
        assert await self.states(root) == ["buying"]
        carrier.refuses.clear()
        shifted_clock.advance(minutes=2)
        await managed.settle_purchases({})
        assert (carrier.numbers, await self.states(root)) == (set(), ["released"])

    async def test_a_number_that_somebody_has_is_not_given_back(
        self, shop: Shop, carrier: FakeCarrier, root: Root
    ) -> None:
        await shop.connect(mode="new", phone_number="+12015550140")
        carrier.refuses["buy"] = CarrierFailed("timeout", "No answer.", retryable=True, is_fate_unknown=True)
        again = await shop.connect(mode="new", phone_number="+12015550140")
        assert (again.status_code, again.json()["code"]) == (502, "number_not_bought")
        assert carrier.numbers == {"+12015550140"}

    async def test_carrier_lookup(self, carrier: FakeCarrier, client: AsyncClient, shop: Shop) -> None:
        async def look(number: str) -> dict[str, Any]:
            answer = await client.get("/telephony/carrier-lookup", params={"number": number}, headers=shop.headers)
            return {"status": answer.status_code, **answer.json()}

        asked = await look("+12015550123")
        assert (asked["carrier"], asked["line_type"], asked["source"]) == ("Fake Wireless", "mobile", "twilio")
        assert (asked["country_code"], asked["time_zones"]) == ("US", ["America/New_York"])
        carrier.refuses["look_up"] = CarrierFailed("carrier_unreachable", "Away.", retryable=True)
        offline = await look("+447911123456")
        assert (offline["carrier"], offline["line_type"], offline["source"]) == (None, "mobile", "offline")
        assert (await look("+1"))["status"] == 422
