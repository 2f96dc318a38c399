"""The caller's audio that no final covers yet: a new connection must hear it again."""

from typing import Final

from offhook.models.speech.formats import WireFormat

# Longer than people speak without a final; a vendor that gives none for so long has lost it anyway.
MAX_KEPT_S: Final = 30.0
# This much is kept in silence, so that a word whose beginning our VAD missed is complete.
MAX_KEPT_SILENT_S: Final = 1.5


class AudioReplay:
    """Wire bytes by their position since the stream began. ``sent`` is the current connection's position."""

    def __init__(self, audio: WireFormat) -> None:
        self._bytes_per_s = audio.bytes_per_s
        self._align = audio.sample_bytes
        self._buffer = bytearray()
        self._start = 0
        self._origin = 0
        self.sent = 0

    @property
    def unsent_bytes(self) -> int:
        return self._start + len(self._buffer) - self.sent

    def add(self, payload: bytes) -> None:
        self._buffer += payload

    def take_unsent(self, size: int) -> bytes:
        """Returns the next bytes to send, at most ``size``."""
        at = self.sent - self._start
        piece = bytes(self._buffer[at : at + size])
        self.sent += len(piece)
        return piece

    def rewind(self) -> None:
        """Starts a new connection with the first byte that no final covers; its clock starts there."""
        self._origin = self.sent = self._start

    def mark_covered(self, until_s: float | None) -> None:
        """Marks audio as covered up to this second of the connection's clock; None: everything that was sent."""
        position = self.sent if until_s is None else self._origin + int(until_s * self._bytes_per_s)
        self._drop_until(position)

    def trim(self, *, is_silent: bool) -> None:
        """Drops audio that is too old to matter."""
        keep = int((MAX_KEPT_SILENT_S if is_silent else MAX_KEPT_S) * self._bytes_per_s)
        if len(self._buffer) > keep + self._bytes_per_s // 2:
            self._drop_until(self._start + len(self._buffer) - keep)

    def _drop_until(self, position: int) -> None:
        count = min(position, self.sent) - self._start
        count -= count % self._align
        if count > 0:
            del self._buffer[:count]
            self._start += count
