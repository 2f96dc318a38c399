"""Campaigns: lists of contacts, each called once and within every rule, even when processes crash."""

from collections.abc import Sequence

from offhook.campaigns import endpoints
from offhook.campaigns.deletion import CampaignEraser
from offhook.campaigns.engine.engine import CampaignEngine
from offhook.campaigns.engine.late_voicemail import LateVoicemailCorrection
from offhook.campaigns.engine.store import PostgresCampaignStore
from offhook.campaigns.engine.telephony_carrier import ProcessTime, TelephonyCarrier
from offhook.campaigns.events import CampaignStatusChanged
from offhook.campaigns.intake import endpoints as file_endpoints
from offhook.campaigns.intake.call_me_first import CampaignTestCalls
from offhook.campaigns.intake.contact_files import FOLDER as CONTACT_FILES_FOLDER
from offhook.campaigns.intake.contact_files import ContactFiles
from offhook.campaigns.intake.creation import CampaignCreation
from offhook.campaigns.intake.preflight import CampaignPreflight
from offhook.campaigns.reports import endpoints as report_endpoints
from offhook.campaigns.reports.presenter import CampaignPresenter
from offhook.campaigns.reports.progress_streams import ProgressStreams
from offhook.campaigns.reports.report import CampaignReports
from offhook.campaigns.scheduled_starts import START_JOB, ScheduledStarts
from offhook.campaigns.service import CampaignService, refuse_removing_account, refuse_while_running
from offhook.campaigns.services import CampaignServices
from offhook.campaigns.tasks import DIAL_JOB, TICK_JOB, DialJobs
from offhook.kit.crypto import Keyring
from offhook.kit.database.group_commit import GroupCommit
from offhook.orgs import StorageQuota
from offhook.root import Root
from offhook.runs import RunFinished, RunServices
from offhook.telephony import CallEnded, CallReports, OutboundCalls, OutcomeCorrected, TelephonyServices
from offhook.workflows import WorkflowHooks

__all__ = ["CampaignEngine", "CampaignService", "CampaignServices", "CampaignStatusChanged", "register"]


SWEEP_FILES_EVERY_S = 3600.0


def register(root: Root) -> None:
    """Adds the routes, the engine's jobs, and the handlers that settle calls ended in any process."""
    outbound = root.get(OutboundCalls)
    store = PostgresCampaignStore(root.db, outbound, root.events, root.clock)
    services = _build_services(root, outbound, store)
    engine = services.engine
    dial_jobs = DialJobs(engine)
    root.provide(CampaignServices, services)
    root.jobs.add(DIAL_JOB, dial_jobs.run_dial_job, lane="platform")
    root.jobs.add(TICK_JOB, dial_jobs.run_tick_job, every_s=root.settings.campaign_tick_s)
    starts = ScheduledStarts(root.db, root.events, root.clock)
    root.jobs.add(START_JOB, starts.run_start_job, every_s=root.settings.campaign_tick_s)
    root.jobs.add("campaign.sweep_files", services.files.handle_sweep, every_s=SWEEP_FILES_EVERY_S)

    async def settle_batch(runs: Sequence[tuple[int, int]]) -> list[None]:
        await engine.settle_ended_runs(runs)
        return [None] * len(runs)

    ended: GroupCommit[tuple[int, int], None] = GroupCommit(settle_batch)

    async def on_call_ended(event: CallEnded | RunFinished) -> None:
        await ended.submit((event.organization_id, event.run_id))

    async def enable_local_dialing() -> None:
        store.wake_here = dial_jobs.wake_dialing

    root.events.subscribe(CallEnded, on_call_ended)
    root.events.subscribe(RunFinished, on_call_ended)
    root.events.subscribe(OutcomeCorrected, LateVoicemailCorrection(store, root.clock).on_outcome_corrected)
    root.get(WorkflowHooks).deletion_checks.append(refuse_while_running)
    root.get(TelephonyServices).account_hooks.checks.append(refuse_removing_account)
    root.on_work.append(enable_local_dialing)
    root.on_stop.append(dial_jobs.close)
    root.on_stop.append(services.streams.close)
    for module in (file_endpoints, endpoints, report_endpoints):
        root.api.include_router(module.router)


def _build_services(root: Root, outbound: OutboundCalls, store: PostgresCampaignStore) -> CampaignServices:
    db, clock = root.db, root.clock
    telephony = root.get(TelephonyServices)
    carrier = TelephonyCarrier(telephony.outbound, telephony.lost_calls, root.get(CallReports), root.events)
    engine = CampaignEngine(store, carrier, ProcessTime(clock), dial_timeout_s=root.settings.campaign_patience_s)
    quota = root.get(StorageQuota)
    quota.folders["contact_files"] = CONTACT_FILES_FOLDER
    files = ContactFiles(db=db, storage=root.storage, keyring=root.get(Keyring), clock=clock, quota=quota)
    presenter = CampaignPresenter(outbound, clock)
    return CampaignServices(
        engine=engine,
        campaigns=CampaignService(db, root.events, clock, outbound, engine, presenter),
        eraser=CampaignEraser(db, root.storage, clock, root.get(RunServices).eraser),
        files=files,
        creation=CampaignCreation(db, files, outbound, presenter, clock),
        preflight=CampaignPreflight(db, files, presenter, clock),
        test_calls=CampaignTestCalls(db, outbound),
        presenter=presenter,
        streams=ProgressStreams(db, presenter),
        reports=CampaignReports(db),
    )
