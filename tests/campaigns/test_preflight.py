"""Before a start: what it would do; and what customers' webhooks hear of a campaign."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from httpx2 import AsyncClient

from offhook.campaigns import CampaignServices
from offhook.campaigns.intake.preflight import LIMITS, CampaignPreflight, PreflightFailed, estimate_end
from offhook.campaigns.rules.hours import CallingSchedule, WeeklySlot
from offhook.root import Root
from tests.campaigns.desk import Desk
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import DEFINITION
from tests.workflows.conftest import Editor

FILE = b"""phone_number,name
+14152000000,Ann
+14152000001,
+4721000000,Bo
+442079460000,Cy
"""


async def test_what_a_start_would_do(
    desk: Desk, other_desk: Desk, client: AsyncClient, org: OrgFixture, editor: Editor
) -> None:
    nodes = [{**node, "data": {**node["data"]}} for node in DEFINITION["nodes"]]
    nodes[0]["data"]["greeting"] = "Hello {{ name }}."
    workflow_id = await editor.create_published({**DEFINITION, "nodes": nodes})
    never = {"timezone": "UTC", "slots": [{"day": "monday", "start": "00:00", "end": "00:00"}]}
    hours = {**never, "holidays": [(datetime.now(UTC) + timedelta(days=n)).date().isoformat() for n in range(-2, 3)]}
    campaign = await desk.made(
        FILE, workflow_id=workflow_id, calling_hours=hours, destinations={"countries": ["US", "NO"]}
    )
    listed = await client.post(
        "/organizations/do-not-call", json={"phone_numbers": ["+4721000000"]}, headers=org.owner_headers
    )
    assert listed.status_code == 200, listed.text
    path = f"/{campaign['id']}/preflight"
    found = await desk.get(path)
    assert {zone["zone"]: zone["contacts"] for zone in found["contacts_by_zone"]} == {
        "America/Los_Angeles": 2, "Europe/Oslo": 1, "Europe/London": 1,
    }  # fmt: skip
    assert (found["total_contacts"], found["closed_now"], found["blocked_destinations"]) == (4, 3, 1)
    assert (found["on_do_not_call_list"], found["invalid_numbers"], found["callable_contacts"]) == (1, 0, 2)
    assert found["missing_values"] == [{"variable": "name", "contacts": 1}]
    assert found["estimated_dialling_seconds"] == 33.7  # 2 contacts, 1.56 calls of 54 s each, in 5 slots
    assert found["estimated_end_at"] is not None
    assert (await client.get(f"/campaign{path}")).status_code == 401
    assert (await other_desk.ask("GET", path)).status_code == 404


async def test_the_end_is_counted_from_a_scheduled_start(desk: Desk, root: Root) -> None:
    starts_at = root.clock.now() + timedelta(days=3)
    campaign = await desk.made(FILE, starts_at=starts_at.isoformat())
    path = f"/{campaign['id']}/preflight"
    later = datetime.fromisoformat((await desk.get(path))["estimated_end_at"])
    assert later > starts_at
    await desk.ask("PATCH", f"/{campaign['id']}", json={"starts_at": None})
    sooner = datetime.fromisoformat((await desk.get(path))["estimated_end_at"])
    assert timedelta(days=2) < later - sooner < timedelta(days=4)


@pytest.mark.slow
async def test_numbers_that_take_too_long_are_not_counted(desk: Desk, root: Root, org: OrgFixture) -> None:
    campaign = await desk.made(FILE)
    limits = replace(LIMITS, timeout_s=0.01)
    preflight = CampaignPreflight(
        root.db, root.get(CampaignServices).files, root.get(CampaignServices).presenter, root.clock, limits=limits
    )
    with pytest.raises(PreflightFailed):
        await preflight.build_report(org.id, campaign["id"])


def test_only_open_time_counts() -> None:
    monday = datetime(2026, 6, 1, 9, 30, tzinfo=UTC)
    hours = CallingSchedule("UTC", (WeeklySlot(0, 9 * 60, 10 * 60), WeeklySlot(1, 9 * 60, 10 * 60)))
    assert estimate_end(None, monday, 90) == monday + timedelta(seconds=90)
    assert estimate_end(hours, monday, 20 * 60) == monday + timedelta(minutes=20)
    assert estimate_end(hours, monday, 40 * 60) == datetime(2026, 6, 2, 9, 10, tzinfo=UTC)
    assert estimate_end(CallingSchedule("UTC", ()), monday, 1) is None


@pytest.mark.slow
async def test_webhooks_hear_of_every_change(desk: Desk, client: AsyncClient, org: OrgFixture) -> None:
    campaign = await desk.made()
    for verb in ("start", "pause"):
        await desk.ask("POST", f"/{campaign['id']}/{verb}")
    answer = await client.get("/events", params={"after": 0}, headers=org.owner_headers)
    assert answer.status_code == 200, answer.text
    told = [
        (event["type"], event["data"]["previous_status"], event["data"]["status"]) for event in answer.json()["events"]
    ]
    assert told == [("campaign.status_changed", "draft", "running"), ("campaign.status_changed", "running", "paused")]
