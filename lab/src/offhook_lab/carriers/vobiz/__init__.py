"""An emulator of Vobiz's voice API, from its documentation: Plivo's with differences."""

from offhook_lab.carriers.vobiz.server import VobizEmulator

__all__ = ["VobizEmulator"]
