"""An emulator of Cloudonix's voice applications, from its API specification, its documentation and its own client."""

from offhook_lab.carriers.cloudonix.server import CloudonixEmulator

__all__ = ["CloudonixEmulator"]
