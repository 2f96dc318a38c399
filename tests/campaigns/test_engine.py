"""The engine on PostgreSQL with the sandbox's phones: lists are called to their end under every rule."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from sqlalchemy import select, text

from offhook.campaigns import CampaignService, CampaignServices
from offhook.campaigns.engine.engine import MAX_UNFINISHED_PASSES
from offhook.campaigns.reports.progress import CampaignProgress, load_progress
from offhook.campaigns.tables import Attempt, Campaign, Contact
from offhook.jobs.worker import run_worker
from offhook.root import Root
from offhook.runs.tables import Run
from offhook.telephony.providers.sandbox.tables import SandboxCall
from tests.campaigns.conftest import MakeCampaign, instant_sandbox
from tests.fixtures_orgs import OrgFixture


async def until_over(root: Root, campaign: Campaign, *, status: str = "completed") -> CampaignProgress:
    """Run a worker in this process until the campaign has this status."""
    stop = asyncio.Event()
    worker = asyncio.create_task(run_worker(root.db, root.jobs, stop))
    try:
        async with asyncio.timeout(60):
            while True:
                async with root.db.transaction() as session:
                    found = await session.get(Campaign, campaign.id)
                    assert found is not None
                    if found.status == status:
                        return await load_progress(session, campaign.organization_id, campaign.id)
                await asyncio.sleep(0.05)
    finally:
        stop.set()
        await worker


async def rows(root: Root, query: Any) -> list[Any]:
    async with root.db.transaction() as session:
        return list((await session.execute(query)).scalars())


async def test_every_contact_is_called_once_and_the_campaign_ends(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    await instant_sandbox(root, org.id)
    campaign = await make_campaign(contacts=25, max_concurrency=5)
    await campaigns.start(org.id, campaign.id)
    reached = await until_over(root, campaign)
    assert (reached.total_contacts, reached.answered, reached.completed, reached.dialed) == (25, 25, 25, 25)
    async with root.db.transaction() as session:
        seen = (await session.execute(text("SELECT to_number FROM sandbox_calls"))).scalars().all()
    assert Counter(seen) == Counter(contact.phone_number for contact in await rows(root, select(Contact)))
    assert all(attempt.state == "final" for attempt in await rows(root, select(Attempt)))


@pytest.mark.slow
async def test_who_was_not_reached_is_called_again_as_often_as_is_wished(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    await instant_sandbox(root, org.id, mix={"busy": 1})
    campaign = await make_campaign(contacts=2, retry_config={"max_retries": 2, "retry_delay_seconds": 0})
    await campaigns.start(org.id, campaign.id)
    reached = await until_over(root, campaign)
    assert (reached.failed, reached.outcomes) == (2, {"busy": 2})
    attempts = await rows(root, select(Attempt).order_by(Attempt.contact_id, Attempt.number))
    assert [(a.number, a.because) for a in attempts] == [(1, None), (2, "busy"), (3, "busy")] * 2


@pytest.mark.parametrize("verb", ["start", "resume"])
async def test_two_at_once_one_wins(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign, verb: str
) -> None:
    campaign = await make_campaign(contacts=1)
    if verb == "resume":
        await campaigns.start(org.id, campaign.id)
        await campaigns.pause(org.id, campaign.id)
    done = await asyncio.gather(
        *[getattr(campaigns, verb)(org.id, campaign.id) for _ in range(2)], return_exceptions=True
    )
    refused = [error for error in done if isinstance(error, Exception)]
    assert [getattr(error, "code", error) for error in refused] == [
        {"start": "campaign_not_startable", "resume": "campaign_not_resumable"}[verb]
    ]


@pytest.mark.slow
async def test_no_dial_begins_after_a_pause_and_calls_go_on(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    await instant_sandbox(root, org.id, instant_call_s=0.2)
    campaign = await make_campaign(contacts=40, max_concurrency=5)
    await campaigns.start(org.id, campaign.id)
    stop = asyncio.Event()
    worker = asyncio.create_task(run_worker(root.db, root.jobs, stop))
    try:
        await until(lambda: rows(root, select(SandboxCall)), lambda calls: len(calls) >= 8)
        await campaigns.pause(org.id, campaign.id)
        dialed = len(await rows(root, select(SandboxCall)))
        await until(
            lambda: rows(root, select(Attempt).where(Attempt.state != "final")), lambda open_ones: not open_ones
        )
    finally:
        stop.set()
        await worker
    assert len(await rows(root, select(SandboxCall))) == dialed < 40
    assert {run.status for run in await rows(root, select(Run))} == {"completed"}
    await campaigns.resume(org.id, campaign.id)
    reached = await until_over(root, campaign)
    assert (reached.answered, len(await rows(root, select(SandboxCall)))) == (40, 40)


async def until(ask: Callable[[], Awaitable[list[Any]]], holds: Callable[[list[Any]], bool]) -> None:
    async with asyncio.timeout(60):
        while not holds(await ask()):
            await asyncio.sleep(0.02)


async def test_a_job_that_kills_its_workers_pauses_the_campaign(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign
) -> None:
    await instant_sandbox(root, org.id)
    campaign = await make_campaign(contacts=1)
    await campaigns.start(org.id, campaign.id)
    engine = root.get(CampaignServices).engine
    # As its worker leaves it when it dies in the middle: begun, and not ended.
    for _ in range(MAX_UNFINISHED_PASSES):
        assert await engine.begin_job(org.id)
    reached = await until_over(root, campaign, status="paused")
    assert reached.dialed == 0
    async with root.db.transaction() as session:
        found = await session.get_one(Campaign, campaign.id)
        assert (found.failure_reason or "").startswith("worker_lost: ")
    await campaigns.resume(org.id, campaign.id)
    assert (await until_over(root, campaign)).answered == 1


async def test_jobs_that_end_are_not_counted_against_a_campaign(root: Root, org: OrgFixture) -> None:
    engine = root.get(CampaignServices).engine
    for _ in range(2 * MAX_UNFINISHED_PASSES):
        assert await engine.begin_job(org.id)
        await engine.end_job(org.id)
