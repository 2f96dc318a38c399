"""Twilio Media Streams."""

from offhook.telephony.carrier_kit.dialects.twilio.wire import DialectWire


class TwilioWire(DialectWire):
    """As the dialect has it."""
