"""Twilio Media Streams."""

from offhook.telephony.carrier_kit.dialects.twilio.wire import TwilioDialectWire


class TwilioWire(TwilioDialectWire):
    """The dialect's stream, unchanged."""
