"""An emulator of Telnyx's Call Control, from its API reference: calls are steered by REST commands."""

from offhook_lab.carriers.telnyx.server import TelnyxEmulator

__all__ = ["TelnyxEmulator"]
