"""Finalizes runs: charges them, assigns results, publishes their end and schedules what follows the conversation."""

from collections import defaultdict
from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.finishing import analyses, call_results, costs, node_webhooks, reviews, webhook_events
from offhook.runs.records import transcript_queries
from offhook.runs.resuming import resume_queries
from offhook.runs.strips import measurement
from offhook.runs.tables import Run
from offhook.workflows import service as workflows
from offhook.workflows.graph import parse_graph
from offhook.workflows.results.definitions import parse_call_analysis


async def finalize_runs(session: AsyncSession, runs: Sequence[Run]) -> None:
    """Charges these runs, makes their transcripts searchable, assigns their results, publishes their end, and enqueues
    the jobs of webhook nodes, QA nodes, analyses and recordings; idempotent.

    Call it last in the transaction that stores their end. Organizations are processed in a fixed order, so that two
    such transactions cannot deadlock.
    """
    for organization_id in sorted({run.organization_id for run in runs}):
        organization_runs = sorted(
            (run for run in runs if run.organization_id == organization_id), key=lambda run: run.id
        )
        run_ids = [run.id for run in organization_runs]
        await resume_queries.forget_states(session, organization_id, run_ids)
        await transcript_queries.index_transcripts(session, organization_id, run_ids)
        by_version: dict[int, list[Run]] = defaultdict(list)
        for run in organization_runs:
            by_version[run.version_id].append(run)
        versions = {
            version_id: await workflows.version_to_run(session, organization_id, version_id)
            for version_id in sorted(by_version)
        }
        analyses_of = {version_id: parse_call_analysis(one.configurations) for version_id, one in versions.items()}
        for version_id, runs_of_version in by_version.items():
            await call_results.assign_results(session, organization_id, runs_of_version, analyses_of[version_id])
        await costs.charge_runs(session, organization_id, organization_runs)
        await webhook_events.publish_runs_finished(session, organization_runs)
        for version_id, runs_of_version in by_version.items():
            graph = parse_graph(versions[version_id].definition)
            for run in runs_of_version:
                await node_webhooks.schedule_deliveries(session, run, graph)
                await reviews.schedule_reviews(session, run, graph)
                await analyses.schedule_analysis(session, run, analyses_of[version_id])
                await measurement.schedule_measurement(session, run)
