"""What a campaign came to in the words of its business: counted, charted, listed and reported."""

from collections import Counter
from typing import Any

import pytest
from sqlalchemy import select, update

from offhook.campaigns.tables import Attempt, Campaign, Contact
from offhook.root import Root
from offhook.runs import service as runs
from offhook.workflows.tables import WorkflowVersion
from tests.campaigns.conftest import MakeCampaign
from tests.campaigns.desk import Desk
from tests.fixtures_orgs import OrgFixture

RESULTS: list[dict[str, Any]] = [
    {"name": "Booked", "is_success": True, "rules": [{"check": "variable", "name": "answer", "values": ["yes"]}]},
    {"name": "Declined", "is_success": False, "rules": [{"check": "variable", "name": "answer", "values": ["no"]}]},
    {"name": "Wrong number", "rules": [{"check": "variable", "name": "is_wrong_number", "values": ["yes"]}]},
]


class Caller:
    """Calls contacts of a campaign, without phones: what they answer is what the agent learned."""

    def __init__(self, root: Root, org: OrgFixture) -> None:
        self.root, self.org = root, org

    async def call(self, campaign: Campaign, row: int, number: int = 1, **learned: Any) -> int:
        """Ends the contact's call of this number, and returns its run."""
        async with self.root.db.transaction() as session:
            contact = (await session.execute(_contact(campaign, row))).scalar_one()
            run = await runs.create_run(
                session, organization_id=self.org.id, workflow_id=campaign.workflow_id, mode="sandbox",
                direction="outbound", use_draft=False,
            )  # fmt: skip
            run.campaign_id, run.gathered_context = campaign.id, {"extracted_variables": learned}
            now = self.root.clock.now()
            session.add(
                Attempt(
                    organization_id=self.org.id, campaign_id=campaign.id, contact_id=contact.id, number=number,
                    state="final", because=None if number == 1 else "again", run_id=run.id, outcome="answered",
                    reserved_at=now, may_dial_until=now, check_at=now, placed_at=now, ended_at=now,
                )
            )  # fmt: skip
            contact.state, contact.outcome, contact.dials, contact.done_at = "done", "answered", number, now
        async with self.root.db.transaction() as session:
            await runs.apply_status(session, self.org.id, run.id, "in_progress")
        async with self.root.db.transaction() as session:
            await runs.apply_status(session, self.org.id, run.id, "completed", outcome="answered")
        return run.id


def _contact(campaign: Campaign, row: int) -> Any:
    return select(Contact).where(Contact.campaign_id == campaign.id, Contact.row_number == row)


@pytest.fixture
def caller(root: Root, org: OrgFixture) -> Caller:
    return Caller(root, org)


async def define(root: Root, results: list[dict[str, Any]]) -> None:
    async with root.db.transaction() as session:
        await session.execute(update(WorkflowVersion).values(configurations={"call_analysis": {"results": results}}))


async def test_contacts_count_by_the_result_of_their_latest_call(
    root: Root, desk: Desk, make_campaign: MakeCampaign, caller: Caller
) -> None:
    await define(root, RESULTS)
    campaign = await make_campaign(contacts=4)
    await caller.call(campaign, 1, answer="no")
    run_id = await caller.call(campaign, 1, number=2, answer=True)  # called again, and booked
    await caller.call(campaign, 2, answer="No")
    await caller.call(campaign, 3)
    shown = await desk.get(f"/{campaign.id}/results")
    assert shown == {
        "campaign_id": campaign.id, "is_defined": True, "answered_without_result": 1,
        "results": [
            {"name": "Booked", "contacts": 1, "is_success": True},
            {"name": "Declined", "contacts": 1, "is_success": False},
            {"name": "Wrong number", "contacts": 0, "is_success": None},
        ],
    }  # fmt: skip
    steps = (await desk.get(f"/{campaign.id}/timeline"))["steps"]  # two, where one ends in between
    assert sum((Counter(step["results"]) for step in steps), Counter[str]()) == {"Booked": 1, "Declined": 1}
    contacts = (await desk.get(f"/{campaign.id}/contacts"))["contacts"]
    assert [contact["result"] for contact in contacts] == ["Booked", "Declined", None, None]
    assert (contacts[0]["run_id"], contacts[0]["is_success"], contacts[3]["run_id"]) == (run_id, True, None)
    some = await desk.get(f"/{campaign.id}/contacts", result=["Booked", "Wrong number"])
    assert [contact["row_number"] for contact in some["contacts"]] == [1]
    report = await desk.report(campaign.id)
    assert [row["result"] for row in report] == ["Declined", "Booked", "Declined", ""]


async def test_results_of_earlier_versions_stay(
    root: Root, desk: Desk, make_campaign: MakeCampaign, caller: Caller
) -> None:
    await define(root, RESULTS)
    campaign = await make_campaign(contacts=1)
    await caller.call(campaign, 1, answer="yes")
    await define(root, [])
    shown = await desk.get(f"/{campaign.id}/results")
    assert shown["is_defined"] is False
    assert shown["results"] == [{"name": "Booked", "contacts": 1, "is_success": None}]


async def test_who_may_and_bad_input(desk: Desk, other_desk: Desk, make_campaign: MakeCampaign) -> None:
    campaign = await make_campaign(contacts=1)
    path = f"/{campaign.id}/results"
    assert (await desk.client.get(f"/campaign{path}")).status_code == 401
    assert (await other_desk.ask("GET", path)).json()["code"] == "campaign_not_found"
    assert (await desk.ask("GET", "/none/results")).status_code == 422
    assert (await desk.ask("GET", f"/{campaign.id}/contacts", params={"result": "x" * 41})).status_code == 422
    assert (await desk.get(path))["results"] == []
