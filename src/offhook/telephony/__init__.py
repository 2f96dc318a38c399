"""Telephone calls: the carriers by capability, the media path that they share, and placing calls."""

from typing import Final

from offhook.kit.crypto import Keyring
from offhook.root import Root
from offhook.runs import RunFinished, RunServices
from offhook.telephony.accounts import endpoints as account_endpoints
from offhook.telephony.accounts import managed_carrier_endpoints, number_endpoints
from offhook.telephony.accounts.account_numbers import AccountNumbers
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.number_lookup import CarrierLookup
from offhook.telephony.accounts.number_purchasing import ManagedNumbers
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.accounts.service import AccountHooks, CarrierConfigurations
from offhook.telephony.accounts.sub_accounts import SubAccounts
from offhook.telephony.call_signals import CallSignals
from offhook.telephony.calls.call_requests import CallRequests
from offhook.telephony.calls.carrier_charges import JOB as BILL_JOB
from offhook.telephony.calls.carrier_charges import MISSED_EVERY_S, MISSED_JOB, ChargeCollector
from offhook.telephony.calls.endpoints import public, telephony
from offhook.telephony.calls.lost_calls import JOB as LOST_CALL_JOB
from offhook.telephony.calls.lost_calls import LostCallFinder
from offhook.telephony.calls.outbound import CallOrder, OutboundCalls, PlacedCall
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.carriers import IN_PROCESS, build_remote_carriers
from offhook.telephony.events import CallEnded, CallStreamEnded, OutcomeCorrected
from offhook.telephony.media.admission import MediaAdmission
from offhook.telephony.media.carrier_signals import CarrierCallControl
from offhook.telephony.media.no_media_sweeper import NoMediaSweeper
from offhook.telephony.ports import CarrierRegistry
from offhook.telephony.services import TelephonyServices
from offhook.telephony.transfers.callbacks import TransferResults
from offhook.telephony.transfers.service import CallTransfers
from offhook.telephony.transfers.warm_transfers import WarmTransfers
from offhook.telephony.webhooks import endpoints as callback_endpoints
from offhook.telephony.webhooks import rejection_endpoints
from offhook.telephony.webhooks.call_reconnector import CallReconnector
from offhook.telephony.webhooks.inbound_calls import AnswerDocuments, InboundCalls
from offhook.telephony.webhooks.rejections import JOB as REFUSED_JOB
from offhook.telephony.webhooks.rejections import CallRefusals
from offhook.telephony.webhooks.resumed_calls import ResumedCalls
from offhook.telephony.webhooks.status_callbacks import CarrierCallbacks
from offhook.telephony.webhooks.verification import ReplayGuard

__all__ = [
    "CallEnded",
    "CallOrder",
    "CallReports",
    "CarrierRegistry",
    "OutboundCalls",
    "OutcomeCorrected",
    "PlacedCall",
    "TelephonyServices",
    "register",
]

FORGET_EVERY_S: Final = 3600.0
UNHEARD_EVERY_S: Final = 10.0
SETTLE_EVERY_S: Final = 30.0
CLOSE_EVERY_S: Final = 300.0


def register(root: Root) -> None:
    """Adds the carriers, the media socket, and everything that places and takes calls."""
    reports = CallReports(root.db, root.events, root.clock)
    runs = root.get(RunServices)
    http, keyring = CarrierHttp(root.settings.carrier_urls), root.get(Keyring)
    carriers = build_remote_carriers(http)
    accounts, address = (
        CarrierAccounts(keyring, root.settings, carriers),
        PublicAddress(root.settings, keyring, runs.live.room.find_media_url),
    )
    signals = CallSignals(root.db)
    control = CarrierCallControl(root.db, carriers, accounts, signals)
    admission = MediaAdmission(root.db, carriers, runs.live, reports, control)
    for register_carrier in IN_PROCESS:
        register_carrier(root, carriers, admission, reports)
    accounts.require_platform_catalog()
    runs.modes.add(carriers.names)
    runs.live.slots.add_free_modes(spec.name for spec in carriers.specs if spec.is_in_process)
    runs.live.handovers.modes.update(carriers.resumable)
    warm = WarmTransfers(root.db, address, signals)
    runs.agents.tools.transfers = CallTransfers(root.db, carriers, accounts, warm, address, root.clock)
    root.provide(CallReports, reports)
    root.provide(CarrierRegistry, carriers)
    root.provide(CarrierAccounts, accounts)
    root.provide(PublicAddress, address)
    reconnector = CallReconnector(root.db, carriers, accounts, address, runs.live.handovers, warm.has_joined)
    root.events.subscribe(CallStreamEnded, reconnector.on_stream_ended)
    services = _build_services(root, carriers, accounts, address, reports, control, admission)
    root.provide(OutboundCalls, services.outbound)
    root.provide(TelephonyServices, services)
    _register_jobs(root, services, ChargeCollector(root.db, carriers, accounts))
    for router in (
        telephony,
        public,
        rejection_endpoints.router,
        callback_endpoints.router,
        callback_endpoints.carrier_routes(carriers),
        account_endpoints.router,
        number_endpoints.router,
        managed_carrier_endpoints.router,
    ):
        root.api.include_router(router)
    root.on_stop += [services.refusals.close, http.aclose, signals.close]
    root.on_stop += [spec.close for spec in carriers.specs if spec.close is not None]


def _build_services(
    root: Root,
    carriers: CarrierRegistry,
    accounts: CarrierAccounts,
    address: PublicAddress,
    reports: CallReports,
    control: CarrierCallControl,
    admission: MediaAdmission,
) -> TelephonyServices:
    db, clock, hooks = root.db, root.clock, AccountHooks()
    proofs = ReplayGuard(db, clock)
    lost_calls = LostCallFinder(db, carriers, reports, accounts, clock)
    outbound = OutboundCalls(db, carriers, reports, accounts, address, lost_calls, root.clock)
    callbacks = CarrierCallbacks(db, root.events, carriers, accounts, address, proofs)
    refusals = CallRefusals(db, carriers, accounts, proofs)
    sub_accounts = SubAccounts(db, carriers, accounts, hooks, clock)
    numbers = AccountNumbers(db, carriers, accounts, address, hooks, clock)
    return TelephonyServices(
        outbound=outbound,
        call_requests=CallRequests(db, outbound),
        lost_calls=lost_calls,
        admission=admission,
        no_media=NoMediaSweeper(db, carriers, reports, control, clock),
        replay_guard=proofs,
        callbacks=callbacks,
        inbound=InboundCalls(db, carriers, accounts, address, proofs, callbacks, reports, refusals),
        documents=AnswerDocuments(db, root.events, carriers, address, proofs, callbacks, refusals),
        resumed=ResumedCalls(db, carriers, address, proofs, callbacks, root.get(RunServices).live.handovers),
        refusals=refusals,
        transfer_results=TransferResults(db, carriers, accounts, proofs, address, clock),
        account_hooks=hooks,
        configurations=CarrierConfigurations(db, carriers, accounts, address, hooks, clock),
        numbers=numbers,
        managed_numbers=ManagedNumbers(db, carriers, accounts, numbers, sub_accounts, hooks, clock, root.settings),
        sub_accounts=sub_accounts,
        lookup=CarrierLookup(db, carriers, accounts, root.settings.lookup_cents),
        max_message_bytes=root.settings.max_socket_message_bytes,
    )


def _register_jobs(root: Root, services: TelephonyServices, charges: ChargeCollector) -> None:
    root.events.subscribe(RunFinished, charges.on_run_finished)
    root.jobs.add(BILL_JOB, charges.read_bill, lane="platform")
    root.jobs.add(MISSED_JOB, charges.find_unbilled, every_s=MISSED_EVERY_S)
    root.jobs.add(LOST_CALL_JOB, services.lost_calls.run_search, lane="platform")
    root.jobs.add(REFUSED_JOB, services.refusals.end_refused_call, lane="platform")
    root.jobs.add("telephony.forget_webhooks", services.replay_guard.forget_expired, every_s=FORGET_EVERY_S)
    root.jobs.add("telephony.end_unheard_calls", services.no_media.run_job, every_s=UNHEARD_EVERY_S)
    root.jobs.add("telephony.settle_purchases", services.managed_numbers.settle_purchases, every_s=SETTLE_EVERY_S)
    root.jobs.add("telephony.close_sub_accounts", services.sub_accounts.close_empty, every_s=CLOSE_EVERY_S)
