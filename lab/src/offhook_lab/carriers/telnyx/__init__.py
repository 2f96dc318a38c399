"""An emulator of Telnyx's Call Control, from its API reference: REST commands control the calls."""

from offhook_lab.carriers.telnyx.server import TelnyxEmulator

__all__ = ["TelnyxEmulator"]
