"""What the nodes beside the conversation want done once it is over."""

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.runs import node_webhooks, reviews
from offhook.runs.tables import Run
from offhook.workflows import service as workflows
from offhook.workflows.graph import parse_graph


async def schedule(session: AsyncSession, run: Run) -> None:
    """In the transaction that stores the end of a run: the jobs of its version's webhook and QA nodes; idempotent."""
    version = await workflows.version_to_run(session, run.organization_id, run.version_id)
    graph = parse_graph(version.definition)
    await node_webhooks.schedule(session, run, graph)
    await reviews.schedule(session, run, graph)
