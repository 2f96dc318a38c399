"""The call policy holds for every call: single ones, triggers, transfers, campaigns, and those that come in."""

import pytest
from httpx2 import AsyncClient

from offhook.root import Root
from offhook.runs import RunServices
from offhook.runs.live.call_tools import TransferRefused
from tests.fixtures_orgs import OrgFixture
from tests.telephony.conftest import Agent, NotedCarrier
from tests.telephony.fakecom import THEIRS, Account, spoken

# All of them were dialed in the review of November 2026.
CLOSED = ("+19005550123", "+41900123456", "+19765550123", "+88213300123456", "+881631512345", "+2392221234", "+5351234567", "+447011200123")  # fmt: skip


async def set_policy(client: AsyncClient, org: OrgFixture, **body: object) -> None:
    answer = await client.put("/organizations/call-policy", json=body, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text


@pytest.mark.parametrize("number", CLOSED)
async def test_single_calls_and_triggers(
    client: AsyncClient, org: OrgFixture, agent: Agent, carrier: NotedCarrier, number: str
) -> None:
    for path, body in (
        ("/telephony/initiate-call", {"workflow_id": agent.id, "phone_number": number}),
        (f"/public/agent/{agent.path}", {"phone_number": number}),
    ):
        refused = await client.post(path, json=body, headers=org.key_headers)
        assert (refused.status_code, refused.json()["code"]) == (409, "destination_blocked"), path
    assert carrier.dialed == []


async def test_countries_and_prices(client: AsyncClient, org: OrgFixture, agent: Agent, carrier: NotedCarrier) -> None:
    async def dial(number: str) -> int:
        body = {"workflow_id": agent.id, "phone_number": number}
        return (await client.post("/telephony/initiate-call", json=body, headers=org.key_headers)).status_code

    await set_policy(client, org, countries=["DE", "ST"])
    assert await dial("+12015550101") == 409
    assert await dial("+493012345678") == 200
    assert await dial("+2392221234") == 200, "a country that is named"
    await set_policy(client, org, allows_premium=True, allows_satellite=True, allows_high_risk=True)
    assert await dial("+881631512345") == 200
    price = {
        "kind": "carrier",
        "provider": "sandbox",
        "model": "outbound/DE",
        "minute": 0.05,
        "valid_from": "2026-01-01",
    }
    own = await client.put("/organizations/usage/prices", json=price, headers=org.owner_headers)
    assert own.status_code == 200, own.text
    await set_policy(client, org, max_cents_per_minute="4")
    assert await dial("+493012345678") == 409
    assert await dial("+12015550101") == 200, "no price is known"
    await set_policy(client, org, max_cents_per_minute="6")
    assert await dial("+493012345678") == 200


async def test_transfers(client: AsyncClient, account: Account, root: Root) -> None:
    transfers = root.get(RunServices).agents.tools.transfers
    assert transfers is not None
    run_id = await account.dial()
    for is_blind in (False, True):
        with pytest.raises(TransferRefused) as refused:
            await transfers.ring_destination(account.org.id, run_id, "+19005550123", 5, is_blind=is_blind)
        assert refused.value.reason == "destination_blocked"
    body = {"phone_number": "+12015550177"}
    await client.post("/organizations/do-not-call", json=body, headers=account.org.owner_headers)
    with pytest.raises(TransferRefused) as listed:
        await transfers.ring_destination(account.org.id, run_id, "+12015550177", 5)
    assert listed.value.reason == "do_not_call"
    assert account.carrier.asked_for("start") == account.carrier.asked_for("redirect") == []


async def test_callers_who_are_blocked_or_call_too_often(client: AsyncClient, account: Account) -> None:
    await set_policy(client, account.org, max_live_calls_per_caller=1, max_hourly_calls_per_caller=2)
    assert "connect" in (await account.calls_in("IN1")).json()
    assert "too often" in spoken(await account.calls_in("IN2"))
    await account.says(f"/fakecom/events/{(await account.runs())[0]['id']}", {"status": "completed", "call_id": "IN1"})
    assert "connect" in (await account.calls_in("IN3")).json()
    await set_policy(client, account.org, max_hourly_calls_per_caller=2)
    assert "too often" in spoken(await account.calls_in("IN4"))
    await set_policy(client, account.org)
    entry = {"phone_number": THEIRS}
    await client.post("/organizations/blocked-callers", json=entry, headers=account.org.owner_headers)
    assert "not available" in spoken(await account.calls_in("IN5"))
    assert [row["reason"] for row in await account.refusals()] == ["caller_blocked", "caller_limit", "caller_limit"]
