"""The end of runs: what they cost, who is told, and what the nodes beside the conversation want done."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs.finishing import costs, node_webhooks, reviews, webhook_events
from offhook.runs.tables import Run
from offhook.workflows import service as workflows
from offhook.workflows.graph import parse_graph


async def finalize_runs(session: AsyncSession, runs: Sequence[Run]) -> None:
    """In the transaction that stores the end of these runs, and last in it: charge them, tell of them, and enqueue the
    jobs of their versions' webhook and QA nodes; idempotent.

    Organizations go one after the other in one order, so that two such transactions never wait for each other.
    """
    for organization_id in sorted({run.organization_id for run in runs}):
        theirs = sorted((run for run in runs if run.organization_id == organization_id), key=lambda run: run.id)
        await costs.charge_runs(session, organization_id, theirs)
        await webhook_events.publish_runs_finished(session, theirs)
        await _schedule_node_jobs(session, organization_id, theirs)


async def _schedule_node_jobs(session: AsyncSession, organization_id: int, runs: Sequence[Run]) -> None:
    for version_id in sorted({run.version_id for run in runs}):
        version = await workflows.version_to_run(session, organization_id, version_id)
        graph = parse_graph(version.definition)
        for run in runs:
            if run.version_id == version_id:
                await node_webhooks.schedule_deliveries(session, run, graph)
                await reviews.schedule_reviews(session, run, graph)
