"""An emulator of Vonage's voice API, from its API reference, its SDK and its websocket guide."""

from offhook_lab.carriers.vonage.server import VonageEmulator

__all__ = ["VonageEmulator"]
