"""Twilio Media Streams."""

from offhook.telephony.carrier_kit.dialects.twilio.wire import TwilioDialectWire


class TwilioWire(TwilioDialectWire):
    """As the dialect has it."""
