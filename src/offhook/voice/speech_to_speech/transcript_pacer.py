"""Releases a model's transcript with its audio: vendors write faster than they speak, and a cut leaves words unsaid."""

from typing import Final

from offhook.voice.speech_to_speech.voice_pace import VoicePace

# The words may run ahead of the audio by this much.
LEAD_S: Final = 0.1


class TranscriptPacer:
    """The words of one response. ``text`` is what was released."""

    def __init__(self, bytes_per_s: float, pace: VoicePace) -> None:
        self._bytes_per_s = bytes_per_s
        self._pace = pace
        self._waiting = ""
        self._audio_s = 0.0
        self.text = ""

    def push_piece(self, text: str, audio: bytes) -> str:
        """Takes a piece and returns the words that the audio so far covers."""
        self._waiting += text
        self._audio_s += len(audio) / self._bytes_per_s
        room = int((self._audio_s + LEAD_S) * self._pace.chars_per_s) - len(self.text)
        if room <= 0 or not self._audio_s:
            return ""
        end = len(self._waiting) if room >= len(self._waiting) else self._waiting.rfind(" ", 0, room + 1)
        return self._release_words(max(end, 0))

    def release_rest(self) -> str:
        """Returns the rest, when the audio is complete, and learns from the answer how fast the voice is."""
        rest = self._release_words(len(self._waiting))
        self._pace.learn(len(self.text.strip()), self._audio_s)
        return rest

    def _release_words(self, end: int) -> str:
        released, self._waiting = self._waiting[:end], self._waiting[end:]
        self.text += released
        return released
