"""The services of telephony, built once per process by ``register`` and passed to requests by one dependency."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends

from offhook.root import use_service
from offhook.telephony.accounts.account_numbers import AccountNumbers
from offhook.telephony.accounts.number_lookup import CarrierLookup
from offhook.telephony.accounts.number_purchasing import ManagedNumbers
from offhook.telephony.accounts.service import AccountHooks, CarrierConfigurations
from offhook.telephony.accounts.sub_accounts import SubAccounts
from offhook.telephony.calls.call_requests import CallRequests
from offhook.telephony.calls.lost_calls import LostCallFinder
from offhook.telephony.calls.outbound import OutboundCalls
from offhook.telephony.media.admission import MediaAdmission
from offhook.telephony.media.no_media_sweeper import NoMediaSweeper
from offhook.telephony.transfers.callbacks import TransferResults
from offhook.telephony.webhooks.inbound_calls import AnswerDocuments, InboundCalls
from offhook.telephony.webhooks.rejections import CallRefusals
from offhook.telephony.webhooks.resumed_calls import ResumedCalls
from offhook.telephony.webhooks.status_callbacks import CarrierCallbacks
from offhook.telephony.webhooks.verification import ReplayGuard


@dataclass(frozen=True, slots=True)
class TelephonyServices:
    """The services that telephony's endpoints and jobs use, and the limit of a media message in bytes."""

    outbound: OutboundCalls
    call_requests: CallRequests
    lost_calls: LostCallFinder
    admission: MediaAdmission
    no_media: NoMediaSweeper
    replay_guard: ReplayGuard
    callbacks: CarrierCallbacks
    inbound: InboundCalls
    documents: AnswerDocuments
    resumed: ResumedCalls
    refusals: CallRefusals
    transfer_results: TransferResults
    account_hooks: AccountHooks
    configurations: CarrierConfigurations
    numbers: AccountNumbers
    managed_numbers: ManagedNumbers
    sub_accounts: SubAccounts
    lookup: CarrierLookup
    max_message_bytes: int


Services = Annotated[TelephonyServices, Depends(use_service(TelephonyServices))]
