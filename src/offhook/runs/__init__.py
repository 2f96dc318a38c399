"""Runs: one conversation on any channel, from its creation to its transcript, recording and cost."""

from dataclasses import replace
from functools import partial

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.shares import OrganizationShares
from offhook.kit.crypto import Keyring
from offhook.kit.http.metrics import LIVE_CALLS
from offhook.knowledge import PassageLookup
from offhook.models.ports import ModelSource
from offhook.models.prices import BillingPolicy
from offhook.orgs.data_keys.keys import DataKeys
from offhook.recordings import RecordingLibrary
from offhook.root import Root
from offhook.runs import endpoints, owner_endpoints
from offhook.runs.artifacts import endpoints as artifact_endpoints
from offhook.runs.cluster_room import ClusterRoom, remember_room
from offhook.runs.events import RunFinished, RunStarted
from offhook.runs.finishing import analyses, node_webhooks, reviews
from offhook.runs.finishing.analyses import AnalysisJob
from offhook.runs.finishing.node_webhooks import NodeWebhookJob
from offhook.runs.finishing.reviews import ReviewJob
from offhook.runs.lists import run_count_queries, usage_endpoints
from offhook.runs.lists.usage_list import UsageReports
from offhook.runs.live.agent_factory import AgentFactory
from offhook.runs.live.call_metrics import EVENTS_WAITING, LEASE_AGE
from offhook.runs.live.calls import LiveCallRegistry
from offhook.runs.live.event_streams import RunStreams
from offhook.runs.live.event_writer import EventWriter
from offhook.runs.live.live_call import LiveCall
from offhook.runs.live.pre_call_request import PreCallFetch
from offhook.runs.live.sweeper import RunSweeper
from offhook.runs.live.tool_registry import ToolRegistry
from offhook.runs.modes import RunModes
from offhook.runs.partitions import run_partitions
from offhook.runs.partitions.run_partitions import RunPartitions
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records.deletion import RunEraser, refuse_while_live, require_admin_for_history
from offhook.runs.resuming.call_owners import CallOwners
from offhook.runs.resuming.call_states import CallStates
from offhook.runs.services import RunServices
from offhook.runs.strips import endpoints as strip_endpoints
from offhook.runs.strips import measurement
from offhook.runs.strips.call_strips import CallStrips
from offhook.runs.strips.measurement import MeasurementJob
from offhook.runs.tables import Run
from offhook.runs.views import endpoints as view_endpoints
from offhook.tools import ToolServices
from offhook.usage import service as usage
from offhook.workflows import WorkflowServices

__all__ = [
    "ClusterRoom",
    "LiveCall",
    "LiveCallRegistry",
    "Run",
    "RunFinished",
    "RunServices",
    "RunStarted",
    "register",
]


class _OrganizationBillingTerms:
    """Implements ``models.prices.BillingPolicy`` with each organization's own terms."""

    async def is_enforced(self, session: AsyncSession, organization_id: int) -> bool:
        return await usage.is_enforced(session, organization_id)

    async def charge_request(self, session: AsyncSession, organization_id: int, note: str) -> None:
        await usage.charge_model_request(session, organization_id, note)


def register(root: Root) -> None:
    """Registers the routes, the sweeper job and the live-call services with the process."""
    services = _build_services(root)
    live, sweeper, agents = services.live, services.sweeper, services.agents
    root.provide(RunServices, services)
    root.provide(LiveCallRegistry, live)
    root.provide(ClusterRoom, live.room)
    root.provide(BillingPolicy, _OrganizationBillingTerms())  # type: ignore[type-abstract]  # found by its port
    workflows = root.get(WorkflowServices)
    count_runs = run_count_queries.count_runs_by_workflow
    root.provide(WorkflowServices, replace(workflows, count_runs=count_runs, tools=agents.tools))
    workflows.hooks.deletion_checks.extend([require_admin_for_history, refuse_while_live])
    workflows.hooks.erasers.append(services.eraser.erase_batch)
    deliveries = NodeWebhookJob(root.db, root.clock, root.settings, services.keyring, root.get(ToolServices).runner)
    root.jobs.add(node_webhooks.JOB, deliveries.deliver, lane="requests", shares=OrganizationShares(8, 4))
    review = ReviewJob(root.db, root.clock, agents.models)
    root.jobs.add(reviews.JOB, review.run_review, lane="requests", shares=OrganizationShares(4, 2))
    analysis = AnalysisJob(root.db, root.clock, agents.models)
    root.jobs.add(analyses.JOB, analysis.read_run, lane="requests", shares=OrganizationShares(4, 2))
    measuring = MeasurementJob(root.db, services.strips)
    # A process measures one recording at a time: more places would only keep documents waiting.
    root.jobs.add(measurement.JOB, measuring.measure_run, shares=OrganizationShares(2, 1))
    root.jobs.add("run.sweep", sweeper.sweep, every_s=root.settings.sweep_interval_s)

    fold_counts = partial(run_count_queries.fold_count_changes, root.db)
    root.jobs.add("run.fold_counts", fold_counts, every_s=run_count_queries.FOLD_INTERVAL_S)
    root.jobs.add(run_partitions.KEEP_JOB, services.partitions.keep_ahead, every_s=run_partitions.KEEP_INTERVAL_S)
    root.on_start.append(live.spool.start)
    root.on_work.append(live.spool.start)
    root.on_drain.append(live.drain)
    root.on_stop += [services.streams.close, live.stop_all]
    root.process_checks |= {"leases": live.is_renewing, "events": services.writer.is_writing}
    LIVE_CALLS.set_function(lambda: live.active_calls)
    EVENTS_WAITING.set_function(lambda: services.writer.pending_count)
    LEASE_AGE.set_function(live.lease_age_s)
    root.api.include_router(owner_endpoints.router)
    root.api.include_router(endpoints.router)
    root.api.include_router(artifact_endpoints.router)
    root.api.include_router(strip_endpoints.router)
    root.api.include_router(strip_endpoints.list_router)
    root.api.include_router(usage_endpoints.router)
    root.api.include_router(usage_endpoints.insights_router)
    root.api.include_router(view_endpoints.router)


def _build_services(root: Root) -> RunServices:
    db, clock, runner = root.db, root.clock, root.get(ToolServices).runner
    streams = RunStreams(db)
    writer = EventWriter(db, streams.on_live, states=CallStates(root.get(Keyring)), clock=root.clock)
    agents = AgentFactory(
        tools=ToolRegistry(db, runner),
        recordings=root.get(RecordingLibrary),
        passages=root.get(PassageLookup),
        models=root.get(ModelSource),  # type: ignore[type-abstract]  # found by its port
    )
    vault = RecordingVault(db, root.storage, DataKeys(root.get(Keyring)), encrypts=root.settings.encrypt_recordings)
    live = LiveCallRegistry(
        db=db,
        events=root.events,
        clock=clock,
        settings=root.settings,
        writer=writer,
        agents=agents,
        pre_call=PreCallFetch(db, runner),
        vault=vault,
    )
    live.set_node_id(root.node_id)
    remember_room(root.db.engine.sync_engine, live.room)
    lease_s = root.settings.run_lease_s
    sweeper = RunSweeper(
        db=db,
        storage=root.storage,
        spool=live.spool,
        events=root.events,
        clock=clock,
        lease_s=lease_s,
        grace_s=lease_s / 3,
        find_carried=CallOwners(db, root.get(Keyring)).find_carried,
    )
    sweeper.states = writer.states
    return RunServices(
        writer=writer,
        streams=streams,
        agents=agents,
        live=live,
        sweeper=sweeper,
        modes=RunModes(),
        usage_reports=UsageReports(db),
        strips=CallStrips(db, vault),
        eraser=RunEraser(db, root.storage, clock),
        partitions=RunPartitions(db, clock),
        storage=root.storage,
        vault=vault,
        keyring=root.get(Keyring),
        clock=clock,
    )
