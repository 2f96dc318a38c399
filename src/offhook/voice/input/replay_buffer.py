"""Buffers the caller's unrecognized audio for a recognizer that takes over in mid-utterance."""

from collections import deque
from typing import Final

# A recognizer that hears a word from the middle gets it wrong.
PREROLL_S: Final = 0.6
MAX_UTTERANCE_S: Final = 30.0


class ReplayBuffer:
    """PCM16 at ``sample_rate``. During silence, only the last ``PREROLL_S`` are kept."""

    def __init__(self, sample_rate: int) -> None:
        self._bytes_per_s = sample_rate * 2
        self._parts: deque[bytes] = deque()
        self._size = 0

    def push(self, pcm: bytes, *, is_utterance: bool) -> None:
        self._parts.append(pcm)
        self._size += len(pcm)
        limit = (MAX_UTTERANCE_S if is_utterance else PREROLL_S) * self._bytes_per_s
        while self._size - len(self._parts[0]) >= limit:
            self._size -= len(self._parts.popleft())

    def clear(self) -> None:
        """Drops audio that has been recognized."""
        self._parts.clear()
        self._size = 0

    def pending_audio(self) -> bytes:
        return b"".join(self._parts)
