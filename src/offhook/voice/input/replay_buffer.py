"""Buffers the caller's unrecognized audio for a recognizer that takes over in mid-utterance."""

from collections import deque
from typing import Final

# A recognizer that hears a word from the middle gets it wrong.
PREROLL_S: Final = 0.6
MAX_UTTERANCE_S: Final = 30.0


class ReplayBuffer:
    """PCM16 at ``sample_rate``. During silence, only the last ``PREROLL_S`` are kept."""

    def __init__(self, sample_rate: int) -> None:
        self._preroll_bytes = int(PREROLL_S * sample_rate * 2)
        self._utterance_bytes = int(MAX_UTTERANCE_S * sample_rate * 2)
        self._parts: deque[bytes] = deque()
        self._size = 0

    def push(self, pcm: bytes, *, is_utterance: bool) -> None:
        parts, size = self._parts, self._size + len(pcm)
        parts.append(pcm)
        limit = self._utterance_bytes if is_utterance else self._preroll_bytes
        while size - (oldest := len(parts[0])) >= limit:
            parts.popleft()
            size -= oldest
        self._size = size

    def clear(self) -> None:
        """Drops audio that has been recognized."""
        self._parts.clear()
        self._size = 0

    def pending_audio(self) -> bytes:
        return b"".join(self._parts)
