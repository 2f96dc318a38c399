"""Cloudonix's media stream: the dialect of Twilio's, in which the session and not the call is the id."""

from offhook.telephony.carrier_kit.dialects.twilio.wire import TwilioDialectWire


class CloudonixWire(TwilioDialectWire):
    call_key = "session"
