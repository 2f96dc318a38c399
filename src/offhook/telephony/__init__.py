"""Telephone calls: carriers by capability, the media path that they share, and placing calls."""

from typing import Final

from offhook.kit.crypto import Keyring
from offhook.root import Root
from offhook.runs import LiveCallRegistry, RunFinished, RunModes
from offhook.runs.live.call_tools import CallTransferService
from offhook.telephony.accounts import endpoints as account_endpoints
from offhook.telephony.accounts import number_endpoints
from offhook.telephony.accounts.account_numbers import AccountNumbers
from offhook.telephony.accounts.credentials import CarrierAccounts
from offhook.telephony.accounts.number_lookup import CarrierLookup
from offhook.telephony.accounts.number_purchasing import ManagedNumbers
from offhook.telephony.accounts.public_urls import PublicAddress
from offhook.telephony.accounts.service import AccountHooks, CarrierConfigurations
from offhook.telephony.call_signals import CallSignals
from offhook.telephony.calls.carrier_charges import JOB as BILL_JOB
from offhook.telephony.calls.carrier_charges import ChargeCollector
from offhook.telephony.calls.endpoints import public, telephony
from offhook.telephony.calls.lost_calls import JOB as LOST_CALL_JOB
from offhook.telephony.calls.lost_calls import LostCallFinder
from offhook.telephony.calls.outbound import CallOrder, OutboundCalls, PlacedCall
from offhook.telephony.calls.status_reports import CallReports
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.carriers import build_remote_carriers, register_in_process_carriers
from offhook.telephony.events import CallEnded, OutcomeCorrected
from offhook.telephony.media.admission import MediaAdmission
from offhook.telephony.media.carrier_signals import CarrierCallControl
from offhook.telephony.media.no_media_sweeper import NoMediaSweeper
from offhook.telephony.ports import CarrierRegistry
from offhook.telephony.transfers.callbacks import TransferResults
from offhook.telephony.transfers.service import CallTransfers
from offhook.telephony.transfers.warm_transfers import WarmTransfers
from offhook.telephony.webhooks import endpoints as callback_endpoints
from offhook.telephony.webhooks import rejection_endpoints
from offhook.telephony.webhooks.inbound_calls import AnswerDocuments, InboundCalls
from offhook.telephony.webhooks.rejections import JOB as REFUSED_JOB
from offhook.telephony.webhooks.rejections import CallRefusals
from offhook.telephony.webhooks.status_callbacks import CarrierCallbacks
from offhook.telephony.webhooks.verification import ReplayGuard

__all__ = [
    "AccountHooks",
    "CallEnded",
    "CallOrder",
    "CallReports",
    "CarrierRegistry",
    "MediaAdmission",
    "OutboundCalls",
    "OutcomeCorrected",
    "PlacedCall",
    "register",
]

FORGET_EVERY_S: Final = 3600.0
UNHEARD_EVERY_S: Final = 10.0
SETTLE_EVERY_S: Final = 30.0


def register(root: Root) -> None:
    """Add the carriers, the media socket and the endpoints that place calls."""
    reports = CallReports(root.db, root.events)
    http = CarrierHttp(root.settings.carrier_urls)
    carriers = build_remote_carriers(http)
    keyring = root.get(Keyring)
    accounts, address = CarrierAccounts(keyring, root.settings, carriers), PublicAddress(root.settings, keyring)
    signals = CallSignals(root.db)
    line = CarrierCallControl(root.db, carriers, accounts, signals)
    admission = MediaAdmission(root.db, carriers, root.get(LiveCallRegistry), reports, line)
    register_in_process_carriers(root, carriers, admission, reports)
    accounts.require_platform_catalog()
    root.get(RunModes).add(carriers.names)
    warm = WarmTransfers(root.db, address, signals)
    desk = CallTransfers(root.db, carriers, accounts, warm, address, root.clock)
    root.provide(CallTransferService, desk)  # type: ignore[type-abstract]  # found by its port
    root.provide(CallReports, reports)
    root.provide(CarrierRegistry, carriers)
    root.provide(MediaAdmission, admission)
    root.provide(CarrierAccounts, accounts)
    root.provide(PublicAddress, address)
    _register_calls(root, carriers)
    root.api.include_router(telephony)
    root.api.include_router(public)
    _register_callbacks(root, carriers, line)
    _register_accounts(root, carriers)
    root.on_stop += [http.aclose, signals.close]
    root.on_stop += [spec.close for spec in carriers.specs if spec.close is not None]


def _register_calls(root: Root, carriers: CarrierRegistry) -> None:
    """Placing them."""
    accounts, address, reports = root.get(CarrierAccounts), root.get(PublicAddress), root.get(CallReports)
    lost = LostCallFinder(root.db, carriers, reports, accounts, root.clock)
    root.provide(LostCallFinder, lost)
    root.provide(OutboundCalls, OutboundCalls(root.db, carriers, reports, accounts, address, lost))
    root.jobs.add(LOST_CALL_JOB, lost.run_search)


def _register_callbacks(root: Root, carriers: CarrierRegistry, line: CarrierCallControl) -> None:
    """Where carriers call us."""
    accounts, address, reports = root.get(CarrierAccounts), root.get(PublicAddress), root.get(CallReports)
    proofs = ReplayGuard(root.db, root.clock)
    callbacks = CarrierCallbacks(root.db, root.events, carriers, accounts, address, proofs)
    refusals = CallRefusals(root.db, carriers, accounts, proofs)
    inbound = InboundCalls(root.db, carriers, accounts, address, proofs, callbacks, reports, refusals)
    root.provide(CallRefusals, refusals)
    root.jobs.add(REFUSED_JOB, refusals.end_refused_call)
    root.on_stop.append(refusals.close)
    root.provide(CarrierCallbacks, callbacks)
    root.provide(InboundCalls, inbound)
    root.provide(AnswerDocuments, AnswerDocuments(root.db, root.events, carriers, address, proofs, callbacks, refusals))
    root.provide(TransferResults, TransferResults(root.db, carriers, accounts, proofs, address, root.clock))
    unheard = NoMediaSweeper(root.db, carriers, reports, line, root.clock)
    root.provide(NoMediaSweeper, unheard)
    bills = ChargeCollector(root.db, carriers, accounts)
    root.events.subscribe(RunFinished, bills.on_run_finished)
    root.jobs.add(BILL_JOB, bills.read_bill)
    root.jobs.add("telephony.forget_webhooks", proofs.forget_expired, every_s=FORGET_EVERY_S)
    root.jobs.add("telephony.end_unheard_calls", unheard.run_job, every_s=UNHEARD_EVERY_S)
    root.api.include_router(rejection_endpoints.router)
    root.api.include_router(callback_endpoints.router)
    root.api.include_router(callback_endpoints.carrier_routes(carriers))


def _register_accounts(root: Root, carriers: CarrierRegistry) -> None:
    """Accounts, numbers, and the numbers that the platform itself buys."""
    accounts, address, hooks = root.get(CarrierAccounts), root.get(PublicAddress), AccountHooks()
    numbers = AccountNumbers(root.db, carriers, accounts, address, hooks)
    managed = ManagedNumbers(root.db, carriers, accounts, numbers, hooks, root.clock)
    root.provide(AccountHooks, hooks)
    root.provide(CarrierConfigurations, CarrierConfigurations(root.db, carriers, accounts, address, hooks))
    root.provide(AccountNumbers, numbers)
    root.provide(ManagedNumbers, managed)
    root.provide(CarrierLookup, CarrierLookup(root.db, carriers, accounts))
    root.jobs.add("telephony.settle_purchases", managed.settle_purchases, every_s=SETTLE_EVERY_S)
    root.api.include_router(account_endpoints.router)
    root.api.include_router(number_endpoints.router)
