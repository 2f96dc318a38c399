"""Cloudonix's media stream: the Twilio dialect, with the session as the id instead of the call."""

from offhook.telephony.carrier_kit.dialects.twilio.wire import TwilioDialectWire


class CloudonixWire(TwilioDialectWire):
    call_key = "session"
    # never observed; where marks do come back, they count
    confirms_playback = False
