"""Contacts of finished campaigns lose their numbers and variables; what became of them stays."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import select, update

from offhook.campaigns import CampaignService
from offhook.campaigns.deletion import CampaignEraser
from offhook.campaigns.tables import Attempt, Campaign, Contact
from offhook.orgs.tables import StoredPrivacySettings
from offhook.privacy.retention.sweep import RETENTION_JOB
from offhook.root import Root
from offhook.runs import RunServices
from tests.campaigns.conftest import MakeCampaign, instant_sandbox
from tests.campaigns.desk import Desk
from tests.campaigns.test_deletion import called, count_rows, told
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import find_in_files, find_in_tables
from tests.privacy.test_organization_deletion import DyingDatabase, Killed

DAY = timedelta(days=1)


async def keep_for(root: Root, org: OrgFixture, days: int) -> None:
    async with root.db.transaction() as session:
        session.add(StoredPrivacySettings(organization_id=org.id, contacts_days=days))


async def set_end(root: Root, campaign_id: int, days_ago: float, status: str = "completed") -> None:
    async with root.db.transaction() as session:
        values = {"status": status, "completed_at": root.clock.now() - DAY * days_ago}
        await session.execute(update(Campaign).where(Campaign.id == campaign_id).values(values))


async def list_numbers(root: Root, campaign_id: int) -> list[str]:
    async with root.db.transaction() as session:
        rows = select(Contact.phone_number).where(Contact.campaign_id == campaign_id).order_by(Contact.id)
        return list(await session.scalars(rows))


async def sweep(root: Root) -> None:
    await root.jobs.handlers[RETENTION_JOB]({})


async def test_counts_and_report_stay(root: Root, org: OrgFixture, desk: Desk, campaigns: CampaignService) -> None:
    await instant_sandbox(root, org.id, mix={"busy": 1})
    campaign = await called(root, org, desk, campaigns, retry_config={"max_retries": 0})
    path = f"/{campaign.id}"
    report = await desk.report(campaign.id)
    await keep_for(root, org, 30)
    await set_end(root, campaign.id, 29)
    await sweep(root)
    assert find_in_files(root) != []
    await set_end(root, campaign.id, 31)
    before = await desk.get(path)
    for _ in range(2):
        await sweep(root)
        after = await desk.get(path)
        assert after["progress"] == before["progress"]
        assert find_in_files(root) == []
        assert not {table for table in await find_in_tables(root) if table.startswith("campaign")}
    (contact,) = (await desk.get(f"{path}/contacts"))["contacts"]
    assert contact["phone_number"] == f"removed:{contact['id']}"
    (row,) = await desk.report(campaign.id)
    same = [name for name in row if name != "phone_number"]
    assert [row[name] for name in same] == [report[0][name] for name in same]
    assert (await desk.ask("GET", f"{path}/source-download-url")).status_code == 404
    again = await desk.ask("POST", f"{path}/redial", json={"name": "Again", "redial_statuses": ["busy"]})
    assert told(again) == (422, "nothing_to_redial")


@pytest.mark.parametrize("status", ["draft", "running", "paused"])
async def test_campaigns_that_are_not_over_keep_theirs(root: Root, org: OrgFixture, desk: Desk, status: str) -> None:
    campaign = await desk.made()
    await keep_for(root, org, 1)
    await set_end(root, campaign["id"], 100, status)
    await sweep(root)
    assert all(number.startswith("+") for number in await list_numbers(root, campaign["id"]))


async def test_calls_in_progress_are_waited_for(root: Root, org: OrgFixture, desk: Desk) -> None:
    campaign = await desk.made()
    await keep_for(root, org, 1)
    await set_end(root, campaign["id"], 100, "failed")
    now = root.clock.now()
    async with root.db.transaction() as session:
        values: dict[str, Any] = {"organization_id": org.id, "campaign_id": campaign["id"], "number": 1}
        contact_id = await session.scalar(select(Contact.id).limit(1))
        session.add(
            Attempt(**values, contact_id=contact_id, state="placed", reserved_at=now, may_dial_until=now, check_at=now)
        )
    await sweep(root)
    assert (await list_numbers(root, campaign["id"]))[0].startswith("+")
    async with root.db.transaction() as session:
        await session.execute(update(Attempt).values(state="final"))
    await sweep(root)
    assert all(number.startswith("removed:") for number in await list_numbers(root, campaign["id"]))


async def test_others_keep_theirs(root: Root, org: OrgFixture, other_org: OrgFixture, other_desk: Desk) -> None:
    campaign = await other_desk.made()
    await keep_for(root, org, 1)
    await set_end(root, campaign["id"], 100)
    await sweep(root)
    assert (await list_numbers(root, campaign["id"]))[0].startswith("+")


async def test_a_killed_sweep_is_gone_on_with(root: Root, org: OrgFixture, make_campaign: MakeCampaign) -> None:
    campaign = await make_campaign(contacts=7)
    await set_end(root, campaign.id, 100)
    deaths = 0
    while True:
        database = DyingDatabase(root.db.url, lives=deaths)
        eraser = CampaignEraser(database, root.storage, root.clock, root.get(RunServices).eraser)
        try:
            await eraser.remove_old_contacts(org.id, root.clock.now() - DAY, batch=2)
            break
        except Killed:
            deaths += 1
        finally:
            await database.dispose()
    assert deaths >= 3
    numbers = await list_numbers(root, campaign.id)
    assert (len(numbers), await count_rows(root, Contact)) == (7, 7)
    assert all(number.startswith("removed:") for number in numbers)
    async with root.db.transaction() as session:
        assert (await session.get_one(Campaign, campaign.id)).contacts_removed_at is not None
