"""A call to one's own number before the campaign starts."""

from sqlalchemy import select

from offhook.campaigns.tables import Attempt
from offhook.root import Root
from offhook.runs.tables import Run
from tests.campaigns.conftest import MakeCampaign, instant_sandbox
from tests.campaigns.desk import Desk
from tests.fixtures_orgs import OrgFixture

MINE = "+14155550100"


async def test_the_call_is_like_a_contacts_and_no_part_of_the_campaign(
    root: Root, desk: Desk, org: OrgFixture, make_campaign: MakeCampaign
) -> None:
    account = await instant_sandbox(root, org.id)
    campaign = await make_campaign(contacts=2, telephony_configuration_id=account, voicemail={"action": "hang_up"})
    path, body = f"/{campaign.id}/test-call", {"phone_number": MINE}
    placed = [(await desk.ask("POST", path, json=body, headers={"Idempotency-Key": "once"})).json() for _ in range(2)]
    assert placed[0] == placed[1]
    async with root.db.transaction() as session:
        (run,) = (await session.scalars(select(Run))).all()
        assert (run.id, run.phone_number, run.campaign_id) == (placed[0]["run_id"], MINE, None)
        assert run.initial_context["name"] == "Person 1"
        assert "voicemail_detection" in str(run.initial_context["runtime_configuration"])
        assert await session.scalar(select(Attempt.id)) is None
    assert (await desk.get(f"/{campaign.id}"))["status"] == "draft"


async def test_who_may_and_bad_input(
    root: Root, desk: Desk, other_desk: Desk, org: OrgFixture, make_campaign: MakeCampaign
) -> None:
    await instant_sandbox(root, org.id)
    campaign = await make_campaign(contacts=1)
    path, body = f"/{campaign.id}/test-call", {"phone_number": MINE}
    assert (await desk.client.post(f"/campaign{path}", json=body)).status_code == 401
    viewer = org.headers_for("viewer")
    assert (await desk.client.post(f"/campaign{path}", json=body, headers=viewer)).status_code == 403
    assert (await other_desk.ask("POST", path, json=body)).json()["code"] == "campaign_not_found"
    missing = await desk.ask("POST", path, json={**body, "contact_id": 2**40})
    assert missing.json()["code"] == "contact_not_found"
    for bad in ({}, {"phone_number": "me"}, {"phone_number": MINE, "contact_id": 0}):
        assert (await desk.ask("POST", path, json=bad)).status_code == 422
