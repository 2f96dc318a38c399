"""Twilio Media Streams."""

from offhook.telephony.twilio_dialect.wire import DialectWire


class TwilioWire(DialectWire):
    """As the dialect has it."""
