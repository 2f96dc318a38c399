"""Campaigns: a list of contacts, called under every rule, once, through crashes of whatever is involved."""

from collections.abc import Sequence

from offhook.campaigns import endpoints
from offhook.campaigns.engine.engine import CampaignEngine
from offhook.campaigns.engine.late_voicemail import LateVoicemailCorrection
from offhook.campaigns.engine.store import PostgresCampaignStore
from offhook.campaigns.engine.telephony_carrier import ProcessTime, TelephonyCarrier
from offhook.campaigns.events import CampaignStatusChanged
from offhook.campaigns.intake import endpoints as file_endpoints
from offhook.campaigns.intake.contact_files import ContactFiles
from offhook.campaigns.intake.creation import CampaignCreation
from offhook.campaigns.intake.preflight import CampaignPreflight
from offhook.campaigns.reports import endpoints as reading_endpoints
from offhook.campaigns.reports.presenter import CampaignPresenter
from offhook.campaigns.reports.progress_streams import ProgressStreams
from offhook.campaigns.service import CampaignService, refuse_removing_account, refuse_while_running
from offhook.campaigns.tasks import DIAL_JOB, TICK_JOB, DialJobs
from offhook.kit.crypto import Keyring
from offhook.kit.database.group_commit import GroupCommit
from offhook.root import Root
from offhook.runs import RunFinished
from offhook.telephony import AccountHooks, CallEnded, CallReports, OutboundCalls, OutcomeCorrected
from offhook.workflows import WorkflowHooks

__all__ = ["CampaignEngine", "CampaignService", "CampaignStatusChanged", "register"]


SWEEP_FILES_EVERY_S = 3600.0


def register(root: Root) -> None:
    """Add the engine's jobs and let it hear of every call that ends, in whichever process."""
    outbound = root.get(OutboundCalls)
    store = PostgresCampaignStore(root.db, outbound, root.events, root.clock)
    carrier = TelephonyCarrier(outbound, root.get(CallReports), root.events)
    engine = CampaignEngine(store, carrier, ProcessTime(root.clock), patience_s=root.settings.campaign_patience_s)
    dialling = DialJobs(engine)
    root.provide(CampaignEngine, engine)
    root.provide(CampaignService, CampaignService(root.db, root.events, root.clock, outbound, engine))
    root.jobs.add(DIAL_JOB, dialling.run_dial_job)
    root.jobs.add(TICK_JOB, dialling.run_tick_job, every_s=root.settings.campaign_tick_s)

    async def settle_batch(runs: Sequence[tuple[int, int]]) -> list[None]:
        await engine.settle_ended_runs(runs)
        return [None] * len(runs)

    ended: GroupCommit[tuple[int, int], None] = GroupCommit(settle_batch)

    async def on_call_ended(news: CallEnded | RunFinished) -> None:
        await ended.submit((news.organization_id, news.run_id))

    async def enable_local_dialing() -> None:
        store.set_local_wake(dialling.wake_dialing)

    root.events.subscribe(CallEnded, on_call_ended)
    root.events.subscribe(RunFinished, on_call_ended)
    root.events.subscribe(OutcomeCorrected, LateVoicemailCorrection(store, root.clock).on_outcome_corrected)
    root.on_work.append(enable_local_dialing)
    root.on_stop.append(dialling.close)
    _register_http(root, outbound)


def _register_http(root: Root, outbound: OutboundCalls) -> None:
    files = ContactFiles(db=root.db, storage=root.storage, keyring=root.get(Keyring), clock=root.clock)
    views = CampaignPresenter(outbound, root.clock)
    streams = ProgressStreams(root.db, views)
    root.provide(ContactFiles, files)
    root.provide(CampaignPresenter, views)
    root.provide(ProgressStreams, streams)
    root.provide(CampaignPreflight, CampaignPreflight(root.db, files, views, root.clock))
    root.provide(CampaignCreation, CampaignCreation(root.db, files, outbound, root.clock))
    root.jobs.add("campaign.sweep_files", files.handle_sweep, every_s=SWEEP_FILES_EVERY_S)
    root.get(WorkflowHooks).before_delete(refuse_while_running)
    root.get(AccountHooks).before_removal(refuse_removing_account)
    root.on_stop.append(streams.close)
    for module in (file_endpoints, endpoints, reading_endpoints):
        root.api.include_router(module.router)
