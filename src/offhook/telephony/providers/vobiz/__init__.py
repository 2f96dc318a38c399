"""Vobiz: a dialect of Plivo's XML and stream, with signatures, paths and numbers of its own."""

from offhook.telephony.carrier_kit.dialects.plivo.webhooks import PlivoDialectWebhooks
from offhook.telephony.carrier_kit.dialects.plivo.wire import PlivoDialectWire
from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import CarrierSpec
from offhook.telephony.providers.vobiz.api import CURRENCY, NAME
from offhook.telephony.providers.vobiz.calls import VobizCalls
from offhook.telephony.providers.vobiz.config import CONFIG
from offhook.telephony.providers.vobiz.numbers import VobizNumbers
from offhook.telephony.providers.vobiz.signature import VobizVerifier


def build_carrier(http: CarrierHttp) -> CarrierSpec:
    calls, numbers, webhooks = VobizCalls(http), VobizNumbers(http), PlivoDialectWebhooks(NAME, CURRENCY)
    return CarrierSpec(
        NAME,
        dialer=calls,
        answerer=calls,
        verifier=VobizVerifier(),
        statuses=webhooks,
        callbacks=("hangup-callback", "ring-callback"),
        workflow_callbacks=("hangup-callback",),
        inbound=webhooks,
        wire=PlivoDialectWire,
        finder=calls,
        bills=calls,
        transfer_legs=calls,
        blind_transfer=calls,
        catalog=numbers,
        routing=numbers,
        config=CONFIG,
        account_check=numbers,
        calls_per_second=2.0,
    )
