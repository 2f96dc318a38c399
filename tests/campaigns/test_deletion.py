"""Deleting campaigns and contact lists: who may, what is refused, and what is left."""

from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, update

from offhook.campaigns import CampaignService
from offhook.campaigns.deletion import CONTACT_BATCH
from offhook.campaigns.tables import Attempt, Campaign, Contact
from offhook.orgs.tables import AuditEntry
from offhook.root import Root
from offhook.runs.tables import Run
from tests.campaigns.conftest import MakeCampaign, instant_sandbox
from tests.campaigns.desk import Desk
from tests.campaigns.test_engine import until_over
from tests.fixtures_orgs import OrgFixture
from tests.privacy.scan import NUMBER, find_in_files, find_in_tables

PATHS = ("", "/contacts")


def told(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["code"]


async def set_status(root: Root, campaign_id: int, status: str) -> None:
    async with root.db.transaction() as session:
        await session.execute(update(Campaign).where(Campaign.id == campaign_id).values(status=status))


async def count_rows(root: Root, table: type[Any]) -> int:
    async with root.db.transaction() as session:
        return len((await session.scalars(select(table.id))).all())


async def called(root: Root, org: OrgFixture, desk: Desk, campaigns: CampaignService, **values: Any) -> Campaign:
    """A campaign that called the number of the scan once, from an uploaded file."""
    made = await desk.made(f"phone_number,name\n{NUMBER},Ann\n".encode(), **values)
    await campaigns.start(org.id, made["id"])
    async with root.db.transaction() as session:
        campaign = await session.get(Campaign, made["id"])
    assert campaign is not None
    await until_over(root, campaign)
    return campaign


async def test_who_may(client: AsyncClient, root: Root, desk: Desk, other_desk: Desk, org: OrgFixture) -> None:
    campaign = await desk.made()
    await set_status(root, campaign["id"], "completed")
    for path in PATHS:
        assert (await client.delete(f"/campaign/{campaign['id']}{path}")).status_code == 401
        for role in ("viewer", "member"):
            asking = Desk(client, org.headers_for(role), desk.workflow_id)
            assert (await asking.ask("DELETE", f"/{campaign['id']}{path}")).status_code == 403
        assert told(await other_desk.ask("DELETE", f"/{campaign['id']}{path}")) == (404, "campaign_not_found")
        assert told(await desk.ask("DELETE", f"/999999{path}")) == (404, "campaign_not_found")
        assert (await desk.ask("DELETE", f"/x{path}")).status_code == 422
    assert (await desk.ask("DELETE", f"/{campaign['id']}?delete_runs=perhaps")).status_code == 422
    assert (await desk.get(f"/{campaign['id']}/contacts"))["total_count"] == 3


@pytest.mark.slow
async def test_a_running_campaign_is_paused_first(root: Root, desk: Desk) -> None:
    campaign = await desk.made()
    await set_status(root, campaign["id"], "running")
    assert told(await desk.ask("DELETE", f"/{campaign['id']}")) == (409, "campaign_running")
    assert told(await desk.ask("DELETE", f"/{campaign['id']}/contacts")) == (409, "campaign_not_over")
    await set_status(root, campaign["id"], "paused")
    assert told(await desk.ask("DELETE", f"/{campaign['id']}/contacts")) == (409, "campaign_not_over")
    assert (await desk.get(f"/{campaign['id']}"))["status"] == "paused"
    assert (await desk.ask("DELETE", f"/{campaign['id']}")).status_code == 200


async def test_calls_in_progress_are_waited_for(root: Root, org: OrgFixture, desk: Desk) -> None:
    campaign = await desk.made()
    await set_status(root, campaign["id"], "paused")
    async with root.db.transaction() as session:
        contact_id = await session.scalar(select(Contact.id).limit(1))
        now = root.clock.now()
        attempt = Attempt(
            organization_id=org.id,
            campaign_id=campaign["id"],
            contact_id=contact_id,
            number=1,
            state="placed",
            reserved_at=now,
            may_dial_until=now,
            check_at=now,
        )
        session.add(attempt)
    assert told(await desk.ask("DELETE", f"/{campaign['id']}")) == (409, "campaign_has_live_calls")
    # A refusal changes nothing.
    assert (await desk.get(f"/{campaign['id']}"))["status"] == "paused"


async def test_nothing_of_it_is_left_but_its_calls(
    root: Root, org: OrgFixture, desk: Desk, campaigns: CampaignService
) -> None:
    await instant_sandbox(root, org.id)
    campaign = await called(root, org, desk, campaigns)
    assert find_in_files(root) != []
    answer = await desk.ask("DELETE", f"/{campaign.id}")
    assert answer.status_code == 200, answer.text
    receipt = answer.json()
    assert receipt.pop("deleted_at")
    assert receipt == {"campaign_id": campaign.id, "contacts": 1, "runs": 0, "has_contact_file": True}
    assert (await count_rows(root, Contact), await count_rows(root, Attempt)) == (0, 0)
    assert find_in_files(root) == []
    assert "runs.phone_number" in await find_in_tables(root)
    assert told(await desk.ask("GET", f"/{campaign.id}")) == (404, "campaign_not_found")
    async with root.db.transaction() as session:
        [entry] = await session.scalars(select(AuditEntry).where(AuditEntry.action == "campaign.deleted"))
    assert (entry.target, entry.actor_key_id) == (f"campaign:{campaign.id}", org.key_id)
    assert entry.data == {"contacts": 1, "runs": 0, "has_contact_file": True}


@pytest.mark.slow
async def test_its_calls_go_with_it_when_asked(
    root: Root, org: OrgFixture, desk: Desk, campaigns: CampaignService
) -> None:
    await instant_sandbox(root, org.id)
    campaign = await called(root, org, desk, campaigns)
    answer = await desk.ask("DELETE", f"/{campaign.id}", params={"delete_runs": True})
    assert (answer.status_code, answer.json()["runs"]) == (200, 1)
    assert await count_rows(root, Run) == 0
    assert find_in_files(root) == []
    # The simulated carrier keeps its own records, as carriers do; customers can read their events for 30 days.
    assert set(await find_in_tables(root)) <= {"sandbox_calls.to_number", "webhook_events.data"}


@pytest.mark.slow
async def test_only_the_contact_list(root: Root, org: OrgFixture, desk: Desk, campaigns: CampaignService) -> None:
    await instant_sandbox(root, org.id)
    campaign = await called(root, org, desk, campaigns)
    answer = await desk.ask("DELETE", f"/{campaign.id}/contacts")
    assert (answer.status_code, answer.json()["contacts"], answer.json()["has_contact_file"]) == (200, 1, True)
    shown = await desk.get(f"/{campaign.id}")
    assert (shown["status"], shown["progress"]["total_contacts"]) == ("completed", 0)
    assert find_in_files(root) == []
    assert await count_rows(root, Run) == 1
    assert (await desk.ask("GET", f"/{campaign.id}/source-download-url")).status_code == 404
    # Once more deletes nothing more.
    assert (await desk.ask("DELETE", f"/{campaign.id}/contacts")).json()["contacts"] == 0


@pytest.mark.slow
async def test_a_file_that_a_redial_has_too_stays(
    root: Root, org: OrgFixture, desk: Desk, campaigns: CampaignService
) -> None:
    await instant_sandbox(root, org.id, mix={"busy": 1})
    campaign = await called(root, org, desk, campaigns, retry_config={"max_retries": 0})
    redial = await desk.ask("POST", f"/{campaign.id}/redial", json={"name": "Again", "redial_statuses": ["busy"]})
    assert redial.status_code == 200, redial.text
    answer = await desk.ask("DELETE", f"/{campaign.id}")
    assert (answer.status_code, answer.json()["has_contact_file"]) == (200, False)
    again = await desk.get(f"/{redial.json()['id']}")
    assert (again["parent_campaign_id"], again["progress"]["total_contacts"]) == (None, 1)
    assert len(find_in_files(root)) == 1
    assert (await desk.ask("DELETE", f"/{again['id']}")).json()["has_contact_file"] is True
    assert find_in_files(root) == []


async def test_long_lists_go_in_batches(root: Root, desk: Desk, make_campaign: MakeCampaign) -> None:
    campaign = await make_campaign(contacts=CONTACT_BATCH + 1)
    answer = await desk.ask("DELETE", f"/{campaign.id}")
    assert (answer.status_code, answer.json()["contacts"]) == (200, CONTACT_BATCH + 1)
    assert await count_rows(root, Contact) == 0
