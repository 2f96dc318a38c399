"""Campaigns: a list of contacts, called under every rule, once, through crashes of whatever is involved."""

from collections.abc import Sequence

from offhook.campaigns import endpoints
from offhook.campaigns.engine.engine import Engine
from offhook.campaigns.engine.late_voicemail import LateVerdicts
from offhook.campaigns.engine.store import PgStore
from offhook.campaigns.engine.telephony_carrier import ProcessTime, TelephonyCarrier
from offhook.campaigns.events import CampaignStatusChanged
from offhook.campaigns.intake import endpoints as file_endpoints
from offhook.campaigns.intake.contact_files import ContactFiles
from offhook.campaigns.intake.creation import Creating
from offhook.campaigns.intake.preflight import Preflight
from offhook.campaigns.reports import endpoints as reading_endpoints
from offhook.campaigns.reports.presenter import Views
from offhook.campaigns.reports.progress_streams import ProgressStreams
from offhook.campaigns.service import Campaigns, refuse_removing_account, refuse_while_running
from offhook.campaigns.tasks import DIAL_JOB, TICK_JOB, DialJobs
from offhook.kit.crypto import Keyring
from offhook.kit.database.group_commit import Batcher
from offhook.root import Root
from offhook.runs import RunFinished
from offhook.telephony import AccountHooks, CallEnded, CallReports, Outbound, OutcomeCorrected
from offhook.workflows import WorkflowHooks

__all__ = ["CampaignStatusChanged", "Campaigns", "Engine", "register"]


SWEEP_FILES_EVERY_S = 3600.0


def register(root: Root) -> None:
    """Add the engine's jobs and let it hear of every call that ends, in whichever process."""
    outbound = root.get(Outbound)
    store = PgStore(root.db, outbound, root.events, root.clock)
    carrier = TelephonyCarrier(outbound, root.get(CallReports), root.events)
    engine = Engine(store, carrier, ProcessTime(root.clock), patience_s=root.settings.campaign_patience_s)
    dialling = DialJobs(engine)
    root.provide(Engine, engine)
    root.provide(Campaigns, Campaigns(root.db, root.events, root.clock, outbound, engine))
    root.jobs.add(DIAL_JOB, dialling.dial)
    root.jobs.add(TICK_JOB, dialling.tick, every_s=root.settings.campaign_tick_s)

    async def settle(runs: Sequence[tuple[int, int]]) -> list[None]:
        await engine.runs_ended(runs)
        return [None] * len(runs)

    ended: Batcher[tuple[int, int], None] = Batcher(settle)

    async def call_ended(news: CallEnded | RunFinished) -> None:
        await ended.do((news.organization_id, news.run_id))

    async def dial_here() -> None:
        store.dials_here(dialling.wake)

    root.events.subscribe(CallEnded, call_ended)
    root.events.subscribe(RunFinished, call_ended)
    root.events.subscribe(OutcomeCorrected, LateVerdicts(store, root.clock).on_corrected)
    root.on_work.append(dial_here)
    root.on_stop.append(dialling.close)
    _register_http(root, outbound)


def _register_http(root: Root, outbound: Outbound) -> None:
    files = ContactFiles(db=root.db, storage=root.storage, keyring=root.get(Keyring), clock=root.clock)
    views = Views(outbound, root.clock)
    streams = ProgressStreams(root.db, views)
    root.provide(ContactFiles, files)
    root.provide(Views, views)
    root.provide(ProgressStreams, streams)
    root.provide(Preflight, Preflight(root.db, files, views, root.clock))
    root.provide(Creating, Creating(root.db, files, outbound, root.clock))
    root.jobs.add("campaign.sweep_files", files.handle_sweep, every_s=SWEEP_FILES_EVERY_S)
    root.get(WorkflowHooks).before_delete(refuse_while_running)
    root.get(AccountHooks).before_removal(refuse_removing_account)
    root.on_stop.append(streams.close)
    for module in (file_endpoints, endpoints, reading_endpoints):
        root.api.include_router(module.router)
