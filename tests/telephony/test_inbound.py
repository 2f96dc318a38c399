"""Calls that come in: to their agent once, or refused in a sentence, with the reason kept."""

import asyncio
import json
from collections.abc import Awaitable, Callable

import pytest
from httpx2 import AsyncClient
from sqlalchemy import make_url, select, text, update

from offhook.kit.database.connection_shares import MAX_OF_ONE_ORGANIZATION
from offhook.nodes.node_beat import NodeBeat
from offhook.nodes.server_description import describe_server
from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.runs import ClusterRoom, RunServices
from offhook.telephony.ports import CarrierFailed
from offhook.telephony.services import TelephonyServices
from offhook.telephony.webhooks.rejections import JOB
from tests.fakes.carrier import FakeCarrier
from tests.fakes.clock import ShiftedClock
from tests.fixtures_orgs import OrgFixture
from tests.telephony.conftest import MakeAgent
from tests.telephony.fakecom import THEIRS, TOKEN, Account, make_account, spoken
from tests.usage.test_enforcement import enforce

MakeTheirs = Callable[..., Awaitable[Account]]


@pytest.fixture
def make_theirs(
    root: Root, client: AsyncClient, fakecom: FakeCarrier, other_org: OrgFixture, make_agent: MakeAgent
) -> MakeTheirs:
    """Makes the account of another organization, with a number of its own."""

    async def make(token: str = TOKEN, reference: str = "acme") -> Account:
        agent = await make_agent(other_org, "x")
        number = "+12015550160"
        return await make_account(
            root, client, fakecom, other_org, agent.id, token=token, reference=reference, number=number
        )

    return make


async def test_a_call_reaches_the_number_s_agent_once(account: Account) -> None:
    first = await account.calls_in("IN1")
    assert first.status_code == 200
    (run,) = await account.runs()
    assert first.json()["connect"].startswith(f"ws://testserver/api/v1/telephony/media/fakecom/{run['id']}/")
    assert (run["direction"], run["caller_number"], run["called_number"]) == ("inbound", THEIRS, "+12015550150")
    assert (run["call_id"], run["status"]) == ("IN1", "initiated")
    again = await account.calls_in("IN1")
    assert again.content == first.content
    assert len(await account.runs()) == 1


async def test_numbers_as_carriers_write_them(account: Account) -> None:
    for index, to in enumerate(
        ("12015550150", "2015550150", "+1 (201) 555-0150", "0012015550150", "sip:+12015550150@x.example")
    ):
        assert "connect" in (await account.calls_in(f"IN{index}", to=to)).json(), to


async def test_refusals_are_spoken_and_kept(account: Account, root: Root, make_agent: MakeAgent) -> None:
    unknown = await account.calls_in("R1", to="+12015550151")
    assert "not in service" in spoken(unknown)
    assert spoken(await account.calls_in("R1", to="+12015550151")) == spoken(unknown)
    draft = await make_agent(account.org, "draft", is_published=False)
    assert "not available yet" in spoken(await account.calls_in("R2", path=f"/inbound/{draft.id}"))
    async with root.db.transaction() as session:
        await session.execute(update(Organization).values(concurrency_limit=1))
    assert "connect" in (await account.calls_in("R3")).json()
    assert "lines are busy" in spoken(await account.calls_in("R4"))
    caller = account.org
    await account.client.put(
        f"/workflow/{account.workflow_id}/status", json={"status": "archived"}, headers=caller.owner_headers
    )
    assert "no longer available" in spoken(await account.calls_in("R5"))
    refused = [(row["call_id"], row["reason"]) for row in await account.refusals()]
    assert refused == [
        ("R5", "workflow_archived"),
        ("R4", "concurrent_call_limit"),
        ("R2", "workflow_not_published"),
        ("R1", "phone_number_not_configured"),
    ]


async def test_a_full_cluster_answers_nobody(account: Account, root: Root) -> None:
    object.__setattr__(root.settings, "max_calls_per_process", 1)
    room = root.get(ClusterRoom)
    beat = NodeBeat(root, describe_server(root.settings), on_beat=room.read)
    await beat.beat()
    await beat.beat()
    assert "connect" in (await account.calls_in("F1")).json()
    assert "lines are busy" in spoken(await account.calls_in("F2"))
    account.carrier.rejects = True
    for _ in range(2):  # a carrier that asks again hears the same
        assert (await account.calls_in("F3")).json() == {"reject": "busy"}
    account.carrier.refuses["reject"] = CarrierFailed("carrier_failed", "down", retryable=True)
    assert "lines are busy" in spoken(await account.calls_in("F4")), "the last resort is a sentence"
    assert len(await account.runs()) == 1
    assert {row["reason"] for row in await account.refusals()} == {"cluster_full"}


async def test_an_answer_names_the_process_that_has_room(account: Account, root: Root) -> None:
    object.__setattr__(root.settings, "node_public_url", "https://node7.example")
    beat = NodeBeat(root, describe_server(root.settings), on_beat=root.get(ClusterRoom).read)
    await beat.beat()
    await beat.beat()
    connect = (await account.calls_in("N1")).json()["connect"]
    assert connect.startswith("wss://node7.example/api/v1/telephony/media/fakecom/")


async def test_calls_that_wait_for_their_organization_leave_others_their_connections(
    account: Account, root: Root, make_theirs: MakeTheirs
) -> None:
    theirs = await make_theirs(token="theirs", reference="theirs")
    async with asyncio.timeout(60):
        async with root.db.transaction() as holder:
            lock = select(Organization.id).where(Organization.id == account.org.id).with_for_update()
            await holder.execute(lock)
            waiting = [asyncio.create_task(account.calls_in(f"W{index}")) for index in range(40)]
            while root.db.count_used_connections() < MAX_OF_ONE_ORGANIZATION + 1:
                await asyncio.sleep(0.01)
            assert "connect" in (await theirs.calls_in("IN1", to="+12015550160")).json()
            assert not any(call.done() for call in waiting)
        answers = await asyncio.gather(*waiting)
    assert {answer.status_code for answer in answers} == {200}


async def test_an_empty_balance(account: Account, root: Root) -> None:
    await enforce(root, account.org.id)
    assert "not available right now" in spoken(await account.calls_in("B1"))
    assert [row["reason"] for row in await account.refusals()] == ["out_of_credit"]


async def test_what_a_stranger_sends_creates_nothing(account: Account, client: AsyncClient) -> None:
    assert (await account.calls_in("S1", token="wrong")).status_code == 401
    assert (await client.post("/telephony/inbound/run", json={"CallSid": "CA1"})).status_code == 401
    assert (await client.post("/telephony/inbound/run", content=b"\x00\xff")).status_code == 401
    nobody = {"account": "nobody", "direction": "inbound", "call_id": "S1", "to": "+12015550150"}
    assert (await account.says("/inbound/run", nobody)).status_code == 401
    assert (await account.says("/inbound/run", {"account": "acme", "direction": "inbound"})).status_code == 422
    assert await account.runs() == []
    assert await account.refusals() == []


async def test_another_organization_with_the_same_carrier_account(account: Account, make_theirs: MakeTheirs) -> None:
    theirs = await make_theirs()
    assert "connect" in (await theirs.calls_in("IN1", to="+12015550160")).json()
    assert await account.runs() == []
    assert len(await theirs.runs()) == 1


async def test_a_report_that_is_no_call_is_followed_up(account: Account) -> None:
    answer = await account.says("/inbound/run", {"account": "acme", "event": "spoken"}, nonce="f1")
    assert answer.json() == {"status": "ignored"}
    await account.says("/inbound/run", {"account": "acme", "event": "spoken"}, nonce="f1")
    assert [one["report"]["event"] for one in account.carrier.asked_for("follow_up")] == ["spoken"]


async def test_a_carrier_that_does_not_connect(account: Account) -> None:
    account.carrier.refuses["connect"] = CarrierFailed("carrier_unreachable", "It is away.", retryable=True)
    assert "not available right now" in spoken(await account.calls_in())
    (run,) = await account.runs()
    assert (run["status"], run["end_reason"]) == ("failed", "carrier_unreachable")


async def test_a_refused_caller_does_not_stay(account: Account, root: Root) -> None:
    """Where refusing takes requests, the carrier's word that it was spoken may be lost."""
    await account.calls_in("R9", to="+12015559999")
    async with root.db.transaction() as session:
        waiting = (
            await session.execute(text("SELECT payload FROM pgqueuer WHERE entrypoint = :job"), {"job": JOB})
        ).all()
    (payload,) = [json.loads(row.payload) for row in waiting]
    refusals = root.get(TelephonyServices).refusals
    await refusals.end_refused_call(payload)
    assert account.carrier.hung_up == ["R9"]
    account.carrier.refuses["hang_up"] = CarrierFailed("carrier_unreachable", "Away.", retryable=True)
    with pytest.raises(CarrierFailed):
        await refusals.end_refused_call(payload)
    await refusals.end_refused_call(payload | {"configuration_id": 999999})


async def test_without_the_database(account: Account, root: Root) -> None:
    assert "connect" in (await account.calls_in("IN0")).json()
    await root.db.dispose()
    broken = make_url(root.db.url).set(port=1, host="127.0.0.1", query={})
    root.db.__init__(broken.render_as_string(hide_password=False))  # type: ignore[misc]  # the same object, a dead address
    fallback = await account.calls_in(path="/inbound/fallback")
    assert (fallback.status_code, "not available" in spoken(fallback)) == (200, True)
    assert "not available" in spoken(await account.calls_in())
    asked = [one["call_id"] for one in account.carrier.asked_for("refuse")]
    assert asked == ["IN1", "IN1"], "with the account that called before"
    assert "not available" in spoken(await account.calls_in("S1", token="wrong"))
    assert len(account.carrier.asked_for("refuse")) == 2, "a stranger makes us ask for nothing"


async def test_a_call_whose_media_never_comes(account: Account, root: Root, shifted_clock: ShiftedClock) -> None:
    await account.calls_in("IN1")
    sweep = root.get(TelephonyServices).no_media
    assert await sweep.end_calls() == []
    shifted_clock.advance(seconds=61)
    (run,) = await account.runs()
    assert await sweep.end_calls() == [run["id"]]
    assert account.carrier.hung_up == ["IN1"]
    assert (await account.run(run["id"])).end_reason == "media_never_came"
    assert root.get(RunServices).live.active_calls == 0
