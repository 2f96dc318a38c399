"""Twilio: so far its media stream, which load generators and other peers speak too."""

from offhook.telephony.ports import CarrierSpec
from offhook.telephony.providers.twilio.wire import TwilioWire

__all__ = ["TwilioWire", "carrier"]


def carrier() -> CarrierSpec:
    return CarrierSpec("twilio", wire=TwilioWire)
