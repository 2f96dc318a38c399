"""A process is killed after the carrier has acted: the number is found by the job, the sub-account by the next purchase."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from offhook.orgs import Caller
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.accounts.number_offers import PurchaseRequest
from offhook.telephony.services import TelephonyServices
from offhook.telephony.tables import NumberPurchase, PhoneNumber
from offhook_lab.carriers.core.chaos import RestFault
from offhook_lab.carriers.core.sub_accounts import SubAccountEmulator
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.forks import forks
from tests.telephony.sub_account_wires import WIRES, Wire


@pytest.fixture(params=sorted(WIRES))
def wire(request: pytest.FixtureRequest) -> Wire:
    return WIRES[request.param]


@pytest.fixture
async def carrier(wire: Wire) -> AsyncIterator[SubAccountEmulator]:
    async with wire.build().running() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path, carrier: SubAccountEmulator) -> Settings:
    return Settings(
        data_dir=tmp_path / "data",
        public_url="http://testserver",
        platform_carrier=carrier.name,
        platform_carrier_account=SecretStr(json.dumps(carrier.credentials)),
        carrier_urls={carrier.name: carrier.base_url},
    )


@dataclass(frozen=True)
class Buyer:
    """A process that buys a number and is killed."""

    carrier: SubAccountEmulator
    database_url: str
    organization_id: int
    directory: Path

    async def buy_until(self, number: str, is_done: Callable[[], bool]) -> None:
        """Buys the number, and is killed when the carrier has done something that it does not answer yet."""
        order = {
            "data_dir": str(self.directory / "data"),
            "provider": self.carrier.name,
            "account": json.dumps(self.carrier.credentials),
            "carrier": self.carrier.base_url,
            "database": self.database_url,
            "organization": str(self.organization_id),
            "number": number,
        }
        with (self.directory / "buyer.log").open("w") as log:
            buyer = forks().start(json.dumps(order), env=os.environ, stdout=log, target="tests.telephony.buyer:main")
        try:
            async with asyncio.timeout(120):
                while not is_done():
                    assert buyer.poll() is None
                    await asyncio.sleep(0.05)
        finally:
            buyer.kill()
            await buyer.ended()


@pytest.fixture
def buyer(carrier: SubAccountEmulator, database_url: str, org: OrgFixture, tmp_path: Path) -> Buyer:
    return Buyer(carrier, database_url, org.id, tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("wire", [WIRES["twilio"]], ids=["twilio"])
async def test_it_is_finished_by_the_job(
    root: Root, carrier: SubAccountEmulator, buyer: Buyer, wire: Wire, org: OrgFixture, shifted_clock: ShiftedClock
) -> None:
    managed = root.get(TelephonyServices).managed_numbers
    number = (await managed.search_for_sale(org.id, "US", None))[0].phone_number
    carrier.chaos.rest.append(RestFault("acts_slowly", wire.purchases, seconds=600))
    await buyer.buy_until(number, lambda: number in carrier.numbers)

    await managed.settle_purchases({})
    assert await kept(root) == [], "it may be buying still"
    shifted_clock.advance(minutes=2)
    for _ in range(2):
        await managed.settle_purchases({})
    assert await kept(root) == [(number, org.id, True)]
    async with root.db.transaction() as session:
        assert (await session.scalars(select(NumberPurchase.state))).all() == ["done"]
    assert carrier.numbers[number].settings["VoiceUrl"].endswith("/telephony/inbound/run")


@pytest.mark.slow
async def test_its_sub_account_is_found_again(
    root: Root, carrier: SubAccountEmulator, buyer: Buyer, wire: Wire, org: OrgFixture, shifted_clock: ShiftedClock
) -> None:
    services = root.get(TelephonyServices)
    await services.sub_accounts.switch(Caller.system(org.id, role="owner"), is_on=True)
    number = (await services.managed_numbers.search_for_sale(org.id, "US", None))[0].phone_number
    carrier.chaos.rest.append(RestFault("acts_slowly", wire.creations, seconds=600))
    await buyer.buy_until(number, lambda: bool(carrier.sub_accounts))

    shifted_clock.advance(minutes=2)
    await services.managed_numbers.settle_purchases({})
    async with root.db.transaction() as session:
        assert (await session.scalars(select(NumberPurchase.state))).all() == ["failed"], "nothing was bought"
    caller = Caller.system(org.id, role="owner")
    await services.managed_numbers.quick_connect(caller, PurchaseRequest("new", "US", phone_number=number))
    assert carrier.account_of_number(number) == wire.only_one(carrier).reference


@pytest.mark.slow
async def test_its_number_in_a_sub_account_is_finished_by_the_job(
    root: Root, carrier: SubAccountEmulator, buyer: Buyer, wire: Wire, org: OrgFixture, shifted_clock: ShiftedClock
) -> None:
    services = root.get(TelephonyServices)
    await services.sub_accounts.switch(Caller.system(org.id, role="owner"), is_on=True)
    number = (await services.managed_numbers.search_for_sale(org.id, "US", None))[0].phone_number
    carrier.chaos.rest.append(RestFault("acts_slowly", wire.purchases, seconds=600))
    await buyer.buy_until(number, lambda: number in carrier.numbers)

    shifted_clock.advance(minutes=2)
    for _ in range(2):
        await services.managed_numbers.settle_purchases({})
    assert await kept(root) == [(number, org.id, True)]
    assert [carrier.account_of_number(number)] == list(carrier.sub_accounts)


async def kept(root: Root) -> list[tuple[str, int, bool]]:
    async with root.db.transaction() as session:
        found = await session.execute(select(PhoneNumber.address, PhoneNumber.organization_id, PhoneNumber.is_managed))
        return [(row.address, row.organization_id, row.is_managed) for row in found]
