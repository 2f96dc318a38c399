"""Telnyx Call Control: requests control the calls, media arrives as JSON with the codec of each leg."""

from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import (
    AccountCapabilities,
    CallCapabilities,
    CarrierSpec,
    MediaCapabilities,
    NumberCapabilities,
    WebhookCapabilities,
)
from offhook.telephony.providers.telnyx.api import NAME
from offhook.telephony.providers.telnyx.calls import TelnyxCalls
from offhook.telephony.providers.telnyx.config import CONFIG
from offhook.telephony.providers.telnyx.numbers import TelnyxNumbers
from offhook.telephony.providers.telnyx.signature import TelnyxVerifier
from offhook.telephony.providers.telnyx.sub_accounts import TelnyxSubAccounts
from offhook.telephony.providers.telnyx.webhooks import TelnyxWebhooks
from offhook.telephony.providers.telnyx.wire import TelnyxWire

__all__ = ["TelnyxWebhooks", "TelnyxWire", "build_carrier"]


def build_carrier(http: CarrierHttp) -> CarrierSpec:
    calls, numbers, webhooks = TelnyxCalls(http), TelnyxNumbers(http), TelnyxWebhooks()
    return CarrierSpec(
        NAME,
        calls=CallCapabilities(
            dialer=calls,
            finder=calls,
            transfer_legs=calls,
            blind_transfer=calls,
            reconnector=calls,
            calls_per_second=1.0,
        ),
        webhooks=WebhookCapabilities(
            answerer=calls,
            verifier=TelnyxVerifier(),
            statuses=webhooks,
            callbacks=("events", "transfer-result"),
            inbound=webhooks,
            follow_up=calls,
        ),
        media=MediaCapabilities(
            wire=TelnyxWire,
            has_early_media=True,
            outlives_media=True,
        ),
        numbers=NumberCapabilities(
            catalog=numbers,
            routing=numbers,
            lookup=numbers,
        ),
        account=AccountCapabilities(
            config=CONFIG,
            check=numbers,
            sub_accounts=TelnyxSubAccounts(http),
        ),
    )
