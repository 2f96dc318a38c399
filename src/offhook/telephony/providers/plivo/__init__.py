"""Plivo: XML controls the calls, media arrives as JSON with mu-law."""

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
from offhook.telephony.providers.plivo.api import NAME
from offhook.telephony.providers.plivo.calls import PlivoCalls
from offhook.telephony.providers.plivo.config import CONFIG
from offhook.telephony.providers.plivo.numbers import PlivoNumbers
from offhook.telephony.providers.plivo.signature import PlivoVerifier
from offhook.telephony.providers.plivo.sub_accounts import PlivoSubAccounts


def build_carrier(http: CarrierHttp) -> CarrierSpec:
    calls, numbers, webhooks = PlivoCalls(http), PlivoNumbers(http), PlivoDialectWebhooks(NAME)
    sub_accounts = PlivoSubAccounts(http)
    return CarrierSpec(
        NAME,
        calls=CallCapabilities(
            dialer=calls,
            finder=calls,
            transfer_legs=calls,
            blind_transfer=calls,
            calls_per_second=2.0,
        ),
        webhooks=WebhookCapabilities(
            answerer=calls,
            verifier=PlivoVerifier(),
            statuses=webhooks,
            callbacks=("hangup-callback", "ring-callback"),
            inbound=webhooks,
        ),
        media=MediaCapabilities(
            wire=PlivoDialectWire,
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
            sub_accounts=sub_accounts,
            sub_account_numbers=sub_accounts,
        ),
    )
