"""Twilio: TwiML controls the calls, media arrives as JSON with mu-law."""

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
from offhook.telephony.providers.twilio.api import NAME
from offhook.telephony.providers.twilio.calls import TwilioCalls
from offhook.telephony.providers.twilio.config import CONFIG
from offhook.telephony.providers.twilio.numbers import TwilioNumbers
from offhook.telephony.providers.twilio.signature import TwilioVerifier
from offhook.telephony.providers.twilio.sub_accounts import TwilioSubAccounts
from offhook.telephony.providers.twilio.webhooks import TwilioWebhooks
from offhook.telephony.providers.twilio.wire import TwilioWire

__all__ = ["TwilioWebhooks", "TwilioWire", "build_carrier"]


def build_carrier(http: CarrierHttp) -> CarrierSpec:
    calls, numbers, webhooks = TwilioCalls(http), TwilioNumbers(http), TwilioWebhooks()
    return CarrierSpec(
        NAME,
        calls=CallCapabilities(
            dialer=calls,
            finder=calls,
            bills=calls,
            transfer_legs=calls,
            blind_transfer=calls,
            calls_per_second=1.0,
        ),
        webhooks=WebhookCapabilities(
            answerer=TwilioDialectAnswers(asks_again=True),
            verifier=TwilioVerifier(),
            statuses=webhooks,
            callbacks=("status-callback",),
            inbound=webhooks,
        ),
        media=MediaCapabilities(
            wire=TwilioWire,
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
            sub_accounts=TwilioSubAccounts(http),
        ),
    )
