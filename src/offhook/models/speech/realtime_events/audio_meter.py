"""Counts what a session of a vendor that charges for time has used: seconds of audio and messages of text."""

from offhook.models.speech.speech_usage import SpeechUsage


class AudioMeter:
    """Audio in both directions, whatever becomes of it, and the entries that were written as text."""

    def __init__(self, bytes_per_s: int) -> None:
        self._bytes_per_s = bytes_per_s
        self._audio_bytes = 0
        self._messages = 0

    def add_audio(self, size: int) -> None:
        self._audio_bytes += size

    def add_message(self) -> None:
        self._messages += 1

    @property
    def is_empty(self) -> bool:
        return not self._audio_bytes and not self._messages

    def take_usage(self, *, responses: int = 1) -> SpeechUsage:
        """Returns what was used since the last time."""
        usage = SpeechUsage(seconds=self._audio_bytes / self._bytes_per_s, messages=self._messages, responses=responses)
        self._audio_bytes = self._messages = 0
        return usage
