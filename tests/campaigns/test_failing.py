"""Campaigns whose handling raises every time: the others go on, and they are paused with a reason."""

from contextlib import nullcontext

import pytest
from sqlalchemy import text, update

from offhook.campaigns import CampaignEngine, CampaignService
from offhook.campaigns.engine.error_backoff import MAX_BACKOFF_S, MAX_CONSECUTIVE_ERRORS, ErrorBackoff
from offhook.campaigns.tables import Attempt, Campaign
from offhook.campaigns.tasks import DialJobs
from offhook.root import Root
from tests.campaigns.conftest import Later, MakeCampaign, instant_sandbox
from tests.campaigns.desk import numbers
from tests.fixtures_orgs import OrgFixture


async def poison(root: Root, campaign: Campaign) -> None:
    """What no endpoint takes, as a hand in the database or an older version may have left it."""
    async with root.db.transaction() as session:
        wrong = {"max_retries": "as many as it takes"}
        await session.execute(update(Campaign).where(Campaign.id == campaign.id).values(retry_config=wrong))


async def state(root: Root, campaign: Campaign) -> tuple[str, str]:
    async with root.db.transaction() as session:
        found = await session.get_one(Campaign, campaign.id)
        return found.status, (found.failure_reason or "").partition(":")[0]


async def dialed(root: Root) -> int:
    async with root.db.transaction() as session:
        return int((await session.execute(text("SELECT count(*) FROM sandbox_calls"))).scalar_one())


async def test_a_campaign_that_cannot_be_dialed_is_paused_and_the_others_go_on(
    root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign, engine: CampaignEngine
) -> None:
    await instant_sandbox(root, org.id)
    poisoned, fine = await make_campaign(contacts=2), await make_campaign(contacts=numbers(3, first=50))
    for campaign in (poisoned, fine):
        await campaigns.start(org.id, campaign.id)
    await poison(root, poisoned)
    jobs = DialJobs(engine)
    for count in range(1, MAX_CONSECUTIVE_ERRORS + 1):
        assert await state(root, poisoned) == ("running", "")
        # The job says that it failed as long as nobody knows whose fault it is, and is repeated for it.
        with pytest.raises(ValueError, match="as many") if count < MAX_CONSECUTIVE_ERRORS else nullcontext():
            await jobs.run_dial_job({"organization_id": org.id})
        assert await dialed(root) == 3
    assert await state(root, poisoned) == ("paused", "cannot_dial")
    assert (await state(root, fine))[0] in {"running", "completed"}


async def test_an_attempt_that_cannot_be_settled_pauses_its_campaign_and_the_others_are_looked_into(
    root: Root,
    org: OrgFixture,
    campaigns: CampaignService,
    make_campaign: MakeCampaign,
    engine: CampaignEngine,
    later: Later,
) -> None:
    await instant_sandbox(root, org.id)
    poisoned, fine = await make_campaign(contacts=2), await make_campaign(contacts=numbers(3, first=50))
    for campaign in (poisoned, fine):
        await campaigns.start(org.id, campaign.id)
    # As a process leaves it that dies between its commit and the carrier.
    assert len((await engine.dialer.reserve_calls(org.id)).placings) == 5
    await poison(root, poisoned)
    later.passed_s += 3600
    for _ in range(3):
        with pytest.raises(ValueError, match="as many"):
            await engine.tick()
        later.passed_s += 100
    assert await open_attempts(root, fine) == 0
    assert (await state(root, poisoned), await open_attempts(root, poisoned)) == (("running", ""), 2)
    for _ in range(2):
        with pytest.raises(ValueError, match="as many"):
            await engine.tick()
        later.passed_s += 100
    assert await state(root, poisoned) == ("paused", "cannot_settle")
    # Put off by then: the next tick does not even try.
    later.passed_s -= 99
    await engine.tick()


async def open_attempts(root: Root, campaign: Campaign) -> int:
    async with root.db.transaction() as session:
        rows = await session.execute(
            Attempt.__table__.select().where(Attempt.campaign_id == campaign.id, Attempt.state != "final")
        )
        return len(rows.all())


def test_who_fails_is_put_off_more_and_more() -> None:
    failing, now, waits = ErrorBackoff(), 0.0, []
    for count in range(1, 15):
        assert failing.record_failure("it", now) is (count >= MAX_CONSECUTIVE_ERRORS)
        waited = 0.0
        while failing.is_backing_off("it", now + waited):
            waited += 1
        now += waited
        waits.append(waited)
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (2.0, MAX_BACKOFF_S)
    failing.clear("it")
    assert not failing.is_backing_off("it", now)
    assert not failing.record_failure("it", now)
