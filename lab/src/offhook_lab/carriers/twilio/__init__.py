"""An emulator of Twilio's programmable voice, from its API reference and its SDK's validator."""

from offhook_lab.carriers.twilio.server import TwilioEmulator

__all__ = ["TwilioEmulator"]
