"""Vobiz: a dialect of Plivo's XML and stream, with its own signatures, paths and numbers."""

from offhook.telephony.carrier_kit.dialects.plivo.webhooks import PlivoDialectWebhooks
from offhook.telephony.carrier_kit.dialects.plivo.wire import PlivoDialectWire
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import (
    AccountCapabilities,
    CallCapabilities,
    CarrierSpec,
    MediaCapabilities,
    NumberCapabilities,
    WebhookCapabilities,
)
from offhook.telephony.providers.vobiz.api import CURRENCY, NAME
from offhook.telephony.providers.vobiz.calls import VobizCalls
from offhook.telephony.providers.vobiz.config import CONFIG
from offhook.telephony.providers.vobiz.numbers import VobizNumbers
from offhook.telephony.providers.vobiz.signature import VobizVerifier


def build_carrier(http: CarrierHttp) -> CarrierSpec:
    calls, numbers, webhooks = VobizCalls(http), VobizNumbers(http), PlivoDialectWebhooks(NAME, CURRENCY)
    return CarrierSpec(
        NAME,
        calls=CallCapabilities(
            dialer=calls,
            finder=calls,
            bills=calls,
            transfer_legs=calls,
            blind_transfer=calls,
            calls_per_second=2.0,
        ),
        webhooks=WebhookCapabilities(
            answerer=calls,
            verifier=VobizVerifier(),
            statuses=webhooks,
            callbacks=("hangup-callback", "ring-callback"),
            workflow_callbacks=("hangup-callback",),
            inbound=webhooks,
        ),
        media=MediaCapabilities(
            wire=PlivoDialectWire,
            asks_again=True,
        ),
        numbers=NumberCapabilities(
            catalog=numbers,
            routing=numbers,
        ),
        account=AccountCapabilities(
            config=CONFIG,
            check=numbers,
        ),
    )
