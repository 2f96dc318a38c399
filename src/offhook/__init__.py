"""Offhook: the open-source voice-agent platform."""

__version__ = "0.1.0"
