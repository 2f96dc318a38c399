"""Summaries and success criteria: the job that reads every finished run of an agent that has them, once."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook import jobs
from offhook.jobs.registry import read_number
from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.models.ports import ModelSource
from offhook.orgs.data_keys.sealed_rows import seal_row
from offhook.runs import repository as runs
from offhook.runs.finishing import analysis_queries, call_reading, costs, repository
from offhook.runs.finishing.call_reading import CallReading
from offhook.runs.finishing.call_results import has_conversation, load_facts
from offhook.runs.finishing.model_usage import add_usage
from offhook.runs.records import event_queries
from offhook.runs.records.projections import build_transcript, format_transcript
from offhook.runs.records.storable_json import to_storable_json
from offhook.runs.tables import Run, RunAnalysis
from offhook.usage import service as usage_service
from offhook.voice.errors import AllModelsFailed
from offhook.voice.safety.model_failover import OFFLINE_PROVIDER
from offhook.voice.usage_counter import UsageCounter
from offhook.workflows import service as workflows
from offhook.workflows.results.definitions import CallAnalysis, ResultDefinition, parse_call_analysis
from offhook.workflows.results.rules import CallFacts, is_success

JOB: Final = "run_analysis.read"
MAX_ATTEMPTS: Final = 3
MIN_RETRY_DELAY_S: Final = 60
MAX_EVENTS: Final = 10_000
MAX_TRANSCRIPT_CHARS: Final = 60_000
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class _AnalysisCase:
    """The data that one attempt needs, detached from any session. ``spoken`` is empty when no words were kept."""

    run_id: int
    attempt: int
    organization_id: int
    analysis: CallAnalysis
    result: ResultDefinition | None
    facts: CallFacts
    configurations: Mapping[str, Any]
    spoken: str
    keeps_words: bool
    can_pay: bool


async def schedule_analysis(session: AsyncSession, run: Run, analysis: CallAnalysis) -> None:
    """Schedules the reading of a run, in the transaction that stores its end; idempotent."""
    if not analysis.needs_reading or not has_conversation(run):
        return
    if await analysis_queries.insert_analysis_once(session, run):
        await jobs.enqueue(session, JOB, _job_payload(run.organization_id, run.id, 1))


def _job_payload(organization_id: int, run_id: int, attempt: int) -> JsonObject:
    return {"organization_id": organization_id, "run_id": run_id, "attempt": attempt}


class AnalysisJob:
    """The job. No transaction is open while a model reads."""

    def __init__(self, db: Database, clock: Clock, models: ModelSource) -> None:
        self._db = db
        self._clock = clock
        self._models = models

    async def read_run(self, payload: JsonObject) -> None:
        """Makes one attempt. A job that runs twice repeats its own attempt, never an earlier one."""
        case = await self._claim(*(read_number(payload, name) for name in ("organization_id", "run_id", "attempt")))
        if case is None:
            return
        usage = UsageCounter()
        reading, error = await self._read_call(case, usage)
        await self._store(case, reading, error, usage.as_dict())

    async def _claim(self, organization_id: int, run_id: int, attempt: int) -> _AnalysisCase | None:
        async with self._db.transaction() as session:
            row = await analysis_queries.lock_analysis(session, organization_id, run_id)
            if row is None or row.status != "pending" or row.attempts not in {attempt - 1, attempt}:
                return None
            row.attempts = attempt
            run = await runs.by_id(session, organization_id, run_id)
            assert run is not None  # the analysis is deleted with its run
            version = await workflows.version_to_run(session, organization_id, run.version_id)
            analysis = parse_call_analysis(version.configurations)
            facts = (await load_facts(session, organization_id, [run]))[run.id]
            stored = await event_queries.read_events(session, organization_id, run_id, limit=MAX_EVENTS)
            can_pay = await usage_service.can_spend(session, organization_id)
        lines = build_transcript(stored)
        has_caller = any(line.role == "caller" for line in lines)
        return _AnalysisCase(
            run_id, attempt, organization_id, analysis, analysis.find_result(run.result), facts,
            version.configurations,
            spoken=format_transcript(lines)[-MAX_TRANSCRIPT_CHARS:] if has_caller else "",
            keeps_words=version.configurations.get("do_not_keep") is not True,
            can_pay=can_pay,
        )  # fmt: skip

    async def _read_call(self, case: _AnalysisCase, usage: UsageCounter) -> tuple[CallReading | None, str | None]:
        """Returns the reading, or why there is none. Without a language model that can be asked, rules decide."""
        if case.spoken and case.can_pay:
            models = await self._models.for_organization(case.organization_id, case.configurations)
            llms = [llm for llm in models.llm if llm.model_ref.provider != OFFLINE_PROVIDER]
            if llms:
                try:
                    return await call_reading.read_by_model(case.analysis, case.result, llms, case.spoken, usage), None
                except (AllModelsFailed, ValueError, TimeoutError) as error:
                    return None, (str(error) or f"No answer within {call_reading.TIMEOUT_S:g} s.")[:500]
        analysis = case.analysis if case.keeps_words else case.analysis.model_copy(update={"write_summary": False})
        return call_reading.read_by_rules(analysis, case.result, case.facts), None

    async def _store(
        self, case: _AnalysisCase, reading: CallReading | None, error: str | None, usage: Mapping[str, Any]
    ) -> None:
        async with self._db.transaction() as session:
            row = await analysis_queries.lock_analysis(session, case.organization_id, case.run_id)
            if row is None or row.status != "pending" or row.attempts != case.attempt:
                return
            row.updated_at = self._clock.now()
            run = await repository.lock_run(session, case.organization_id, case.run_id)
            assert run is not None  # the analysis is deleted with its run
            if reading is None and case.attempt < MAX_ATTEMPTS:
                row.error = error
                delay_s = MIN_RETRY_DELAY_S * 2 ** (case.attempt - 1)
                await jobs.enqueue(
                    session, JOB, _job_payload(case.organization_id, case.run_id, case.attempt + 1), delay_s=delay_s
                )
            else:
                if reading is None:  # better what rules know than nothing
                    reading = call_reading.read_by_rules(case.analysis, case.result, case.facts)
                row.status = "done"
                _apply_reading(row, run, reading)
                await seal_row(session, row)
                row.error = error
            if usage.get("llm"):
                run.usage = add_usage(run.usage, usage)
                await costs.charge_run(session, run)
        if error is not None:
            log.warning("analysis_failed", run_id=case.run_id, attempt=case.attempt)


def _apply_reading(row: RunAnalysis, run: Run, reading: CallReading) -> None:
    facts = to_storable_json(
        {"summary": reading.summary, "criteria": [asdict(verdict) for verdict in reading.verdicts]}
    )
    row.judged_by, row.model = reading.judged_by, reading.model and reading.model[:120]
    row.summary = None if facts["summary"] is None else str(facts["summary"])
    row.criteria = [dict(one) for one in facts["criteria"] if isinstance(one, dict)]  # type: ignore[union-attr]
    run.result = None if reading.result is None else reading.result.name
    run.is_success = is_success(reading.result, reading.verdicts)
