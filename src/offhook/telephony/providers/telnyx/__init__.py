"""Telnyx Call Control: requests steer the calls, media comes as JSON with the codec of each leg."""

from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import CarrierSpec
from offhook.telephony.providers.telnyx.api import NAME
from offhook.telephony.providers.telnyx.calls import TelnyxCalls
from offhook.telephony.providers.telnyx.config import CONFIG
from offhook.telephony.providers.telnyx.numbers import TelnyxNumbers
from offhook.telephony.providers.telnyx.signature import TelnyxVerifier
from offhook.telephony.providers.telnyx.webhooks import TelnyxWebhooks
from offhook.telephony.providers.telnyx.wire import TelnyxWire

__all__ = ["TelnyxWebhooks", "TelnyxWire", "build_carrier"]


def build_carrier(http: CarrierHttp) -> CarrierSpec:
    calls, numbers, webhooks = TelnyxCalls(http), TelnyxNumbers(http), TelnyxWebhooks()
    return CarrierSpec(
        NAME,
        dialer=calls,
        answerer=calls,
        verifier=TelnyxVerifier(),
        statuses=webhooks,
        callbacks=("events", "transfer-result"),
        inbound=webhooks,
        follow_up=calls,
        wire=TelnyxWire,
        finder=calls,
        transfer_legs=calls,
        blind_transfer=calls,
        catalog=numbers,
        routing=numbers,
        lookup=numbers,
        config=CONFIG,
        account_check=numbers,
        calls_per_second=1.0,
        has_early_media=True,
        outlives_media=True,
    )
