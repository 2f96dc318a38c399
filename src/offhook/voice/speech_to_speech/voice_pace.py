"""How fast a voice speaks: vendors send words ahead of their sound, and only the pace tells which of them were heard."""

from typing import ClassVar, Final
from weakref import WeakKeyDictionary

# Source: brisk English speech. Languages and voices differ by more than three times.
DEFAULT_CHARS_PER_S: Final = 16.0
# Shorter answers are mostly the silence around them.
MIN_ANSWER_S: Final = 0.5
# What was said earlier than this counts half: the language may have changed.
HALF_LIFE_S: Final = 30.0


class VoicePace:
    """The pace of one voice in one call: that of its answers, and before the first one that of the calls before."""

    _latest: ClassVar["WeakKeyDictionary[object, float]"] = WeakKeyDictionary()

    def __init__(self, voice: object) -> None:
        """``voice`` is the model with its voice, which all calls of a process share."""
        self._voice = voice
        self._chars = 0.0
        self._seconds = 0.0

    @property
    def chars_per_s(self) -> float:
        """Returns the characters of transcript that are said in a second."""
        if self._seconds:
            return self._chars / self._seconds
        return self._latest.get(self._voice, DEFAULT_CHARS_PER_S)

    def learn(self, chars: int, seconds: float) -> None:
        """Learns from an answer that is complete."""
        if seconds < MIN_ANSWER_S or not chars:
            return
        kept = 0.5 ** (seconds / HALF_LIFE_S)
        self._chars = self._chars * kept + chars
        self._seconds = self._seconds * kept + seconds
        self._latest[self._voice] = self.chars_per_s
