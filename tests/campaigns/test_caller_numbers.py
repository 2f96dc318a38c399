"""Which number a call comes from: the one that was chosen, else the account's default, else the pool's, and none twice at once."""

from collections import Counter

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text

from offhook.campaigns import CampaignService, CampaignServices
from offhook.root import Root
from offhook.runs.tables import Run
from offhook.telephony.ports import CarrierRegistry
from offhook.telephony.tables import PhoneNumber
from tests.campaigns.conftest import MakeCampaign
from tests.fakes.carrier import FakeCarrier
from tests.fixtures_orgs import OrgFixture
from tests.telephony.fakecom import OURS, Account, make_account

POOL = [OURS, "+12015550151", "+12015550152", "+12015550153", "+12015550154"]


@pytest.fixture
async def account(root: Root, client: AsyncClient, org: OrgFixture, workflow_id: int) -> Account:
    """At a carrier, with five numbers."""
    fake = FakeCarrier()
    root.get(CarrierRegistry).add(fake.spec())
    made = await make_account(root, client, fake, org, workflow_id)
    async with root.db.transaction() as session:
        for number in POOL[1:]:
            session.add(
                PhoneNumber(
                    organization_id=org.id,
                    telephony_configuration_id=made.id,
                    address=number,
                    address_normalized=number,
                    address_type="pstn",
                )
            )
        await session.execute(text("UPDATE organizations SET concurrency_limit = 100"))
    return made


async def write(account: Account, statement: str, **values: object) -> None:
    async with account.root.db.transaction() as session:
        await session.execute(text(statement), values)


async def make_default(account: Account, number: str) -> None:
    await write(account, "UPDATE phone_numbers SET is_default_caller_id = address = :number", number=number)


async def live(account: Account) -> Counter[str]:
    """By number, how many calls come from it."""
    async with account.root.db.transaction() as session:
        return Counter(await session.scalars(select(Run.caller_number).where(Run.ended_at.is_(None))))


async def over(account: Account, number: str) -> None:
    """The call from this number."""
    of_it = "run_id IN (SELECT id FROM runs WHERE caller_number = :number)"
    await write(account, f"UPDATE campaign_attempts SET state = 'final' WHERE {of_it}", number=number)
    ended = "UPDATE runs SET status = 'completed', ended_at = now() WHERE caller_number = :number"
    await write(account, ended, number=number)


async def test_a_call_by_itself(account: Account) -> None:
    for _ in range(10):
        await account.dial()
    assert await live(account) == dict.fromkeys(POOL, 2), "one that has fewer calls than the others is taken first"
    await make_default(account, POOL[3])
    runs = [await account.run(await account.dial()) for _ in range(3)]
    assert {run.caller_number for run in runs} == {POOL[3]}
    body = {"workflow_id": account.workflow_id, "phone_number": "+12015550199"}
    chosen = body | {"from_phone_number_id": account.number_id}
    answer = await account.client.post("/telephony/initiate-call", json=chosen, headers=account.org.owner_headers)
    assert (await account.run(answer.json()["workflow_run_id"])).caller_number == OURS
    asked = [request.from_number for _, request in account.carrier.calls]
    assert asked[10:] == [POOL[3]] * 3 + [OURS]


async def test_a_number_of_a_campaign_has_one_call_at_a_time(
    account: Account, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    await write(account, "UPDATE telephony_configurations SET config = config || '{\"calls_per_second\": 1000}'")
    dialing = account.root.get(CampaignServices).engine.dialer
    await make_default(account, POOL[2])
    await account.dial()
    campaign = await make_campaign(contacts=20, max_concurrency=20, telephony_configuration_id=account.id)
    await campaigns.start(account.org.id, campaign.id)
    assert len((await dialing.reserve_calls(account.org.id)).placings) == 4, "one number has a call already"
    assert await live(account) == dict.fromkeys(POOL, 1)
    assert (await dialing.reserve_calls(account.org.id)).placings == [], "the others wait until a number is free"
    for number in (POOL[4], POOL[2]):
        await over(account, number)
        (placed,) = (await dialing.reserve_calls(account.org.id)).placings
        assert (await account.run(placed.run_id)).caller_number == number
    await over(account, POOL[0])
    again = "UPDATE runs SET status = 'initiated', direction = 'inbound', called_number = :number, caller_number = NULL"
    await write(account, f"{again} WHERE caller_number = :number", number=POOL[0])
    assert (await dialing.reserve_calls(account.org.id)).placings == [], "nor does it call while it is called"


async def test_an_account_that_carries_more_spreads_them(
    account: Account, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    limits = '{"calls_per_second": 1000, "max_concurrent_calls": 60}'
    await write(account, "UPDATE telephony_configurations SET config = config || CAST(:limits AS jsonb)", limits=limits)
    dialing = account.root.get(CampaignServices).engine.dialer
    campaign = await make_campaign(contacts=60, max_concurrency=60, telephony_configuration_id=account.id)
    await campaigns.start(account.org.id, campaign.id)
    for _ in range(2):
        assert len((await dialing.reserve_calls(account.org.id)).placings) == 25
    assert await live(account) == dict.fromkeys(POOL, 10)
    await make_default(account, POOL[1])
    assert len((await dialing.reserve_calls(account.org.id)).placings) == 10
    assert (await live(account))[POOL[1]] == 20
