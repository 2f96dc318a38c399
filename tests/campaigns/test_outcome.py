"""What came of a campaign, over HTTP: report, progress, its stream and its runs say the same."""

import json

import pytest

from offhook.campaigns import CampaignService
from offhook.campaigns.tables import Campaign
from offhook.root import Root
from offhook.telephony import OutcomeCorrected
from tests.campaigns.conftest import MakeCampaign, instant_sandbox
from tests.campaigns.desk import Desk, numbers
from tests.campaigns.test_engine import until_over
from tests.fixtures_orgs import OrgFixture


async def row_of(root: Root, campaign_id: int) -> Campaign:
    async with root.db.transaction() as session:
        found = await session.get(Campaign, campaign_id)
        assert found is not None
        return found


class TestWhatCameOfIt:
    @pytest.fixture
    async def over(
        self, root: Root, org: OrgFixture, campaigns: CampaignService, make_campaign: MakeCampaign, desk: Desk
    ) -> Campaign:
        """Completed: ten contacts, of whom some were reached at once, some later, some never."""
        await instant_sandbox(root, org.id, mix={"busy": 1, "talks": 1})
        campaign = await make_campaign(
            contacts=10, retry_config={"max_retries": 1, "retry_delay_seconds": 0}, columns=["phone_number", "name"]
        )
        await campaigns.start(org.id, campaign.id)
        await until_over(root, campaign)
        return await row_of(root, campaign.id)

    async def test_all_of_it(self, desk: Desk, over: Campaign, root: Root) -> None:
        """One campaign is called to its end for all of these."""
        await self.the_report_says_what_the_progress_says(desk, over)
        await self.progress_has_both_vocabularies(desk, over)
        await self.the_reports_time(desk, over)
        await self.runs_are_filtered_like_everywhere(desk, over)
        await self.the_stream_of_a_campaign_that_is_over_ends(desk, over)
        await self.a_machine_that_is_heard_late_was_no_answer(desk, over, root)

    async def the_report_says_what_the_progress_says(self, desk: Desk, over: Campaign) -> None:
        progress = await desk.get(f"/{over.id}/progress")
        rows = await desk.report(over.id)
        assert list(rows[0]) == [
            "contact_id", "phone_number", "name", "outcome", "attempts", "duration_seconds", "started_at", "ended_at",
            "transcript_summary", "result", "is_success", "run_id", "recording_url",
        ]  # fmt: skip
        last = {row["contact_id"]: row for row in rows}
        assert len(last) == progress["dialled"] == 10
        assert 0 < progress["answered"] < 10 < len(rows)
        assert sum(row["outcome"] == "answered" for row in rows) == progress["answered"]
        for outcome, number in progress["outcomes"].items():
            assert sum(row["outcome"] == outcome for row in last.values()) == number
        assert sum(int(row["attempts"]) for row in last.values()) == len(rows)
        listed = await desk.get(f"/{over.id}/runs", limit=100)
        assert {int(row["run_id"]) for row in rows} == {run["id"] for run in listed["runs"]}
        assert listed["total_count"] == len(rows)

    async def progress_has_both_vocabularies(self, desk: Desk, over: Campaign) -> None:
        progress = await desk.get(f"/{over.id}/progress")
        assert (progress["status"], progress["state"]) == ("completed", "completed")
        assert progress["completed"] == progress["processed_rows"] == progress["total_rows"] == 10
        assert progress["failed"] == progress["failed_calls"] == 10 - progress["answered"]
        assert progress["progress_percentage"] == 100.0
        assert progress["source_sync"]["status"] == "completed"

    async def the_reports_time(self, desk: Desk, over: Campaign) -> None:
        assert over.started_at is not None
        day = over.started_at.date().isoformat()
        assert len(await desk.report(over.id, start_date=day, end_date=day)) == len(await desk.report(over.id))
        assert await desk.report(over.id, start_date="2099-01-01") == []
        assert await desk.report(over.id, end_date="2001-01-01T00:00:00Z") == []
        for wrong in ({"start_date": "soon"}, {"end_date": "2026-13-01"}):
            assert (await desk.ask("GET", f"/{over.id}/report", params=wrong)).status_code == 422

    async def runs_are_filtered_like_everywhere(self, desk: Desk, over: Campaign) -> None:
        busy = '[{"field": "status", "type": "select", "value": "busy"}]'
        runs = (await desk.get(f"/{over.id}/runs", filters=busy, sort_by="id", sort_order="asc"))["runs"]
        assert runs
        assert {run["status"] for run in runs} == {"busy"}
        assert {run["campaign_id"] for run in runs} == {over.id}
        assert [run["id"] for run in runs] == sorted(run["id"] for run in runs)
        for wrong in ({"filters": "{"}, {"sort_by": "luck"}, {"page": 0}):
            assert (await desk.ask("GET", f"/{over.id}/runs", params=wrong)).status_code == 422

    async def the_stream_of_a_campaign_that_is_over_ends(self, desk: Desk, over: Campaign) -> None:
        answer = await desk.ask("GET", f"/{over.id}/progress/stream")
        assert answer.headers["content-type"].startswith("text/event-stream")
        first, progress, ended = answer.text.strip().split("\n\n")
        assert first == "retry: 1000"
        assert json.loads(progress.partition("data: ")[2]) == await desk.get(f"/{over.id}/progress")
        assert ended == 'event: ended\ndata: {"status": "completed"}'

    async def a_machine_that_is_heard_late_was_no_answer(self, desk: Desk, over: Campaign, root: Root) -> None:
        before = await desk.get(f"/{over.id}/progress")
        run_id = next(int(row["run_id"]) for row in await desk.report(over.id) if row["outcome"] == "answered")
        for organization_id in (over.organization_id + 1, over.organization_id, over.organization_id):
            await root.events.publish(OutcomeCorrected(organization_id, run_id))
        after = await desk.get(f"/{over.id}/progress")
        assert (after["status"], after["pending"]) == ("completed", 0), "who is over is not called again"
        assert after["answered"] == before["answered"] - 1
        assert after["outcomes"]["voicemail"] == before["outcomes"].get("voicemail", 0) + 1
        (row,) = [row for row in await desk.report(over.id) if row["run_id"] == str(run_id)]
        assert row["outcome"] == "voicemail"


@pytest.mark.slow
async def test_formulas_are_escaped_in_the_report_only(
    root: Root, org: OrgFixture, campaigns: CampaignService, desk: Desk
) -> None:
    await instant_sandbox(root, org.id)
    content = f"phone_number,note\n{numbers(1)[0]},=HYPERLINK(1)\n".encode()
    made = await desk.made(content)
    await desk.ask("POST", f"/{made['id']}/start")
    await until_over(root, await row_of(root, made["id"]))
    (row,) = await desk.report(made["id"])
    assert (row["note"], row["phone_number"]) == ("'=HYPERLINK(1)", numbers(1)[0])
    (run,) = (await desk.get(f"/{made['id']}/runs"))["runs"]
    assert run["initial_context"]["note"] == "=HYPERLINK(1)"
