"""The caller's audio that no final covers yet: a new connection must hear it again."""

from typing import Final

from offhook.models.speech.formats import WireFormat

# Longer than people speak without a final; a vendor that gives none for so long has lost it anyway.
MAX_KEPT_S: Final = 30.0
# This much is kept in silence, so that a word whose beginning our VAD missed is complete.
MAX_KEPT_SILENT_S: Final = 1.5
# Interim words come every few hundred milliseconds; in loud speech, they can come 0.02 s later.
IN_SPEECH_S: Final = 0.04
# Sound that stays 12 dB below the speech can be the pause after it. No vendor ends a turn before twice this time. The
# remembered level of speech halves within 0.7 s.
SOFT_SHARE: Final = 0.25
FADE: Final = 0.98
PAUSE_FRAMES: Final = 6


class AudioReplay:
    """Wire bytes by their position since the stream began. ``sent`` is the current connection's position.

    They are sent in pieces of ``chunk_s``, and in larger pieces of up to ``quiet_chunk_s`` when nothing waits for them: a
    message costs more than its content.
    """

    def __init__(self, audio: WireFormat, chunk_s: float, quiet_chunk_s: float = 0.0) -> None:
        self._bytes_per_s = audio.bytes_per_s
        self._chunk = int(chunk_s * audio.sample_rate) * audio.sample_bytes
        self._max_piece = max(self._chunk, int(quiet_chunk_s * audio.sample_rate) * audio.sample_bytes)
        self._in_speech = min(self._max_piece, max(self._chunk, int(IN_SPEECH_S * self._bytes_per_s)))
        self._loudest = 0.0
        self._soft_frames = 0
        # bytes to collect before sending
        self._wanted = self._max_piece
        self._align = audio.sample_bytes
        self._buffer = bytearray()
        self._start = 0
        self._origin = 0
        self.sent = 0

    @property
    def _unsent_bytes(self) -> int:
        return self._start + len(self._buffer) - self.sent

    @property
    def has_backlog(self) -> bool:
        """Returns whether more is unsent than the line delivers while a piece is sent."""
        return self._unsent_bytes >= 2 * self._chunk

    def add(self, payload: bytes) -> None:
        self._buffer += payload

    def expect_nothing(self) -> None:
        """Lets audio wait, because no turn is open."""
        self._wanted, self._loudest, self._soft_frames = self._max_piece, 0.0, 0

    def expect_words(self, peak: int) -> None:
        """Notes the peak of a frame. Lets audio wait briefly during speech, but not in a pause that can end the turn."""
        self._loudest = max(float(peak), self._loudest * FADE)
        self._soft_frames = 0 if peak > self._loudest * SOFT_SHARE else self._soft_frames + 1
        self._wanted = self._in_speech if self._soft_frames < PAUSE_FRAMES else self._chunk

    def next_piece(self) -> bytes:
        """Returns the next bytes to send, or none while there are too few."""
        unsent = self._unsent_bytes
        if unsent < self._wanted:
            return b""
        size = min(unsent - unsent % self._chunk, self._max_piece)
        at = self.sent - self._start
        self.sent += size
        return bytes(self._buffer[at : at + size])

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
