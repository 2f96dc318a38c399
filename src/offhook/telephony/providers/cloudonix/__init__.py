"""Cloudonix: a dialect of Twilio's XML and stream over trunks of the user's own; nothing is signed."""

from offhook.telephony.carrier_kit.dialects.twilio.answers import TwilioDialectAnswers
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import (
    AccountCapabilities,
    CallCapabilities,
    CarrierSpec,
    MediaCapabilities,
    NumberCapabilities,
    WebhookCapabilities,
)
from offhook.telephony.providers.cloudonix.account import CloudonixDomain
from offhook.telephony.providers.cloudonix.api import NAME
from offhook.telephony.providers.cloudonix.calls import CloudonixCalls
from offhook.telephony.providers.cloudonix.config import CONFIG
from offhook.telephony.providers.cloudonix.signature import CloudonixVerifier
from offhook.telephony.providers.cloudonix.webhooks import CloudonixWebhooks
from offhook.telephony.providers.cloudonix.wire import CloudonixWire


def build_carrier(http: CarrierHttp) -> CarrierSpec:
    calls, domain, webhooks = CloudonixCalls(http), CloudonixDomain(http), CloudonixWebhooks()
    return CarrierSpec(
        NAME,
        calls=CallCapabilities(
            dialer=calls,
            transfer_legs=calls,
            blind_transfer=calls,
        ),
        webhooks=WebhookCapabilities(
            answerer=TwilioDialectAnswers(),
            verifier=CloudonixVerifier(),
            statuses=webhooks,
            callbacks=("status-callback",),
            account_callbacks=("cdr",),
            inbound=webhooks,
        ),
        media=MediaCapabilities(
            wire=CloudonixWire,
        ),
        numbers=NumberCapabilities(
            routing=domain,
        ),
        account=AccountCapabilities(
            config=CONFIG,
            check=domain,
        ),
    )
