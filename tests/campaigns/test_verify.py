"""``offhook campaign verify``: silent about what is right, and with evidence about everything that is not."""

from contextlib import suppress
from datetime import timedelta

import pytest
from sqlalchemy import text

from offhook.campaigns import CampaignService, service
from offhook.campaigns.reports.invariants import CampaignAudit, audit_campaign
from offhook.root import Root
from tests.campaigns.conftest import MakeCampaign, instant_sandbox
from tests.campaigns.test_engine import until_over
from tests.fixtures_orgs import OrgFixture


class _Undo(Exception):
    pass


class Done:
    """A campaign that was called to its end, whose rows a test may falsify for a moment."""

    def __init__(self, root: Root, campaign_id: int) -> None:
        self.root = root
        self.campaign_id = campaign_id

    async def audit(self, falsify: str | None = None, *, meanwhile: str | None = None) -> CampaignAudit:
        found: list[CampaignAudit] = []
        with suppress(_Undo):
            async with self.root.db.snapshot_transaction() as session:
                if falsify is not None:
                    await session.execute(text(falsify))
                if meanwhile is not None:
                    await session.execute(text("SELECT 1 FROM campaigns LIMIT 1"))
                    async with self.root.db.transaction() as another:
                        await another.execute(text(meanwhile))
                campaign = await service.get_any_campaign(session, self.campaign_id)
                found.append(await audit_campaign(session, campaign, self.root.clock.now() + timedelta(minutes=5)))
                raise _Undo
        return found[0]


@pytest.fixture
async def done(root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign) -> Done:
    await instant_sandbox(root, org.id, mix={"talks": 1, "busy": 1})
    days = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
    hours = {"timezone": "UTC", "slots": [{"day": day, "start": "00:00", "end": "00:00"} for day in days]}
    retries = {"max_retries": 1, "retry_delay_seconds": 0}
    campaign = await make_campaign(contacts=6, max_concurrency=3, calling_hours=hours, retry_config=retries)
    await campaigns.start(org.id, campaign.id)
    await until_over(root, campaign)
    return Done(root, campaign.id)


async def test_what_the_engine_did_holds(done: Done) -> None:
    found = await done.audit()
    assert found.violations == ()
    assert (found.status, found.contacts) == ("completed", 6)
    assert found.attempts >= 6


@pytest.mark.slow
async def test_a_campaign_that_goes_on_is_looked_at_as_it_was_at_one_moment(done: Done) -> None:
    dials = "UPDATE campaign_contacts SET dials = dials + 1"
    assert (await done.audit(meanwhile=dials)).violations == ()
    assert (await done.audit()).violations != ()


FALSE: dict[str, tuple[str, str]] = {
    "a contact without an outcome": (
        "UPDATE campaign_contacts SET outcome = NULL WHERE row_number = 1",
        "one final state per contact",
    ),
    "a contact that waits in a completed campaign": (
        "UPDATE campaign_contacts SET state = 'pending', outcome = NULL WHERE row_number = 1",
        "a completed campaign has no contacts left",
    ),
    "a dial that began before the last one ended": (
        "UPDATE campaign_attempts SET reserved_at = reserved_at - interval '1 hour' WHERE number = 2",
        "never two live dials to one contact",
    ),
    "a dial again without a reason": (
        "UPDATE campaign_attempts SET because = NULL WHERE number = 2",
        "no contact is dialed again without a reason",
    ),
    "an attempt that was lost": (
        "DELETE FROM campaign_attempts WHERE number = 1 AND contact_id IN (SELECT contact_id FROM campaign_attempts WHERE number = 2)",
        "attempts are numbered without a gap",
    ),
    "a dial that was not counted": (
        "UPDATE campaign_contacts SET dials = dials + 1",
        "dial counts match the attempts",
    ),
    "hours in which nobody was called": (
        'UPDATE campaigns SET calling_hours = \'{"timezone": "UTC", "slots": []}\'',
        "never outside calling hours",
    ),
    "more calls than are allowed": (
        (
            "UPDATE campaign_attempts SET reserved_at = (SELECT min(reserved_at) FROM campaign_attempts),"
            " ended_at = (SELECT max(ended_at) FROM campaign_attempts)"
        ),
        "never above the campaign's cap",
    ),
    "a slot that outlived its call": (
        "UPDATE campaign_attempts SET state = 'placed', ended_at = NULL WHERE number = 1",
        "no slot outlives its call",
    ),
    "a phone that rang twice": (
        (
            "INSERT INTO sandbox_calls (call_id, run_id, organization_id, to_number, process, status)"
            " SELECT call_id || 'x', run_id, organization_id, to_number, process, status FROM sandbox_calls"
        ),
        "the sandbox rang once for every dial",
    ),
    "an outcome that no call had": (
        "UPDATE campaign_contacts SET outcome = 'voicemail'",
        "how a contact ended is how its last attempt ended",
    ),
}


async def test_what_is_false_is_found(done: Done) -> None:
    for what, (statement, rule) in FALSE.items():
        found = await done.audit(statement)
        assert rule in {violation.rule for violation in found.violations}, what
