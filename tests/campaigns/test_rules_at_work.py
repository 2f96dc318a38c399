"""The rules as the engine applies them on PostgreSQL: who is called, who is not, and what the campaign says of it."""

import asyncio
from collections import Counter
from datetime import timedelta

import pytest
from sqlalchemy import func, select, text

from offhook.campaigns import CampaignEngine, CampaignService, CampaignServices
from offhook.campaigns.reports.progress_streams import ProgressStreams
from offhook.campaigns.rules.hours import WEEKDAYS
from offhook.campaigns.schemas import ProgressRecord
from offhook.campaigns.tables import Campaign, Contact
from offhook.nodes.node_beat import NodeBeat
from offhook.nodes.server_description import describe_server
from offhook.root import Root
from offhook.runs import ClusterRoom
from offhook.runs.tables import Run
from offhook.telephony.providers.sandbox.tables import SandboxCall
from tests.campaigns.conftest import MakeCampaign, instant_sandbox
from tests.campaigns.desk import Desk, numbers
from tests.campaigns.test_engine import rows, until_over
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow


async def said(root: Root, campaign: Campaign) -> str:
    async with root.db.transaction() as session:
        return (await session.get_one(Campaign, campaign.id)).failure_reason or ""


@pytest.mark.slow
async def test_who_may_not_be_called_is_not_and_it_says_why(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign, desk: Desk
) -> None:
    await instant_sandbox(root, org.id)
    listed = {"phone_numbers": ["+14152000001"]}
    answer = await desk.client.post("/organizations/do-not-call", json=listed, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    contacts = ["+14152000000", "+14152000001", "+19005550123", "+4721000000", "+1415"]
    campaign = await make_campaign(contacts=contacts, destinations={"countries": ["US"]})
    await campaigns.start(org.id, campaign.id)
    reached = await until_over(root, campaign)
    found = {one.phone_number: (one.outcome, one.dials) for one in await rows(root, select(Contact))}
    assert found == {
        "+14152000000": ("answered", 1),
        "+14152000001": ("do_not_call", 0),
        "+19005550123": ("failed", 0),  # premium
        "+4721000000": ("failed", 0),  # Norway
        "+1415": ("invalid_number", 0),
    }
    reasons = {one.phone_number: one.reason for one in await rows(root, select(Contact))}
    assert (reasons["+19005550123"], reasons["+4721000000"]) == ("destination_blocked", "destination_blocked")
    assert [call.to_number for call in await rows(root, select(SandboxCall))] == ["+14152000000"]
    assert (reached.dialed, reached.completed, reached.outcomes["do_not_call"]) == (1, 5, 1)


async def test_it_must_be_open_where_the_phone_is_too(
    root: Root,
    org: OrgFixture,
    campaigns: CampaignService,
    make_campaign: MakeCampaign,
    desk: Desk,
    engine: CampaignEngine,
) -> None:
    """Iceland is on UTC all year, California seven or eight hours behind; it is open from now on for ten hours."""
    await instant_sandbox(root, org.id)
    begin, end = (root.clock.now() + timedelta(minutes=by) for by in (-30, 600))
    slot = {"day": WEEKDAYS[begin.weekday()], "start": f"{begin:%H:%M}", "end": f"{end:%H:%M}"}
    campaign = await make_campaign(
        contacts=["+3545510000", "+14152000000"],
        calling_hours={"timezone": "UTC", "slots": [slot], "in_callee_zone": True},
    )
    await campaigns.start(org.id, campaign.id)
    await engine.run_dial_pass(org.id)
    assert [call.to_number for call in await rows(root, select(SandboxCall))] == ["+3545510000"]
    (held,) = await rows(root, select(Contact).where(Contact.phone_number == "+14152000000"))
    assert (held.state, held.hold) == ("pending", "outside_callee_hours")
    assert held.due_at > root.clock.now() + timedelta(hours=5)
    why = await desk.get(f"/{campaign.id}/contacts/{held.id}/why-not-now")
    assert (why["can_be_called"], why["rule"]) == (False, "outside_callee_hours")


async def test_a_holiday_is_closed_and_the_answer_says_until_when(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign, desk: Desk
) -> None:
    await instant_sandbox(root, org.id)
    today = root.clock.now().date()
    around_the_clock = [{"day": day, "start": "00:00", "end": "00:00"} for day in WEEKDAYS]
    holidays = [(today + timedelta(days=n)).isoformat() for n in range(2)]
    hours = {"timezone": "UTC", "slots": around_the_clock, "holidays": holidays}
    campaign = await make_campaign(contacts=1, calling_hours=hours)
    await campaigns.start(org.id, campaign.id)
    assert await root.get(CampaignServices).engine.run_dial_pass(org.id) == 0
    shown = await desk.get(f"/{campaign.id}")
    assert (shown["status"], shown["next_open_at"][:10]) == ("running", (today + timedelta(days=2)).isoformat())
    (call_back,) = await rows(
        root,
        text("SELECT min(execute_after) FROM pgqueuer WHERE entrypoint = 'campaign.dial' AND execute_after > now()"),
    )
    assert call_back is not None, "nobody comes back when it opens"


async def test_calls_that_fail_pause_the_campaign(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    """The carrier takes no call: its account is misconfigured."""
    await instant_sandbox(root, org.id, mix={"talks": 0})
    campaign = await make_campaign(
        contacts=30, max_concurrency=5, circuit_breaker={"enabled": True, "min_calls_in_window": 5}
    )
    await campaigns.start(org.id, campaign.id)
    reached = await until_over(root, campaign, status="paused")
    assert (await said(root, campaign)).startswith("circuit_breaker: ")
    assert 5 <= reached.outcomes["failed"] < 30
    assert await rows(root, select(SandboxCall)) == []


async def test_a_campaign_that_has_cost_what_it_may_pauses(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign, engine: CampaignEngine
) -> None:
    await instant_sandbox(root, org.id)
    campaign = await make_campaign(contacts=10, max_concurrency=1, spend_cap_cents=10)
    await campaigns.start(org.id, campaign.id)
    assert await engine.run_dial_pass(org.id) == 1
    await until_over_runs(root)
    async with root.db.transaction() as session:
        await session.execute(text("UPDATE run_usage SET cost_cents = 11"))
    await until_over(root, campaign, status="paused")
    assert (await said(root, campaign)).startswith("spend_cap: ")
    assert len(await rows(root, select(SandboxCall))) == 1


async def until_over_runs(root: Root) -> None:
    async with asyncio.timeout(60):
        while await rows(root, select(Run.id).where(Run.ended_at.is_(None))):
            await asyncio.sleep(0.02)


async def test_an_account_takes_so_many_calls_a_second(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    """Two campaigns of one account share its bucket: what one takes the other does not get."""
    await instant_sandbox(root, org.id, calls_per_second=3, instant_call_s=300)
    for first in (0, 50):
        campaign = await make_campaign(contacts=numbers(20, first=first))
        await campaigns.start(org.id, campaign.id)
    reserved = await root.get(CampaignServices).engine.dialer.reserve_calls(org.id)
    assert len(reserved.placings) == 3


async def test_free_slots_go_to_whoever_has_the_fewest_calls(
    root: Root,
    org: OrgFixture,
    other_org: OrgFixture,
    campaigns: CampaignService,
    make_campaign: MakeCampaign,
    make_workflow: MakeWorkflow,
) -> None:
    """A big campaign came first and has all it may; a small one that comes later gets half of what becomes free, and
    another organization's does not wait at all."""
    await instant_sandbox(root, org.id)
    await instant_sandbox(root, other_org.id)
    big = await make_campaign(contacts=50, max_concurrency=50)
    small = await make_campaign(contacts=numbers(5, first=100), max_concurrency=50)
    theirs = await make_campaign(
        contacts=numbers(3, first=200), organization_id=other_org.id, workflow_id=await make_workflow(other_org.id)
    )
    dialing = root.get(CampaignServices).engine.dialer
    await campaigns.start(org.id, big.id)
    assert len((await dialing.reserve_calls(org.id)).placings) == 10  # the organization's limit
    await campaigns.start(org.id, small.id)
    await campaigns.start(other_org.id, theirs.id)
    assert len((await dialing.reserve_calls(org.id)).placings) == 0
    assert len((await dialing.reserve_calls(other_org.id)).placings) == 3
    async with root.db.transaction() as session:
        await session.execute(text("UPDATE organizations SET concurrency_limit = 14 WHERE id = :id"), {"id": org.id})
    assert len((await dialing.reserve_calls(org.id)).placings) == 4
    async with root.db.transaction() as session:
        counted = await session.execute(
            select(Run.campaign_id, func.count()).where(Run.organization_id == org.id).group_by(Run.campaign_id)
        )
        assert Counter({row[0]: row[1] for row in counted}) == {big.id: 10, small.id: 4}


@pytest.mark.slow
async def test_progress_is_told_as_it_happens(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    await instant_sandbox(root, org.id)
    campaign = await make_campaign(contacts=12, max_concurrency=2)
    streams = ProgressStreams(root.db, root.get(CampaignServices).presenter, every_s=0.0)
    told: list[list[ProgressRecord]] = [[], []]

    async def watch(mine: list[ProgressRecord]) -> None:
        async for record in streams.follow(org.id, campaign.id):
            mine += [record] if record is not None else []

    watching = asyncio.gather(*[watch(mine) for mine in told])
    async with asyncio.timeout(60):
        while not all(told):
            await asyncio.sleep(0.01)
    await campaigns.start(org.id, campaign.id)
    await until_over(root, campaign)
    async with asyncio.timeout(60):
        await watching
    for mine in told:
        completed = [record.completed for record in mine]
        assert completed == sorted(completed)
        assert (mine[0].status, completed[0]) == ("draft", 0)
        assert (mine[-1].status, completed[-1]) == ("completed", 12)


async def test_a_full_cluster_slows_dialing_down_and_fails_nobody(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    object.__setattr__(root.settings, "max_calls_per_process", 2)
    beat = NodeBeat(root, describe_server(root.settings), on_beat=root.get(ClusterRoom).read)
    await instant_sandbox(root, org.id)
    campaign = await make_campaign(contacts=5)
    await campaigns.start(org.id, campaign.id)
    dialing = root.get(CampaignServices).engine.dialer
    await beat.beat()
    await beat.beat()
    assert len((await dialing.reserve_calls(org.id)).placings) == 2
    assert (await dialing.reserve_calls(org.id)).placings == []
    async with root.db.transaction() as session:
        waiting = list(await session.scalars(select(Contact.id).where(Contact.state == "pending")))
    assert len(waiting) == 3
    held = await campaigns.why_not_now(org.id, campaign.id, waiting[0])
    assert (held.rule, held.can_be_called) == ("cluster_full", False)
    async with root.db.transaction() as session:
        await session.execute(text("UPDATE runs SET status = 'completed' WHERE id = (SELECT min(id) FROM runs)"))
    assert len((await dialing.reserve_calls(org.id)).placings) == 1
    await root.drain()
    await beat.beat()
    async with root.db.transaction() as session:
        await session.execute(text("UPDATE runs SET status = 'completed'"))
    assert (await dialing.reserve_calls(org.id)).placings == [], "nobody would answer those who pick up"
