"""Percentiles of answer times over many calls: what is counted, once for each call, and who may read it."""

import asyncio
from datetime import UTC, date, datetime
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from httpx2 import AsyncClient
from sqlalchemy import delete, select, text, update

from offhook.orgs.tables import Organization
from offhook.root import Root
from offhook.runs import service
from offhook.runs.finishing import finalization
from offhook.runs.records import retention_queries
from offhook.runs.services import RunServices
from offhook.runs.strips import answer_statistics, measurement, repository
from offhook.runs.strips.answer_histograms import (
    BOUNDS_MS,
    BUCKETS,
    count_silences,
    estimate_percentile,
)
from offhook.runs.strips.measurement import MeasurementJob
from offhook.runs.strips.repository import MeasuredRun
from offhook.runs.strips.tables import AnswerHistogram
from offhook.runs.tables import Run, RunStrip
from offhook.workflows.tables import Workflow
from tests.fixtures_orgs import OrgFixture
from tests.runs.conftest import MakeRun, MakeWorkflow
from tests.runs.test_strips import record_call

PATH = "/organizations/usage/answer-times"
LLM = {"llm": [{"provider": "openai", "model": "gpt-5-mini", "calls": 3}]}


def percentile_of(silences: list[int], share: float) -> int | None:
    return estimate_percentile(dict(enumerate(count_silences(silences))), share)


class TestHistogram:
    @pytest.mark.parametrize("seed", range(20))
    @pytest.mark.parametrize("share", [0.5, 0.9, 0.95, 0.99])
    def test_percentiles_are_those_of_numpy_within_five_percent(self, seed: int, share: float) -> None:
        random = np.random.default_rng(seed)
        size = int(random.integers(1, 4000))
        silences = np.clip(random.lognormal(random.uniform(4, 8), random.uniform(0.1, 1.2), size), 10, 64_000).round()
        exact = float(np.percentile(silences, share * 100, method="inverted_cdf"))
        found = percentile_of([int(silence) for silence in silences], share)
        assert found is not None
        assert abs(found - exact) <= 0.05 * exact + 0.5

    @pytest.mark.parametrize("silence_ms", [10, 11, 500, 999, 5_000, 63_999])
    def test_one_silence_is_every_percentile(self, silence_ms: int) -> None:
        close = pytest.approx(silence_ms, abs=0.05 * silence_ms + 0.5)
        assert [percentile_of([silence_ms], share) for share in (0, 0.5, 1)] == [close] * 3

    def test_what_is_outside_the_bounds(self) -> None:
        assert percentile_of([0, 9], 0.5) == 0
        assert percentile_of([10**9], 0.5) == round(BOUNDS_MS[-1]) == 64288
        assert len(count_silences([])) == BUCKETS

    def test_nothing_has_no_percentile(self) -> None:
        assert percentile_of([], 0.5) is None
        assert estimate_percentile({}, 0.99) is None


class TestModel:
    def test_the_one_with_the_most_requests(self) -> None:
        used = [{"provider": "a", "model": "x", "calls": 2}, {"provider": "b", "model": "y", "calls": 5}]
        assert answer_statistics.find_answering_model({"llm": used}) == "b/y"

    def test_the_one_of_the_call_where_a_summary_took_as_many(self) -> None:
        used = [{"provider": "a", "model": "x", "calls": 1}, {"provider": "b", "model": "y", "calls": 1}]
        assert answer_statistics.find_answering_model({"llm": used}) == "a/x"

    @pytest.mark.parametrize("usage", [{}, {"llm": []}, {"llm": None}])
    def test_none(self, usage: dict[str, Any]) -> None:
        assert answer_statistics.find_answering_model(usage) == ""

    def test_names_fit_their_column(self) -> None:
        used = [{"provider": "p" * 99, "model": "m" * 99}]
        assert len(answer_statistics.find_answering_model({"llm": used})) == 97


async def count(root: Root, org: OrgFixture, silences: list[int], *, at: datetime | None = None, **facts: Any) -> None:
    """Counts a call that had these silences."""
    values: dict[str, Any] = {"workflow_id": 1, "mode": "twilio", "usage": LLM} | facts
    run = MeasuredRun(**values, created_at=at or root.clock.now())
    async with root.db.transaction() as session:
        await answer_statistics.add_answers(session, org.id, run, silences)


async def read(client: AsyncClient, org: OrgFixture, **query: Any) -> dict[str, Any]:
    answer = await client.get(PATH, params=query, headers=org.headers_for("viewer"))
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


class TestEndpoint:
    async def test_anonymous(self, client: AsyncClient) -> None:
        assert (await client.get(PATH)).status_code == 401

    @pytest.mark.parametrize(
        "query", ["days=0", "days=93", "days=x", "group_by=caller", "group_by=", "workflow_id=0", "workflow_id=x"]
    )
    async def test_bad_input(self, client: AsyncClient, org: OrgFixture, query: str) -> None:
        answer = await client.get(f"{PATH}?{query}", headers=org.key_headers)
        assert (answer.status_code, answer.json()["code"]) == (422, "validation_error")

    async def test_without_a_call(self, client: AsyncClient, org: OrgFixture) -> None:
        nothing = {"call_count": 0, "turn_count": 0, "p50_ms": None, "p90_ms": None, "p95_ms": None, "p99_ms": None}
        assert await read(client, org) == {"group_by": "agent", "total": nothing, "groups": []}
        days = (await read(client, org, group_by="day", days=3))["groups"]
        assert [{name: day[name] for name in nothing} for day in days] == [nothing] * 3

    async def test_other_organization(
        self, client: AsyncClient, root: Root, org: OrgFixture, other_org: OrgFixture, workflow_id: int
    ) -> None:
        await count(root, org, [500], workflow_id=workflow_id)
        assert (await read(client, other_org))["groups"] == []
        assert (await read(client, other_org, workflow_id=workflow_id))["total"]["call_count"] == 0

    async def test_by_agent(
        self, client: AsyncClient, root: Root, org: OrgFixture, workflow_id: int, make_workflow: MakeWorkflow
    ) -> None:
        sales = await make_workflow(org.id, name="Sales")
        await count(root, org, [100] * 8 + [4000] * 2, workflow_id=workflow_id)
        await count(root, org, [900] * 5, workflow_id=sales)
        await count(root, org, [900] * 15, workflow_id=sales, mode="browser")
        found = await read(client, org)
        assert [(one["key"], one["workflow_name"]) for one in found["groups"]] == [
            (str(sales), "Sales"),
            (str(workflow_id), "Front desk"),
        ]
        assert [(one["call_count"], one["turn_count"]) for one in (*found["groups"], found["total"])] == [
            (2, 20),
            (1, 10),
            (3, 30),
        ]
        desk = found["groups"][1]
        assert desk["p50_ms"] == pytest.approx(100, rel=0.05)
        assert desk["p90_ms"] == desk["p95_ms"] == desk["p99_ms"] == pytest.approx(4000, rel=0.05)
        assert found["total"]["p50_ms"] == pytest.approx(900, rel=0.05)

        only = await read(client, org, workflow_id=workflow_id)
        assert (only["groups"], only["total"]["turn_count"]) == ([desk], 10)

    async def test_a_deleted_agent_has_no_name_but_counts(
        self, client: AsyncClient, root: Root, org: OrgFixture, workflow_id: int
    ) -> None:
        await count(root, org, [500], workflow_id=workflow_id)
        async with root.db.transaction() as session:
            await session.execute(delete(Workflow).where(Workflow.id == workflow_id))
        found = await read(client, org)
        assert [(one["key"], one["workflow_name"]) for one in found["groups"]] == [(str(workflow_id), None)]
        assert found["total"]["call_count"] == 1

    async def test_by_model_and_by_carrier(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await count(root, org, [500, 700])
        await count(root, org, [300], mode="browser", usage={})
        models = await read(client, org, group_by="model")
        assert [(one["key"], one["turn_count"]) for one in models["groups"]] == [("openai/gpt-5-mini", 2), ("", 1)]
        carriers = await read(client, org, group_by="carrier")
        assert [(one["key"], one["turn_count"]) for one in carriers["groups"]] == [("twilio", 2), ("browser", 1)]

    async def test_by_day_of_the_organization(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        async with root.db.transaction() as session:
            await session.execute(
                update(Organization).where(Organization.id == org.id).values(time_zone="Pacific/Auckland")
            )
        now = root.clock.now()
        await count(root, org, [500])
        days = (await read(client, org, group_by="day", days=7))["groups"]
        keys = [date.fromisoformat(day["key"]) for day in days]
        assert (len(keys), keys) == (7, sorted(keys))
        assert [day["turn_count"] for day in days] == [0] * 6 + [1]
        assert 0 <= (keys[-1] - now.astimezone(UTC).date()).days <= 1

    async def test_only_the_last_days(self, client: AsyncClient, root: Root, org: OrgFixture) -> None:
        await count(root, org, [500], at=datetime(2020, 1, 1, tzinfo=UTC))
        assert (await read(client, org, days=92))["total"]["call_count"] == 0


@pytest.fixture
async def recorded(root: Root, run: Run) -> Run:
    async with root.db.transaction() as session:
        await session.execute(update(Run).where(Run.id == run.id).values(usage=LLM))
    await record_call(root, run)
    return run


@pytest.fixture
def job(root: Root) -> MeasurementJob:
    return MeasurementJob(root.db, root.get(RunServices).strips)


def payload_of(run: Run, tries: int = 0) -> dict[str, Any]:
    return {"organization_id": run.organization_id, "run_id": run.id, "tries": tries}


def key_of(run: Run) -> str:
    return f"recordings/{run.organization_id}/{run.id}.wav"


def strip_of(run: Run) -> RunStrip:
    return RunStrip(run_id=run.id, organization_id=run.organization_id, seconds=2, caller=b"", agent=b"", timeline={})


async def counted(root: Root) -> list[tuple[str, str, int, int]]:
    async with root.db.transaction() as session:
        rows = await session.scalars(select(AnswerHistogram))
        return [(row.model, row.carrier, row.calls, row.turns) for row in rows]


ONCE = [("openai/gpt-5-mini", "twilio", 1, 1)]


class TestEveryCallCountsOnce:
    async def test_job_and_page_and_job(
        self, client: AsyncClient, root: Root, recorded: Run, job: MeasurementJob, org: OrgFixture
    ) -> None:
        await job.measure_run(payload_of(recorded))
        page = f"/workflow/{recorded.workflow_id}/runs/{recorded.id}/strip"
        assert (await client.get(page, headers=org.owner_headers)).status_code == 200
        await job.measure_run(payload_of(recorded))
        assert await counted(root) == ONCE
        assert (await read(client, org))["total"]["p50_ms"] == pytest.approx(200, rel=0.05)

    async def test_two_workers_at_once(self, root: Root, recorded: Run, job: MeasurementJob) -> None:
        await asyncio.gather(*(job.measure_run(payload_of(recorded)) for _ in range(4)))
        assert await counted(root) == ONCE

    async def test_a_worker_killed_before_it_commits(self, root: Root, recorded: Run, job: MeasurementJob) -> None:
        async def be_killed() -> None:
            async with root.db.transaction() as session:
                kept = await repository.keep_strip(
                    session, recorded.organization_id, strip_of(recorded), key_of(recorded)
                )
                assert kept is not None
                await answer_statistics.add_answers(session, recorded.organization_id, kept, [200])
                raise ConnectionResetError

        with pytest.raises(ConnectionResetError):
            await be_killed()
        await job.measure_run(payload_of(recorded))
        assert await counted(root) == ONCE

    async def test_a_recording_deleted_while_it_was_measured(self, root: Root, recorded: Run) -> None:
        async with root.db.transaction() as session:
            await retention_queries.forget_recordings(session, recorded.organization_id, [recorded.id])
            kept = await repository.keep_strip(session, recorded.organization_id, strip_of(recorded), key_of(recorded))
            assert kept is None

    async def test_counts_outlive_the_run(self, root: Root, recorded: Run, job: MeasurementJob) -> None:
        await job.measure_run(payload_of(recorded))
        async with root.db.transaction() as session:
            await session.execute(delete(Run).where(Run.id == recorded.id))
        await job.measure_run(payload_of(recorded))
        assert await counted(root) == ONCE

    async def test_a_call_without_a_recording_does_not_count(self, root: Root, run: Run, job: MeasurementJob) -> None:
        await job.measure_run(payload_of(run))
        assert (await counted(root), await waiting_jobs(root)) == ([], [])


async def waiting_jobs(root: Root) -> list[float]:
    """The seconds until the waiting measurements."""
    async with root.db.transaction() as session:
        rows = await session.execute(
            text(
                "SELECT extract(epoch FROM execute_after - created) FROM pgqueuer WHERE entrypoint = :name ORDER BY id"
            ),
            {"name": measurement.JOB},
        )
        return [float(row[0]) for row in rows]


def first_pause_of(run: Run) -> float:
    return 20.0 + run.id % measurement.SPREAD_S


class TestWhenItIsMeasured:
    async def test_soon_after_the_end_of_a_recorded_call(self, root: Root, recorded: Run, make_run: MakeRun) -> None:
        unrecorded = await make_run()
        async with root.db.transaction() as session:
            await service.apply_status(session, unrecorded.organization_id, unrecorded.id, "canceled")
            await session.execute(text("DELETE FROM pgqueuer"))
            runs = [await session.get_one(Run, run_id) for run_id in (recorded.id, unrecorded.id)]
            await finalization.finalize_runs(session, runs)
        assert await waiting_jobs(root) == pytest.approx([first_pause_of(recorded)], abs=1)

    async def test_calls_that_end_together_one_after_another(self, root: Root, make_run: MakeRun) -> None:
        runs = [await make_run() for _ in range(5)]
        async with root.db.transaction() as session:
            for run in runs:
                run.recording_key = f"recordings/{run.id}.wav"
                await measurement.schedule_measurement(session, run)
        starts = sorted(await waiting_jobs(root))
        assert min(after - before for before, after in pairwise(starts)) > 0.9

    async def test_again_later_when_the_recording_is_not_there_yet(
        self, root: Root, recorded: Run, job: MeasurementJob
    ) -> None:
        path = root.storage.path_for(key_of(recorded))
        away = path.rename(path.with_suffix(".moved"))
        await job.measure_run(payload_of(recorded))
        assert await counted(root) == []
        assert await waiting_jobs(root) == pytest.approx([first_pause_of(recorded), 300.0], abs=1)
        away.rename(path)
        await job.measure_run(payload_of(recorded, tries=1))
        assert await counted(root) == ONCE

    async def test_not_for_ever(self, root: Root, recorded: Run, job: MeasurementJob) -> None:
        root.storage.path_for(key_of(recorded)).unlink()
        await job.measure_run(payload_of(recorded, tries=2))
        assert await waiting_jobs(root) == pytest.approx([first_pause_of(recorded)], abs=1), (
            "only that of the call's end"
        )
