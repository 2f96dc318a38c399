"""Vonage: lists of actions control the calls, media arrives as binary PCM."""

from offhook.telephony.carrier_kit.http import CarrierHttp
from offhook.telephony.ports import (
    AccountCapabilities,
    CallCapabilities,
    CarrierSpec,
    MediaCapabilities,
    NumberCapabilities,
    WebhookCapabilities,
)
from offhook.telephony.providers.vonage.api import NAME
from offhook.telephony.providers.vonage.calls import VonageCalls
from offhook.telephony.providers.vonage.config import CONFIG
from offhook.telephony.providers.vonage.numbers import VonageNumbers
from offhook.telephony.providers.vonage.signature import VonageVerifier
from offhook.telephony.providers.vonage.sub_accounts import VonageSubAccounts
from offhook.telephony.providers.vonage.webhooks import VonageWebhooks
from offhook.telephony.providers.vonage.wire import VonageWire


def build_carrier(http: CarrierHttp) -> CarrierSpec:
    calls, numbers, webhooks = VonageCalls(http), VonageNumbers(http), VonageWebhooks()
    return CarrierSpec(
        NAME,
        calls=CallCapabilities(
            dialer=calls,
            finder=calls,
            transfer_legs=calls,
            blind_transfer=calls,
            calls_per_second=3.0,
        ),
        webhooks=WebhookCapabilities(
            answerer=calls,
            verifier=VonageVerifier(),
            statuses=webhooks,
            callbacks=("events",),
            # Calls to our numbers report to the application's address, which names no run.
            account_callbacks=("events",),
            inbound=webhooks,
        ),
        media=MediaCapabilities(
            wire=VonageWire,
            asks_again=True,
        ),
        numbers=NumberCapabilities(
            catalog=numbers,
            routing=numbers,
            lookup=numbers,
        ),
        account=AccountCapabilities(
            config=CONFIG,
            check=numbers,
            sub_accounts=VonageSubAccounts(http),
        ),
    )
