"""Releases a model's transcript with its audio: vendors write faster than they speak, and a cut leaves words unsaid."""

from typing import Final

# Source: brisk English speech; the words may run ahead of the audio by the lead.
CHARS_PER_S: Final = 16
LEAD_S: Final = 0.3


class TranscriptPacer:
    """The words of one response. ``text`` is what was released."""

    def __init__(self, bytes_per_s: float) -> None:
        self._bytes_per_s = bytes_per_s
        self._waiting = ""
        self._audio_s = 0.0
        self.text = ""

    def push_piece(self, text: str, audio: bytes) -> str:
        """Takes a piece and returns the words that the audio so far covers."""
        self._waiting += text
        self._audio_s += len(audio) / self._bytes_per_s
        room = int((self._audio_s + LEAD_S) * CHARS_PER_S) - len(self.text)
        if room <= 0 or not self._audio_s:
            return ""
        end = len(self._waiting) if room >= len(self._waiting) else self._waiting.rfind(" ", 0, room + 1)
        return self._release_words(max(end, 0))

    def release_rest(self) -> str:
        """Returns the rest, when the audio is complete."""
        return self._release_words(len(self._waiting))

    def _release_words(self, end: int) -> str:
        released, self._waiting = self._waiting[:end], self._waiting[end:]
        self.text += released
        return released
