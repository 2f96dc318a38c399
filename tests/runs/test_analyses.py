"""Results, summaries and success criteria: what a finished call came to, by rules and by a model."""

import csv
import io
import json
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text, update

from offhook.kit.json_values import JsonObject
from offhook.root import Root
from offhook.runs import service
from offhook.runs.finishing import analyses
from offhook.runs.finishing.analyses import AnalysisJob
from offhook.runs.records import event_queries, retention_queries
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.tables import Run, RunAnalysis
from offhook.workflows.tables import WorkflowVersion
from tests.fakes.calls import FixedModels
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun
from tests.runs.test_reviews import OfflineModels

BOOKED = {
    "name": "Booked",
    "is_success": True,
    "rules": [_rule := {"check": "variable", "name": "day", "operator": "is_set"}],
}
DECLINED = {"name": "Declined", "is_success": False, "rules": [{"check": "edge", "name": "e1"}]}
POLITE = {"name": "Polite", "description": "The agent is polite."}
ASKED = {"name": "Asked for the day", "rules": [_rule]}


class CallReader:
    """Ends calls of an agent with a definition, and does the jobs that this brings."""

    def __init__(self, root: Root, org: OrgFixture, client: AsyncClient, make_run: MakeRun) -> None:
        self.root, self.org, self.client, self.make_run = root, org, client, make_run
        self.models: FixedModels = OfflineModels()

    async def ended_run(self, analysis: dict[str, Any], *, said: str = "Tuesday", **ending: Any) -> Run:
        """A run that ended so: ``variables``, ``events`` (type, data), ``outcome``, ``settings``."""
        settings = {"call_analysis": analysis, **ending.get("settings", {})}
        async with self.root.db.transaction() as session:
            await session.execute(update(WorkflowVersion).values(configurations=settings))
        run = await self.make_run(mode="sandbox", direction="inbound")
        events = [("caller_said", {"text": said, "start_s": 1.0, "end_s": 2.0})] if said else []
        async with self.root.db.transaction() as session:
            now = self.root.clock.now()
            await event_queries.append_events(
                session,
                [
                    NewEvent(run.id, kind, 2000, encode_event_data(data), now)
                    for kind, data in [*events, *ending.get("events", [])]
                ],
            )
            values = {"extracted_variables": ending.get("variables", {})}
            await session.execute(update(Run).where(Run.id == run.id).values(gathered_context=values))
            await service.apply_status(session, self.org.id, run.id, "in_progress")
        async with self.root.db.transaction() as session:
            outcome = ending.get("outcome", "answered")
            await service.apply_status(
                session, self.org.id, run.id, "completed", outcome=outcome, end_reason="caller_hung_up"
            )
        return run

    async def waiting(self) -> list[dict[str, Any]]:
        async with self.root.db.transaction() as session:
            query = text("SELECT payload FROM pgqueuer WHERE entrypoint = :job ORDER BY id")
            return [json.loads(row.payload) for row in await session.execute(query, {"job": analyses.JOB})]

    async def work(self, run: Run, attempt: int = 1) -> None:
        payload: JsonObject = {"organization_id": self.org.id, "run_id": run.id, "attempt": attempt}
        await AnalysisJob(self.root.db, self.root.clock, self.models).read_run(payload)

    async def shown(self, run: Run) -> dict[str, Any]:
        path = f"/workflow/{run.workflow_id}/runs/{run.id}"
        return dict((await self.client.get(path, headers=self.org.key_headers)).json())


@pytest.fixture
def reader(root: Root, org: OrgFixture, client: AsyncClient, make_run: MakeRun) -> CallReader:
    return CallReader(root, org, client, make_run)


async def test_the_result_is_known_when_the_call_ends(reader: CallReader) -> None:
    run = await reader.ended_run({"results": [BOOKED, DECLINED]}, variables={"day": "Tuesday"})
    shown = await reader.shown(run)
    assert (shown["result"], shown["is_success"], shown["analysis"]) == ("Booked", True, None)
    assert await reader.waiting() == []


async def test_the_edge_that_was_taken_decides(reader: CallReader) -> None:
    taken = [("edge_taken", {"edge_id": "e1", "label": "Done", "from": "start", "to": "bye", "by": "model"})]
    run = await reader.ended_run({"results": [BOOKED, DECLINED]}, events=taken)
    shown = await reader.shown(run)
    assert (shown["result"], shown["is_success"]) == ("Declined", False)


async def test_a_voicemail_has_no_result(reader: CallReader) -> None:
    run = await reader.ended_run(
        {"results": [BOOKED], "write_summary": True}, variables={"day": "Tuesday"}, outcome="voicemail"
    )
    assert ((await reader.shown(run))["result"], await reader.waiting()) == (None, [])


async def test_rules_summarize_without_a_model(reader: CallReader) -> None:
    analysis = {"write_summary": True, "results": [BOOKED], "criteria": [POLITE, ASKED]}
    run = await reader.ended_run(analysis, variables={"day": "Tuesday", "is_new": True})
    assert (await reader.shown(run))["analysis"]["status"] == "pending"
    for _ in range(2):  # the job came again after a crash
        await reader.work(run)
    shown = await reader.shown(run)
    assert shown["analysis"] == {
        "status": "done", "judged_by": "rules", "model": None, "error": None,
        "summary": "Booked. day: Tuesday, is new: yes. The caller hung up.",
        "criteria": [
            {"name": "Polite", "passed": None, "reason": "It has no rules, and no language model is configured."},
            {"name": "Asked for the day", "passed": True, "reason": "By rules."},
        ],
    }  # fmt: skip
    assert shown["is_success"] is True
    assert reader.models.llm.extractions == []


async def test_a_model_reads_the_call_and_is_paid(reader: CallReader) -> None:
    answer = {
        "summary": "The caller wants Tuesday.",
        "result": "Booked",
        "criteria": [{"name": "polite", "passed": False, "reason": "It interrupted."}],
    }
    reader.models = FixedModels(extracts=json.dumps(answer))
    booked = {"name": "Booked", "is_success": True, "description": "A day was agreed."}
    run = await reader.ended_run({"write_summary": True, "results": [booked], "criteria": [POLITE]})
    await reader.work(run)
    shown = await reader.shown(run)
    analysis = shown["analysis"]
    assert (analysis["judged_by"], analysis["model"]) == ("model", "scripted script")
    assert analysis["summary"] == "The caller wants Tuesday."
    assert analysis["criteria"] == [{"name": "Polite", "passed": False, "reason": "It interrupted."}]
    assert (shown["result"], shown["is_success"]) == ("Booked", False)
    (used,) = shown["usage"]["llm"]
    assert (used["provider"], used["calls"]) == ("scripted", 1)
    (request,) = reader.models.llm.extractions
    assert "Tuesday" in request.messages[1].content
    assert "Booked: A day was agreed." in request.messages[0].content


async def test_an_answer_that_cannot_be_used_is_asked_again_and_rules_come_last(reader: CallReader) -> None:
    reader.models = FixedModels(extracts="I would say it went well.")
    run = await reader.ended_run({"write_summary": True, "criteria": [ASKED]}, variables={"day": "Tuesday"})
    for attempt in (1, 2, 3):
        assert [job["attempt"] for job in await reader.waiting()][-1] == attempt
        await reader.work(run, attempt)
    analysis = (await reader.shown(run))["analysis"]
    assert (analysis["status"], analysis["judged_by"]) == ("done", "rules")
    assert analysis["error"] == "The model's answer is not one JSON object."
    assert (await reader.shown(run))["usage"]["llm"][0]["calls"] == 3


async def test_nothing_is_written_of_a_call_that_is_not_kept(reader: CallReader) -> None:
    reader.models = FixedModels(extracts="{}")
    entered = [("node_entered", {"node_id": "bye", "name": "Goodbye", "kind": "endCall"})]
    ended = {"name": "Ended", "is_success": True, "rules": [{"check": "node", "name": "bye"}]}
    run = await reader.ended_run(
        {"write_summary": True, "results": [ended]}, said="", events=entered, settings={"do_not_keep": True}
    )
    await reader.work(run)
    shown = await reader.shown(run)
    assert (shown["result"], shown["analysis"]["summary"]) == ("Ended", None)
    assert reader.models.llm.extractions == []


async def test_the_summary_goes_with_the_words(reader: CallReader, root: Root) -> None:
    run = await reader.ended_run({"write_summary": True, "results": [BOOKED]}, variables={"day": "Tuesday"})
    await reader.work(run)
    async with root.db.transaction() as session:
        await retention_queries.delete_words(session, reader.org.id, [run.id])
        assert await session.scalar(select(RunAnalysis.run_id)) is None
    assert (await reader.shown(run))["result"] == "Booked"


async def test_insights_count_results(reader: CallReader, client: AsyncClient) -> None:
    await reader.ended_run({"results": [BOOKED]}, variables={"day": "Tuesday"})
    await reader.ended_run({"results": [BOOKED, DECLINED]}, events=[("edge_taken", {"edge_id": "e1"})])
    await reader.ended_run({"results": [BOOKED]})
    answer = await client.get("/organizations/usage/insights", params={"days": 2}, headers=reader.org.key_headers)
    before, today = answer.json()["days"]
    assert (before["results"], before["judged_count"]) == ({}, 0)
    assert today["results"] == {"Booked": 1, "Declined": 1}
    assert (today["success_count"], today["judged_count"]) == (1, 2)
    (agent,) = answer.json()["agents"]
    assert agent["results"] == {"Booked": 1, "Declined": 1}


async def test_lists_filter_by_result_and_success(reader: CallReader, client: AsyncClient) -> None:
    run = await reader.ended_run({"results": [BOOKED], "write_summary": True}, variables={"day": "Tuesday"})
    await reader.work(run)
    await reader.ended_run({"results": [BOOKED]})
    for one in (
        {"field": "result", "type": "select", "value": "Booked"},
        {"field": "is_success", "type": "boolean", "value": True},
    ):
        for path, name in (("/organizations/usage/runs", "items"), (f"/workflow/{run.workflow_id}/runs", "runs")):
            answer = await client.get(path, params={"filters": json.dumps([one])}, headers=reader.org.key_headers)
            assert answer.status_code == 200, answer.text
            assert [item["id"] for item in answer.json()[name]] == [run.id]
    listed = (await client.get("/organizations/usage/runs", headers=reader.org.key_headers)).json()["items"]
    assert [item["summary"] for item in listed] == [None, "Booked. day: Tuesday. The caller hung up."]
    report = await client.get("/organizations/usage/runs/report", headers=reader.org.key_headers)
    (first, *_) = [row for row in csv.DictReader(io.StringIO(report.text)) if row["run_id"] == str(run.id)]
    assert (first["result"], first["is_success"]) == ("Booked", "true")
