"""QA nodes: which runs are rated, by whom, what is kept of it, and what happens when the model fails."""

import json
from typing import Any

import pytest
from httpx2 import AsyncClient
from sqlalchemy import select, text, update

from offhook.models.ports import CallModels, ModelError
from offhook.root import Root
from offhook.runs import service
from offhook.runs.finishing import reviews
from offhook.runs.finishing.reviews import ReviewJob, sample_percentile
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.tables import Run, RunReview
from offhook.usage import ledger
from offhook.workflows.tables import Workflow, WorkflowVersion
from tests.fakes.calls import FixedModels, use_fakes
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import DEFINITION
from tests.usage.test_enforcement import enforce

VERDICT = {"score": 80, "passed": True, "summary": "Short and polite.", "issues": ["It did not ask for a name."]}


class OfflineModels(FixedModels):
    """Models of an installation without a language model."""

    def for_call(self, configurations: Any) -> CallModels:
        self.llm.provider = "builtin"
        return super().for_call(configurations)


class Auditor:
    """Ends runs of a workflow with QA nodes, and does the jobs that this brings."""

    def __init__(self, root: Root, org: OrgFixture, client: AsyncClient) -> None:
        self.root = root
        self.org = org
        self.models = FixedModels(extracts=json.dumps(VERDICT))
        self._client = client
        self.use(self.models)

    def use(self, models: FixedModels) -> None:
        self.models = models
        use_fakes(self.root, models)

    async def ended_run(
        self, *nodes: dict[str, Any], seconds: float = 60, outcome: str | None = None, said: str = "I want a room"
    ) -> Run:
        async with self.root.db.transaction() as session:
            workflow = Workflow(organization_id=self.org.id, name="Desk")
            session.add(workflow)
            await session.flush()
            definition = {**DEFINITION, "nodes": [*DEFINITION["nodes"], *nodes]}
            session.add(
                WorkflowVersion(
                    workflow_id=workflow.id,
                    organization_id=self.org.id,
                    version_number=1,
                    status="published",
                    definition=definition,
                )
            )
            await session.flush()
            run = await service.create_run(
                session,
                organization_id=self.org.id,
                workflow_id=workflow.id,
                mode="sandbox",
                direction="inbound",
                use_draft=False,
            )
            heard = {"text": said, "start_s": 1.0, "end_s": 2.0}
            if said:
                event = NewEvent(run.id, "caller_said", 2000, encode_event_data(heard), self.root.clock.now())
                await event_queries.append_events(session, [event])
        async with self.root.db.transaction() as session:
            await service.apply_status(session, self.org.id, run.id, "in_progress")
            started = Run.answered_at - text(f"interval '{seconds} seconds'")
            await session.execute(update(Run).where(Run.id == run.id).values(answered_at=started))
        for _ in range(2):
            async with self.root.db.transaction() as session:
                await service.apply_status(session, self.org.id, run.id, "completed", outcome=outcome)
        return run

    async def reviews(self) -> list[RunReview]:
        async with self.root.db.transaction() as session:
            return list(await session.scalars(select(RunReview).order_by(RunReview.id)))

    async def attempt(self, number: int = 1) -> RunReview:
        (review,) = await self.reviews()
        await ReviewJob(self.root.db, self.root.clock, self.models).run_review({"id": review.id, "attempt": number})
        (review,) = await self.reviews()
        return review

    async def waiting(self) -> list[tuple[int, int]]:
        """``(attempt, delay in seconds)`` of the jobs in the queue."""
        query = (
            "SELECT payload, round(extract(epoch FROM execute_after - created)) AS delay FROM pgqueuer"
            " WHERE entrypoint = :job ORDER BY id"
        )
        async with self.root.db.transaction() as session:
            rows = await session.execute(text(query), {"job": reviews.JOB})
            return [(json.loads(row.payload)["attempt"], int(row.delay)) for row in rows]

    async def shown(self, run: Run) -> dict[str, Any]:
        path = f"/workflow/{run.workflow_id}/runs/{run.id}"
        return dict((await self._client.get(path, headers=self.org.key_headers)).json())


@pytest.fixture
def auditor(root: Root, org: OrgFixture, client: AsyncClient) -> Auditor:
    return Auditor(root, org, client)


def qa(**data: Any) -> dict[str, Any]:
    return {"id": "q", "type": "qa", "position": {"x": 0, "y": 0}, "data": {"name": "Quality", **data}}


def of(run: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    return [(event["type"], event["data"]) for event in run["events"] if event["type"].startswith("qa_")]


async def test_a_run_is_rated_once(auditor: Auditor) -> None:
    run = await auditor.ended_run(qa(qa_system_prompt="Was the room booked?"))
    assert (await auditor.shown(run))["annotations"] == {"q": {"status": "pending"}}
    assert await auditor.waiting() == [(1, 0)]
    for _ in range(2):  # the job came again after a crash
        assert (await auditor.attempt()).status == "done"
    (request,) = auditor.models.llm.extractions
    system, asked = request.messages
    assert system.content.startswith("Was the room booked?")
    assert "I want a room" in asked.content
    result = {"name": "Quality", **VERDICT, "provider": "scripted", "model": "script"}
    shown = await auditor.shown(run)
    assert shown["annotations"] == {"q": {"status": "done", **result}}
    assert of(shown) == [("qa_result", {"node_id": "q", **result})]


async def test_what_the_model_used_is_counted_with_the_run(auditor: Auditor) -> None:
    run = await auditor.ended_run(qa())
    await auditor.attempt()
    shown = await auditor.shown(run)
    (used,) = shown["usage"]["llm"]
    assert (used["provider"], used["calls"]) == ("scripted", 1)
    assert used["prompt_tokens"] > 0
    assert {"llm"} <= {line["kind"] for line in [*shown["cost_lines"], *shown["unpriced"]]}


@pytest.mark.parametrize(
    ("data", "call", "is_rated"),
    [
        ({"qa_enabled": False}, {}, False),
        ({}, {"seconds": 5}, False),
        ({"qa_min_call_duration": 3}, {"seconds": 5}, True),
        ({}, {"outcome": "voicemail"}, False),
        ({"qa_voicemail_calls": True}, {"outcome": "voicemail"}, True),
    ],
)
async def test_which_runs(auditor: Auditor, data: dict[str, Any], call: dict[str, Any], is_rated: bool) -> None:
    run = await auditor.ended_run(qa(**data), **call)
    assert len(await auditor.reviews()) == is_rated
    assert set((await auditor.shown(run))["annotations"]) == ({"q"} if is_rated else set())


async def test_a_sample_is_by_the_runs_id(auditor: Auditor) -> None:
    run = await auditor.ended_run(qa(qa_sample_rate=1))
    assert len(await auditor.reviews()) == (sample_percentile(run.id) < 1)
    shares = [sample_percentile(run_id) for run_id in range(1, 10_001)]
    assert all(0 <= share < 100 for share in shares)
    assert 2_800 < sum(share < 30 for share in shares) < 3_200


async def test_a_model_that_fails_is_asked_three_times(auditor: Auditor) -> None:
    auditor.models.llm.extracting_fails = ModelError("llm_overloaded", "The vendor is busy.", retryable=True)
    run = await auditor.ended_run(qa())
    for number in (1, 2, 3):
        assert (await auditor.attempt(number)).status == ("pending" if number < 3 else "failed")
    assert await auditor.waiting() == [(1, 0), (2, 60), (3, 120)]
    shown = await auditor.shown(run)
    assert "The vendor is busy." in shown["annotations"]["q"]["error"]
    assert [(kind, data.get("retry_in_s")) for kind, data in of(shown)] == [
        ("qa_failed", 60), ("qa_failed", 120), ("qa_failed", None),
    ]  # fmt: skip


async def test_a_model_that_recovers(auditor: Auditor) -> None:
    auditor.models.llm.extracts = "I would say it went well."
    run = await auditor.ended_run(qa())
    assert (await auditor.attempt(1)).status == "pending"
    auditor.models.llm.extracts = json.dumps(VERDICT)
    await auditor.attempt(2)
    annotation = (await auditor.shown(run))["annotations"]["q"]
    assert (annotation["status"], annotation["score"], annotation.get("error")) == ("done", 80, None)


@pytest.mark.parametrize(
    "answer", [{}, {**VERDICT, "score": 101}, {**VERDICT, "score": True}, {**VERDICT, "passed": "yes"}, []]
)
async def test_an_answer_that_is_no_judgement(auditor: Auditor, answer: Any) -> None:
    auditor.models.llm.extracts = json.dumps(answer)
    await auditor.ended_run(qa())
    review = await auditor.attempt()
    assert (review.status, set(review.result or {})) == ("pending", {"name", "error"})


async def test_who_cannot_judge_says_so(auditor: Auditor) -> None:
    auditor.use(OfflineModels())
    run = await auditor.ended_run(qa())
    await auditor.attempt()
    annotation = (await auditor.shown(run))["annotations"]["q"]
    assert annotation["status"] == "skipped"
    assert "configure a language model" in annotation["reason"]
    assert not auditor.models.llm.extractions


async def test_nothing_said_is_nothing_to_judge(auditor: Auditor) -> None:
    run = await auditor.ended_run(qa(), said="")
    await auditor.attempt()
    assert of(await auditor.shown(run)) == [
        ("qa_skipped", {"node_id": "q", "name": "Quality", "reason": "The caller said nothing."})
    ]


async def test_no_review_without_credit(auditor: Auditor, root: Root, org: OrgFixture) -> None:
    await enforce(root, org.id, cents=25)
    await auditor.ended_run(qa())
    async with root.db.transaction() as session:
        await ledger.add_credit(session, org.id, -25)
    review = await auditor.attempt()
    assert (review.status, review.result) == (
        "skipped",
        {"name": "Quality", "reason": "The organization has no credit left for a review."},
    )


async def test_a_model_of_its_own(auditor: Auditor) -> None:
    auditor.models.llm.provider = "anthropic"
    await auditor.ended_run(qa(qa_use_workflow_llm=False, qa_provider="anthropic", qa_model="default"))
    assert (await auditor.attempt()).status == "done"


async def test_a_model_of_its_own_that_the_organization_has_not_configured(auditor: Auditor) -> None:
    await auditor.ended_run(qa(qa_use_workflow_llm=False, qa_provider="anthropic"))
    review = await auditor.attempt()
    assert (review.status, (review.result or {})["error"]) == (
        "failed",
        "anthropic is not configured for this organization.",
    )
    assert not auditor.models.llm.extractions
