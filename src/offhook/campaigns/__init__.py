"""Campaigns: a list of contacts, called under every rule, once, through crashes of whatever is involved."""

from offhook.campaigns.carrier import ProcessTime, TelephonyCarrier
from offhook.campaigns.engine import Engine
from offhook.campaigns.events import CampaignStatusChanged
from offhook.campaigns.service import Campaigns
from offhook.campaigns.store import PgStore
from offhook.campaigns.tasks import DIAL_JOB, TICK_JOB, DialJobs
from offhook.root import Root
from offhook.runs import RunFinished
from offhook.telephony import CallEnded, CallReports, Outbound

__all__ = ["CampaignStatusChanged", "Campaigns", "Engine", "register"]


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

    async def call_ended(news: CallEnded | RunFinished) -> None:
        await engine.run_ended(news.organization_id, news.run_id)

    root.events.subscribe(CallEnded, call_ended)
    root.events.subscribe(RunFinished, call_ended)
