"""Finalizes runs: charges them, publishes their end and schedules the nodes that run after the conversation."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.finishing import costs, node_webhooks, reviews, webhook_events
from offhook.runs.records import transcript_queries
from offhook.runs.tables import Run
from offhook.workflows import service as workflows
from offhook.workflows.graph import parse_graph


async def finalize_runs(session: AsyncSession, runs: Sequence[Run]) -> None:
    """Charges these runs, makes their transcripts searchable, publishes their end, and enqueues the jobs of their webhook and QA nodes; idempotent.

    Call it last in the transaction that stores their end. Organizations are processed in a fixed order, so that two
    such transactions cannot deadlock.
    """
    for organization_id in sorted({run.organization_id for run in runs}):
        organization_runs = sorted(
            (run for run in runs if run.organization_id == organization_id), key=lambda run: run.id
        )
        await costs.charge_runs(session, organization_id, organization_runs)
        await transcript_queries.index_transcripts(session, organization_id, [run.id for run in organization_runs])
        await webhook_events.publish_runs_finished(session, organization_runs)
        for version_id in sorted({run.version_id for run in organization_runs}):
            version = await workflows.version_to_run(session, organization_id, version_id)
            graph = parse_graph(version.definition)
            for run in organization_runs:
                if run.version_id == version_id:
                    await node_webhooks.schedule_deliveries(session, run, graph)
                    await reviews.schedule_reviews(session, run, graph)
