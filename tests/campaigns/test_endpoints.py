"""Campaigns over HTTP: who may, what is checked, what is answered."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text, update

from offhook.campaigns.tables import Contact
from offhook.root import Root
from tests.campaigns.desk import Desk, contact_file, numbers
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeWorkflow
from tests.workflows.conftest import Editor

READS = ("", "/progress", "/progress/stream", "/timeline", "/runs", "/source-download-url", "/report", "/contacts")
HOURS = {"timezone": "Europe/Oslo", "slots": [{"day": "monday", "start": "22:00", "end": "02:00"}]}


class TestWhoMay:
    async def test_anonymous_and_others(self, desk: Desk, other_desk: Desk, client: AsyncClient) -> None:
        campaign = await desk.made()
        contact = (await desk.get(f"/{campaign['id']}/contacts"))["contacts"][0]
        why = f"/contacts/{contact['id']}/why-not-now"
        for path in (*READS, why):
            assert (await client.get(f"/campaign/{campaign['id']}{path}")).status_code == 401, path
            answer = await other_desk.ask("GET", f"/{campaign['id']}{path}")
            assert (answer.status_code, answer.json()["code"]) == (404, "campaign_not_found"), path
        for verb in ("start", "pause", "resume"):
            assert (await other_desk.ask("POST", f"/{campaign['id']}/{verb}")).status_code == 404
        redial = {"name": "Again", "redial_statuses": ["busy"]}
        assert (await other_desk.ask("POST", f"/{campaign['id']}/redial", json=redial)).status_code == 404
        assert (await other_desk.ask("PATCH", f"/{campaign['id']}", json={"name": "Mine"})).status_code == 404
        assert await other_desk.get("/") == []
        mine = await other_desk.made()
        answer = await other_desk.ask("GET", f"/{mine['id']}{why}")
        assert (answer.status_code, answer.json()["code"]) == (404, "contact_not_found")

    async def test_a_viewer_looks_and_does_nothing(self, desk: Desk, client: AsyncClient, org: OrgFixture) -> None:
        campaign = await desk.made()
        viewer = Desk(client, org.headers_for("viewer"), desk.workflow_id)
        assert (await viewer.get(f"/{campaign['id']}"))["name"] == "Spring"
        assert (await viewer.ask("POST", f"/{campaign['id']}/start")).status_code == 403
        assert (await viewer.place()).status_code == 403


class TestCreating:
    async def test_the_answer_has_everything(self, desk: Desk) -> None:
        asked: dict[str, Any] = {
            "calling_hours": HOURS | {"holidays": ["2026-12-25"], "in_callee_zone": True},
            "retry_config": {"max_retries": 4, "delays": {"busy": 60}},
            "circuit_breaker": {"failure_threshold": 0.25},
            "destinations": {"countries": ["us", "NO"]},
            "voicemail": {"action": "leave_message", "message": "Please call us."},
            "spend_cap_cents": 5000,
            "max_concurrency": 1000,
        }
        campaign = await desk.made(contact_file(3), **asked)
        assert (campaign["status"], campaign["state"], campaign["workflow_name"]) == ("draft", "created", "Front desk")
        assert (campaign["max_concurrency"], campaign["effective_max_concurrency"]) == (1000, 10)
        assert campaign["columns"] == ["phone_number", "name", "city"]
        assert campaign["calling_hours"] == asked["calling_hours"]
        assert campaign["retry_config"] == {
            "enabled": True, "max_retries": 4, "retry_delay_seconds": 300, "retry_on_busy": True,
            "retry_on_no_answer": True, "retry_on_voicemail": True, "backoff_factor": 1.0, "delays": {"busy": 60},
        }  # fmt: skip
        assert campaign["circuit_breaker"]["failure_threshold"] == 0.25
        assert campaign["destinations"] == {"countries": ["US", "NO"], "allow_premium": False}
        assert (campaign["voicemail"]["message"], campaign["spend_cap_cents"]) == ("Please call us.", 5000)
        progress = campaign["progress"]
        assert (progress["total_contacts"], progress["pending"], progress["status"]) == (3, 3, "draft")
        assert await desk.get(f"/{campaign['id']}") == campaign
        assert await desk.get("/") == [campaign]

    async def test_defaults(self, desk: Desk) -> None:
        campaign = await desk.made()
        assert campaign["calling_hours"] is None
        assert campaign["next_open_at"] is None
        assert (campaign["retry_config"]["max_retries"], campaign["retry_config"]["enabled"]) == (2, True)

    async def test_the_shapes_of_the_reference(self, desk: Desk) -> None:
        slot = {"day_of_week": 6, "start_time": "09:00", "end_time": "17:00"}
        key = await desk.upload(contact_file())
        body = {
            "name": "Spring",
            "workflow_id": desk.workflow_id,
            "source_type": "csv",
            "source_id": key,
            "schedule_config": {"enabled": True, "timezone": "UTC", "slots": [slot]},
        }
        answer = await desk.ask("POST", "/create", json=body)
        assert answer.status_code == 200, answer.text
        campaign = answer.json()
        assert campaign["source_id"] == campaign["contacts_file_key"] == key
        assert campaign["calling_hours"]["slots"] == [{"day": "sunday", "start": "09:00", "end": "17:00"}]

    BAD = (
        {"name": " "},
        {"name": None},
        {"workflow_id": "x"},
        {"max_concurrency": 0},
        {"max_concurrency": None},
        {"contacts_file_key": ""},
        {"calling_hours": {**HOURS, "timezone": "Mars/Base"}},
        {"calling_hours": {**HOURS, "timezone": "../etc"}},
        {"calling_hours": {**HOURS, "slots": []}},
        {"calling_hours": {**HOURS, "slots": [{"day": "Moonday", "start": "09:00", "end": "10:00"}]}},
        {"calling_hours": {**HOURS, "slots": [{"day": "monday", "start": "25:00", "end": "10:00"}]}},
        {"calling_hours": {**HOURS, "slots": [{"day": "monday", "start": "9:00", "end": "10:00"}]}},
        {"calling_hours": {**HOURS, "holidays": ["2026-02-30"]}},
        {"calling_hours": "always"},
        {"retry_config": {"max_retries": -1}},
        {"retry_config": {"retry_delay_seconds": "soon"}},
        {"retry_config": {"backoff_factor": 0.5}},
        {"circuit_breaker": {"failure_threshold": 0}},
        {"destinations": {"countries": ["Norway"]}},
        {"destinations": {"countries": ["QQ"]}},
        {"voicemail": {"action": "leave_message"}},
        {"spend_cap_cents": 0},
        {"telephony_configuration_id": "x"},
    )

    async def test_bad_bodies(self, desk: Desk) -> None:
        for wrong in self.BAD:
            answer = await desk.create(**({"contacts_file_key": "campaigns/1/x.csv"} | wrong))
            assert (answer.status_code, answer.json()["code"]) == (422, "validation_error"), wrong

    async def test_unknown_and_unusable_workflows(
        self, desk: Desk, other_desk: Desk, org: OrgFixture, make_workflow: MakeWorkflow, editor: Editor
    ) -> None:
        draft = await make_workflow(org.id, status="draft")
        archived = await make_workflow(org.id)
        assert (await editor.put(f"/workflow/{archived}/status", json={"status": "archived"})).status_code == 200
        expected = {
            999_999: (404, "workflow_not_found"),
            other_desk.workflow_id: (404, "workflow_not_found"),
            draft: (409, "workflow_not_published"),
            archived: (409, "workflow_archived"),
        }
        said = []
        for workflow_id, refusal in expected.items():
            answer = await desk.create(workflow_id=workflow_id)
            assert (answer.status_code, answer.json()["code"]) == refusal
            said.append(answer.json()["detail"])
        assert said[2:] == ["This agent has no published version.", "Archived agents cannot place calls."]
        answer = await desk.create(telephony_configuration_id=999)
        assert (answer.status_code, answer.json()["code"]) == (404, "telephony_configuration_not_found")

    async def test_a_key_creates_once(self, desk: Desk) -> None:
        key = await desk.upload(contact_file())
        headers = {"Idempotency-Key": "spring-1"}
        first = await desk.create(contacts_file_key=key, headers=headers)
        again = await desk.create(contacts_file_key=key, headers=headers)
        assert (first.status_code, again.json()) == (200, first.json())
        assert len(await desk.get("/")) == 1
        other = await desk.create(contacts_file_key=key, name="Summer", headers=headers)
        assert (other.status_code, other.json()["code"]) == (409, "idempotency_conflict")

    @pytest.mark.slow
    async def test_the_list_has_pages(self, desk: Desk) -> None:
        made = [(await desk.made(name=f"C{number}"))["id"] for number in range(3)]
        answer = await desk.ask("GET", "/", params={"limit": 1, "offset": 1})
        assert [row["id"] for row in answer.json()] == [made[1]]
        assert answer.headers["X-Total-Count"] == "3"
        assert (await desk.ask("GET", "/", params={"limit": 0})).status_code == 422


class TestChanging:
    async def test_only_what_is_named_changes(self, desk: Desk) -> None:
        campaign = await desk.made(calling_hours=HOURS, retry_config={"max_retries": 5, "retry_on_busy": False})
        path = f"/{campaign['id']}"
        changed = (await desk.ask("PATCH", path, json={"name": "Summer"})).json()
        assert changed == {**campaign, "name": "Summer"}
        changed = (await desk.ask("PATCH", path, json={"retry_config": {"max_retries": 1}})).json()
        assert (changed["retry_config"]["max_retries"], changed["retry_config"]["retry_on_busy"]) == (1, False)
        changed = (await desk.ask("PATCH", path, json={"calling_hours": None, "max_concurrency": 2})).json()
        assert (changed["calling_hours"], changed["max_concurrency"]) == (None, 2)
        assert (await desk.ask("PATCH", path, json={})).json() == changed
        for wrong in ({"max_concurrency": 0}, {"name": ""}, {"calling_hours": {"timezone": "x"}}):
            assert (await desk.ask("PATCH", path, json=wrong)).status_code == 422

    @pytest.mark.slow
    async def test_what_is_over_stays(self, desk: Desk, root: Root) -> None:
        campaign = await desk.made()
        async with root.db.transaction() as session:
            await session.execute(text("UPDATE campaigns SET status = 'completed'"))
        for body in ({"name": "Late"}, {}):
            answer = await desk.ask("PATCH", f"/{campaign['id']}", json=body)
            assert (answer.status_code, answer.json()["code"]) == (409, "campaign_not_updatable")


class TestTransitions:
    async def test_a_life(self, desk: Desk) -> None:
        campaign = await desk.made(calling_hours={**HOURS, "holidays": []})
        path = f"/{campaign['id']}"
        for verb, status in (("start", "running"), ("pause", "paused"), ("resume", "running")):
            answer = await desk.ask("POST", f"{path}/{verb}")
            assert (answer.status_code, answer.json()["status"]) == (200, status)
        refused = {"start": "campaign_not_startable", "resume": "campaign_not_resumable"}
        for verb, code in refused.items():
            answer = await desk.ask("POST", f"{path}/{verb}")
            assert (answer.status_code, answer.json()["code"]) == (409, code)
        assert (await desk.ask("POST", f"{path}/pause")).status_code == 200
        answer = await desk.ask("POST", f"{path}/pause")
        assert (answer.status_code, answer.json()["code"]) == (409, "campaign_not_pausable")

    async def test_two_starts_at_once(self, desk: Desk) -> None:
        campaign = await desk.made()
        answers = await asyncio.gather(*[desk.ask("POST", f"/{campaign['id']}/start") for _ in range(2)])
        assert sorted(answer.status_code for answer in answers) == [200, 409]

    @pytest.mark.slow
    async def test_one_start_sent_twice(self, desk: Desk) -> None:
        campaign = await desk.made()
        headers = {"Idempotency-Key": "go"}
        answers = [await desk.ask("POST", f"/{campaign['id']}/start", headers=headers) for _ in range(2)]
        assert [answer.status_code for answer in answers] == [200, 200]
        assert answers[0].json() == answers[1].json()

    @pytest.mark.slow
    async def test_everything_is_in_the_audit_log(self, desk: Desk, client: AsyncClient, org: OrgFixture) -> None:
        campaign = await desk.made()
        for verb in ("start", "pause", "resume"):
            await desk.ask("POST", f"/{campaign['id']}/{verb}")
        await desk.ask("PATCH", f"/{campaign['id']}", json={"name": "Summer"})
        entries = (await client.get("/organizations/audit-log", headers=org.owner_headers)).json()["entries"]
        assert [entry["action"] for entry in reversed(entries)] == [
            "campaign.created", "campaign.started", "campaign.paused", "campaign.resumed", "campaign.updated",
        ]  # fmt: skip

    @pytest.mark.slow
    async def test_a_workflow_with_a_running_campaign_stays(self, desk: Desk, editor: Editor) -> None:
        campaign = await desk.made()
        await desk.ask("POST", f"/{campaign['id']}/start")
        answer = await editor.delete(f"/workflow/{desk.workflow_id}")
        assert (answer.status_code, answer.json()["code"]) == (409, "workflow_has_running_campaign")
        await desk.ask("POST", f"/{campaign['id']}/pause")
        assert (await editor.delete(f"/workflow/{desk.workflow_id}")).status_code == 200

    async def test_a_carrier_account_with_a_running_campaign_stays(
        self, desk: Desk, client: AsyncClient, org: OrgFixture
    ) -> None:
        configs, headers = "/organizations/telephony-configs", org.owner_headers
        body = {"name": "Phones", "config": {"provider": "sandbox"}}
        made = await client.post(configs, json=body, headers=headers)
        assert made.status_code == 200, made.text
        account = f"{configs}/{made.json()['id']}"
        number = await client.post(f"{account}/phone-numbers", json={"address": "+12015550142"}, headers=headers)
        assert number.status_code == 200, number.text
        campaign = await desk.made(telephony_configuration_id=made.json()["id"])
        await desk.ask("POST", f"/{campaign['id']}/start")
        for path in (f"{account}/phone-numbers/{number.json()['id']}", account):
            answer = await client.delete(path, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (409, "campaign_running_with_account"), path
        unknown = await desk.ask("PATCH", f"/{campaign['id']}", json={"telephony_configuration_id": 999_999})
        assert (unknown.status_code, unknown.json()["code"]) == (404, "telephony_configuration_not_found")
        for account_id in (None, made.json()["id"]):
            changed = await desk.ask("PATCH", f"/{campaign['id']}", json={"telephony_configuration_id": account_id})
            assert changed.json() == {**changed.json(), "telephony_configuration_id": account_id, "status": "running"}
        await desk.ask("POST", f"/{campaign['id']}/pause")
        for path in (f"{account}/phone-numbers/{number.json()['id']}", account):
            assert (await client.delete(path, headers=headers)).status_code in {200, 204}, path


class TestRedial:
    @pytest.fixture
    async def old(self, desk: Desk, root: Root) -> dict[str, Any]:
        """Paused; of four contacts one each was answered, busy and voicemail, one is pending."""
        campaign = await desk.made(contact_file(4), retry_config={"max_retries": 7})
        async with root.db.transaction() as session:
            await session.execute(text("UPDATE campaigns SET status = 'paused'"))
            for row, outcome in ((2, "answered"), (3, "busy"), (4, "voicemail")):
                await session.execute(
                    text("UPDATE campaign_contacts SET state = 'done', outcome = :outcome WHERE row_number = :row"),
                    {"outcome": outcome, "row": row},
                )
        return campaign

    async def redial(self, desk: Desk, old: dict[str, Any], **body: Any) -> Any:
        return await desk.ask("POST", f"/{old['id']}/redial", json=body)

    async def test_a_draft_for_those_who_were_not_reached(self, desk: Desk, old: dict[str, Any]) -> None:
        new = (await self.redial(desk, old, name="Again", redial_statuses=["busy", "voicemail", "answered"])).json()
        assert (new["status"], new["parent_campaign_id"], new["name"]) == ("draft", old["id"], "Again")
        assert new["retry_config"]["max_retries"] == 7
        listed = await desk.get(f"/{new['id']}/contacts")
        assert [item["phone_number"] for item in listed["contacts"]] == numbers(4)[1:3]
        assert listed["contacts"][0]["variables"] == {"name": "Person 2", "city": "Oslo"}

    async def test_the_flags_of_the_reference(self, desk: Desk, old: dict[str, Any]) -> None:
        new = (await self.redial(desk, old, retry_on_busy=False, retry_on_no_answer=True)).json()
        assert (new["name"], new["progress"]["total_contacts"]) == ("Spring (Redial)", 1)

    @pytest.mark.slow
    async def test_nothing_to_redial(self, desk: Desk, old: dict[str, Any]) -> None:
        refused: list[tuple[dict[str, Any], str]] = [
            ({"redial_statuses": ["no_answer"]}, "nothing_to_redial"),
            ({"redial_statuses": ["answered"]}, "nothing_to_redial"),
            ({"redial_statuses": []}, "validation_error"),
            ({"redial_statuses": ["lost"]}, "validation_error"),
            ({"name": "x"}, "validation_error"),
        ]
        for body, code in refused:
            answer = await self.redial(desk, old, **body)
            assert (answer.status_code, answer.json()["code"]) == (422, code)
        assert len(await desk.get("/")) == 1

    async def test_not_before_it_has_run(self, desk: Desk) -> None:
        answer = await self.redial(desk, await desk.made(), name="x", redial_statuses=["busy"])
        assert (answer.status_code, answer.json()["code"]) == (409, "campaign_not_redialable")


class TestContacts:
    async def test_pages_and_filters(self, desk: Desk, root: Root) -> None:
        path = f"/{(await desk.made(contact_file(5)))['id']}/contacts"
        async with root.db.transaction() as session:
            await session.execute(
                text("UPDATE campaign_contacts SET state = 'done', outcome = 'busy', dials = 1 WHERE row_number = 3")
            )
        page = await desk.get(path, page=2, limit=2)
        assert [item["row_number"] for item in page["contacts"]] == [4, 5]
        assert (page["total_count"], page["total_pages"]) == (5, 3)
        done = await desk.get(path, state=["done", "calling"])
        assert [(item["row_number"], item["attempts"]) for item in done["contacts"]] == [(3, 1)]
        assert (await desk.get(path, outcome="busy"))["total_count"] == 1
        assert (await desk.get(path, outcome=["busy", "answered"], state="pending"))["total_count"] == 0
        for wrong in ({"state": "lost"}, {"outcome": "lost"}, {"page": 0}, {"limit": 101}):
            assert (await desk.ask("GET", path, params=wrong)).status_code == 422

    async def test_why_not_now(self, desk: Desk, root: Root) -> None:
        campaign = await desk.made()
        async with root.db.transaction() as session:
            contact = (await session.scalars(select(Contact).limit(1))).one()
        path = f"/{campaign['id']}/contacts/{contact.id}/why-not-now"
        why = await desk.get(path)
        assert (why["can_be_called"], why["rule"], why["until"]) == (False, "campaign_draft", None)
        await desk.ask("POST", f"/{campaign['id']}/start")
        assert (await desk.get(path))["can_be_called"] is True


async def test_contacts_of_a_campaign_that_cannot_be_written_are_not_there(root: Root, desk: Desk) -> None:
    """The campaign and its contacts are one transaction."""
    key = await desk.upload(contact_file())
    async with root.db.transaction() as session:
        await session.execute(text("ALTER TABLE campaign_contacts ADD CHECK (phone_number <> '+14152000002')"))
    answer = await desk.create(contacts_file_key=key)
    assert answer.status_code >= 400
    assert await desk.get("/") == []


class TestTimeline:
    async def test_steps_are_as_long_as_the_campaign_needs(self, desk: Desk, root: Root) -> None:
        campaign = await desk.made(contact_file(6))
        path = f"/{campaign['id']}/timeline"
        assert (await desk.get(path))["steps"] == []
        begin = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
        done = [(0, "answered"), (30, "answered"), (50, "busy"), (3600, "answered"), (7200, "voicemail")]
        async with root.db.transaction() as session:
            for row, (after_s, outcome) in enumerate(done):
                await session.execute(
                    update(Contact)
                    .where(Contact.campaign_id == campaign["id"], Contact.row_number == row + 2)
                    .values(state="done", outcome=outcome, done_at=begin + timedelta(seconds=after_s))
                )
        shown = await desk.get(path)
        assert (shown["campaign_id"], shown["step_seconds"]) == (campaign["id"], 300)
        assert [(step["from_time"], step["outcomes"]) for step in shown["steps"]] == [
            ("2026-03-01T09:00:00Z", {"answered": 2, "busy": 1}),
            ("2026-03-01T10:00:00Z", {"answered": 1}),
            ("2026-03-01T11:00:00Z", {"voicemail": 1}),
        ]
