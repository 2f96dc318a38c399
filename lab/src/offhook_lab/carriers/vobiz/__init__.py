"""An emulator of Vobiz's voice API, from its documentation: like Plivo's, and where it is not."""

from offhook_lab.carriers.vobiz.server import VobizEmulator

__all__ = ["VobizEmulator"]
