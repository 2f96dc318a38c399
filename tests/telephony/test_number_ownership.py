"""Whose number it is: nobody takes the platform's lines, and nobody claims another's account."""

import pytest
from httpx2 import AsyncClient, Response
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from offhook.root import Root
from offhook.settings import Settings
from offhook.telephony.ports import CarrierFailed, CarrierRegistry
from tests.fakes.carrier import NAME, FakeCarrier
from tests.fixtures_orgs import OrgFixture
from tests.telephony.conftest import Agent, MakeAgent
from tests.telephony.fakecom import OURS, TOKEN, Account, make_account, spoken

OPERATORS_LINE = "+12015550160"


async def managed_account(client: AsyncClient, org: OrgFixture) -> int:
    """The platform's own account, as quick-connect puts it into the organization."""
    bought = await client.post("/telephony/quick-connect", json={"mode": "new"}, headers=org.owner_headers)
    assert bought.status_code == 200, bought.text
    listed = await client.get("/organizations/telephony-configs", headers=org.owner_headers)
    return next(int(row["id"]) for row in listed.json()["configurations"] if row["is_managed"])


async def add_number(
    client: AsyncClient, org: OrgFixture, account_id: int, number: str, agent: Agent | None = None, query: str = ""
) -> Response:
    body = {"address": number} | ({"inbound_workflow_id": agent.id} if agent is not None else {})
    path = f"/organizations/telephony-configs/{account_id}/phone-numbers{query}"
    return await client.post(path, json=body, headers=org.owner_headers)


class TestThePlatformsAccount:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        account = SecretStr('{"account": "platform", "token": "t"}')
        return settings.model_copy(update={"platform_carrier": "twilio", "platform_carrier_account": account})

    @pytest.fixture
    def carrier(self, root: Root) -> FakeCarrier:
        fake = FakeCarrier(numbers={OPERATORS_LINE})
        root.get(CarrierRegistry).add(fake.spec("twilio"))
        return fake

    @pytest.mark.parametrize("query", ["", "?verify=true", "?verify=false"])
    async def test_a_stranger_cannot_take_the_operators_line(
        self, client: AsyncClient, org: OrgFixture, agent: Agent, carrier: FakeCarrier, query: str
    ) -> None:
        account_id = await managed_account(client, org)
        routed = len(carrier.asked_for("point"))
        taken = await add_number(client, org, account_id, OPERATORS_LINE, agent, query)
        assert (taken.status_code, taken.json()["code"]) == (409, "managed_configuration")
        assert len(carrier.asked_for("point")) == routed, "the line still rings at the operator's"

    async def test_not_even_by_the_database(
        self, client: AsyncClient, org: OrgFixture, other_org: OrgFixture, carrier: FakeCarrier, root: Root
    ) -> None:
        account_id = await managed_account(client, org)
        for organization_id, is_managed in ((org.id, False), (other_org.id, True)):
            with pytest.raises(IntegrityError):
                async with root.db.transaction() as session:
                    await session.execute(
                        text(
                            "INSERT INTO phone_numbers (organization_id, telephony_configuration_id, address,"
                            " address_normalized, address_type, is_managed)"
                            " VALUES (:org, :account, :line, :line, 'pstn', :managed)"
                        ),
                        {"org": organization_id, "account": account_id, "line": OPERATORS_LINE, "managed": is_managed},
                    )


async def test_nor_where_the_sandbox_is_the_platforms_carrier(
    client: AsyncClient, org: OrgFixture, agent: Agent
) -> None:
    taken = await add_number(client, org, await managed_account(client, org), OPERATORS_LINE, agent)
    assert (taken.status_code, taken.json()["code"]) == (409, "managed_configuration")


async def test_an_agent_answers_only_a_number_of_the_account(
    account: Account, client: AsyncClient, org: OrgFixture, agent: Agent, fakecom: FakeCarrier
) -> None:
    for query in ("", "?verify=false"):
        claimed = await add_number(client, org, account.id, OPERATORS_LINE, agent, query)
        assert (claimed.status_code, claimed.json()["code"]) == (400, "number_not_owned")
    noted = await add_number(client, org, account.id, OPERATORS_LINE, query="?verify=false")
    one = f"/organizations/telephony-configs/{account.id}/phone-numbers/{noted.json()['id']}"
    given = await client.put(one, json={"inbound_workflow_id": agent.id}, headers=org.owner_headers)
    assert (given.status_code, given.json()["code"]) == (400, "number_not_owned")
    fakecom.numbers.add(OPERATORS_LINE)
    given = await client.put(one, json={"inbound_workflow_id": agent.id}, headers=org.owner_headers)
    assert given.json()["provider_sync"]["ok"] is True


class TestAStrangerWhoEntersTheNameOfOurAccount:
    """With made-up secrets, and ``verify=false`` so that nobody asks the carrier."""

    @pytest.fixture
    async def theirs(self, client: AsyncClient, other_org: OrgFixture, fakecom: FakeCarrier) -> int:
        body = {"name": "Mine", "config": {"provider": NAME, "account": "acme", "token": "made-up"}}
        made = await client.post(
            "/organizations/telephony-configs?verify=false", json=body, headers=other_org.owner_headers
        )
        assert made.status_code == 200, made.text
        return int(made.json()["id"])

    async def test_does_not_block_our_next_number(
        self,
        account: Account,
        theirs: int,
        client: AsyncClient,
        org: OrgFixture,
        other_org: OrgFixture,
        agent: Agent,
        fakecom: FakeCarrier,
    ) -> None:
        fakecom.numbers.add(OPERATORS_LINE)
        await add_number(client, other_org, theirs, OPERATORS_LINE, query="?verify=false")
        ours = await add_number(client, org, account.id, OPERATORS_LINE, agent)
        assert ours.status_code == 200, ours.text

    async def test_cannot_give_a_number_an_agent(
        self, theirs: int, client: AsyncClient, other_org: OrgFixture, make_agent: MakeAgent, fakecom: FakeCarrier
    ) -> None:
        fakecom.numbers.add(OPERATORS_LINE)
        fakecom.refuses["check"] = CarrierFailed("carrier_unauthorized", "No such account.", retryable=False)
        agent = await make_agent(other_org, "theirs")
        taken = await add_number(client, other_org, theirs, OPERATORS_LINE, agent, "?verify=false")
        assert (taken.status_code, taken.json()["code"]) == (422, "credentials_refused")
        fakecom.refuses.clear()
        assert (await add_number(client, other_org, theirs, OPERATORS_LINE, agent)).status_code == 200

    async def test_receives_no_calls_even_with_our_public_key(
        self,
        client: AsyncClient,
        other_org: OrgFixture,
        make_agent: MakeAgent,
        fakecom: FakeCarrier,
        root: Root,
    ) -> None:
        agent = await make_agent(other_org, "theirs")
        squatter = await make_account(root, client, fakecom, other_org, agent.id, is_verified=False)
        assert spoken(await squatter.calls_in()) == "We are sorry, this number is not in service."
        assert await squatter.runs() == []

    async def test_loses_its_claim_with_another_name(
        self, client: AsyncClient, other_org: OrgFixture, make_agent: MakeAgent, fakecom: FakeCarrier, root: Root
    ) -> None:
        agent = await make_agent(other_org, "theirs")
        own = await make_account(root, client, fakecom, other_org, agent.id, reference="own")
        config = {"provider": NAME, "account": "acme", "token": TOKEN}
        await client.put(
            f"/organizations/telephony-configs/{own.id}?verify=false",
            json={"config": config},
            headers=other_org.owner_headers,
        )
        own.reference = "acme"
        assert spoken(await own.calls_in(to=OURS)) == "We are sorry, this number is not in service."
