"""Runs: one conversation on any channel, from its creation to its transcript, recording and cost."""

from collections.abc import Collection

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.json_values import JsonObject
from offhook.models.prices import BillingPolicy
from offhook.root import Root
from offhook.runs import endpoints
from offhook.runs.artifacts import endpoints as artifact_endpoints
from offhook.runs.events import RunFinished, RunStarted
from offhook.runs.finishing import node_webhooks, reviews
from offhook.runs.finishing.node_webhooks import NodeWebhookJob
from offhook.runs.finishing.reviews import ReviewJob
from offhook.runs.lists import run_count_queries, usage_endpoints
from offhook.runs.lists.usage_list import UsageReports
from offhook.runs.live.calls import LiveCall, LiveCallRegistry
from offhook.runs.live.event_streams import RunStreams
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.live.sweeper import RunSweeper
from offhook.runs.live.tool_registry import ToolRegistry
from offhook.runs.modes import RunModes
from offhook.runs.records.deletion import RunEraser, refuse_while_live
from offhook.runs.tables import Run
from offhook.usage import service as usage
from offhook.workflows.hooks import WorkflowHooks
from offhook.workflows.ports import RunCounter, ToolCatalog

__all__ = [
    "EventWriter",
    "LiveCall",
    "LiveCallRegistry",
    "Run",
    "RunFinished",
    "RunModes",
    "RunStarted",
    "RunStreams",
    "RunSweeper",
    "register",
]


class _WorkflowRunCounter:
    """Implements ``workflows.ports.RunCounter``."""

    async def count_runs(
        self, session: AsyncSession, organization_id: int, workflow_ids: Collection[int]
    ) -> dict[int, int]:
        return await run_count_queries.count_runs_by_workflow(session, organization_id, workflow_ids)


class _OrganizationBillingTerms:
    """Implements ``models.prices.BillingPolicy`` with each organization's own terms."""

    async def is_enforced(self, session: AsyncSession, organization_id: int) -> bool:
        return await usage.is_enforced(session, organization_id)


def register(root: Root) -> None:
    """Registers the routes, the sweeper job and the live-call services with the process."""
    writer, streams, tools = EventWriter(root.db), RunStreams(root.db), ToolRegistry(root)
    live = LiveCallRegistry(root, writer=writer, streams=streams, tools=tools)
    lease_s = root.settings.run_lease_s
    sweeper = RunSweeper(
        db=root.db,
        storage=root.storage,
        spool=live.spool,
        events=root.events,
        clock=root.clock,
        lease_s=lease_s,
        grace_s=lease_s / 3,
    )
    root.provide(EventWriter, writer)
    root.provide(UsageReports, UsageReports(root.db))
    root.provide(RunStreams, streams)
    root.provide(ToolRegistry, tools)
    root.provide(LiveCallRegistry, live)
    root.provide(RunModes, RunModes())
    root.provide(RunSweeper, sweeper)
    root.provide(RunCounter, _WorkflowRunCounter())  # type: ignore[type-abstract]  # found by its port
    root.provide(BillingPolicy, _OrganizationBillingTerms())  # type: ignore[type-abstract]  # found by its port
    root.provide(ToolCatalog, tools)  # type: ignore[type-abstract]  # found by its port
    hooks = root.get(WorkflowHooks)
    hooks.before_delete(refuse_while_live)
    hooks.on_delete(RunEraser(root.db, root.storage).erase_batch)
    root.jobs.add(node_webhooks.JOB, NodeWebhookJob(root).deliver)
    root.jobs.add(reviews.JOB, ReviewJob(root).run_review)
    root.jobs.add("run.sweep", sweeper.handle_job, every_s=root.settings.sweep_interval_s)

    async def fold_counts(_: JsonObject) -> None:
        await run_count_queries.fold_count_changes(root.db)

    root.jobs.add("run.fold_counts", fold_counts, every_s=run_count_queries.FOLD_INTERVAL_S)

    async def sweep_once() -> None:
        await sweeper.sweep(trusting=True)

    root.on_start.append(sweep_once)
    root.on_start.append(live.spool.start)
    root.on_work.append(live.spool.start)
    root.on_stop += [streams.close, live.stop_all]
    root.api.include_router(endpoints.router)
    root.api.include_router(artifact_endpoints.router)
    root.api.include_router(usage_endpoints.router)
    root.api.include_router(usage_endpoints.insights_router)
