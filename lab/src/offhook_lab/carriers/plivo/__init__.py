"""An emulator of Plivo's voice API, from its API reference, its SDK's validator and its audio streaming guide."""

from offhook_lab.carriers.plivo.server import PlivoEmulator

__all__ = ["PlivoEmulator"]
