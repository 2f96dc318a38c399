"""A process is killed after the carrier has acted: the number is found by the job, the sub-account by the next purchase."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pydantic import SecretStr
from sqlalchemy import select

from offhook.orgs import Caller
from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.accounts.number_purchasing import PurchaseRequest
from offhook.telephony.services import TelephonyServices
from offhook.telephony.tables import NumberPurchase, PhoneNumber
from offhook_lab.carriers import TwilioEmulator
from offhook_lab.carriers.core.chaos import RestFault
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.forks import forks


@pytest.fixture
async def carrier() -> AsyncIterator[TwilioEmulator]:
    async with TwilioEmulator().running() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path, carrier: TwilioEmulator) -> Settings:
    return Settings(
        data_dir=tmp_path / "data",
        public_url="http://testserver",
        platform_carrier="twilio",
        platform_carrier_account=SecretStr(json.dumps(carrier.credentials)),
        carrier_urls={"twilio": carrier.base_url},
    )


@pytest.mark.slow
async def test_it_is_finished_by_the_job(
    root: Root,
    carrier: TwilioEmulator,
    database_url: str,
    org: OrgFixture,
    tmp_path: Path,
    shifted_clock: ShiftedClock,
) -> None:
    managed = root.get(TelephonyServices).managed_numbers
    number = (await managed.search_for_sale(org.id, "US", None))[0].phone_number
    carrier.chaos.rest.append(RestFault("acts_slowly", "POST *IncomingPhoneNumbers*", seconds=600))
    order = {
        "data_dir": str(tmp_path / "buyer"),
        "account": json.dumps(carrier.credentials),
        "carrier": carrier.base_url,
        "database": database_url,
        "organization": str(org.id),
        "number": number,
    }
    with (tmp_path / "buyer.log").open("w") as log:
        buyer = forks().start(json.dumps(order), env=os.environ, stdout=log, target="tests.telephony.buyer:main")
    try:
        async with asyncio.timeout(120):
            while number not in carrier.numbers:
                assert buyer.poll() is None
                await asyncio.sleep(0.05)
    finally:
        buyer.kill()
        await buyer.ended()

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
    root: Root,
    carrier: TwilioEmulator,
    database_url: str,
    org: OrgFixture,
    tmp_path: Path,
    shifted_clock: ShiftedClock,
) -> None:
    services = root.get(TelephonyServices)
    await services.sub_accounts.switch(Caller.system(org.id, role="owner"), is_on=True)
    number = (await services.managed_numbers.search_for_sale(org.id, "US", None))[0].phone_number
    carrier.chaos.rest.append(RestFault("acts_slowly", "POST */Accounts.json", seconds=600))
    order = {
        "data_dir": str(tmp_path / "buyer"),
        "account": json.dumps(carrier.credentials),
        "carrier": carrier.base_url,
        "database": database_url,
        "organization": str(org.id),
        "number": number,
    }
    with (tmp_path / "buyer.log").open("w") as log:
        buyer = forks().start(json.dumps(order), env=os.environ, stdout=log, target="tests.telephony.buyer:main")
    try:
        async with asyncio.timeout(120):
            while not carrier.sub_accounts:
                assert buyer.poll() is None
                await asyncio.sleep(0.05)
    finally:
        buyer.kill()
        await buyer.ended()

    shifted_clock.advance(minutes=2)
    await services.managed_numbers.settle_purchases({})
    async with root.db.transaction() as session:
        assert (await session.scalars(select(NumberPurchase.state))).all() == ["failed"], "nothing was bought"
    caller = Caller.system(org.id, role="owner")
    await services.managed_numbers.quick_connect(caller, PurchaseRequest("new", "US", phone_number=number))
    assert [carrier.account_of_number(number)] == list(carrier.sub_accounts)


async def kept(root: Root) -> list[tuple[str, int, bool]]:
    async with root.db.transaction() as session:
        found = await session.execute(select(PhoneNumber.address, PhoneNumber.organization_id, PhoneNumber.is_managed))
        return [(row.address, row.organization_id, row.is_managed) for row in found]
