"""The caller's audio for a speech-to-speech model: what was said since the last answer, and a little before it."""

from collections import deque
from typing import Final

from offhook.kit.audio import MULAW_8K, Codec, Resampler
from offhook.models.ports import ItemRef, SpeechSession
from offhook.models.speech.formats import WireFormat

# The detector hears speech after it has begun.
PREROLL_S: Final = 0.5
# The longest turn that a session gets again when it replaces one that was lost.
MAX_KEPT_S: Final = 60.0


class CallerAudio:
    """Sends speech to the session while it is said, and none of the silence in between, which would be charged."""

    def __init__(self, codec: Codec, wire: WireFormat, min_commit_s: float) -> None:
        self._codec = codec
        self._wire = wire
        self._min_bytes = max(1, round(min_commit_s * wire.bytes_per_s))
        self._max_bytes = int(MAX_KEPT_S * wire.bytes_per_s)
        self._is_direct = codec.name == MULAW_8K.name and wire.encoding == "mulaw"
        self._preroll: deque[bytes] = deque()
        self._preroll_bytes = 0
        self._max_preroll = int(PREROLL_S / 0.02) * codec.frame_bytes
        self._resampler: Resampler | None = None
        self._session: SpeechSession | None = None
        self._turn = bytearray()
        # the last turn, which another session gets again when this one fails before it has answered
        self._answered = bytearray()

    def attach_session(self, session: SpeechSession) -> None:
        """Sends what was said so far and everything that follows to this session."""
        self._session = session
        if self._turn:
            session.push_audio(bytes(self._turn))

    def detach_session(self, *, is_unanswered: bool) -> None:
        """Keeps what is said for the next session; ``is_unanswered``: beginning with the turn that it was asked about."""
        self._session = None
        if is_unanswered:
            self._turn[:0] = self._answered
        self._answered.clear()

    def feed_frame(self, payload: bytes, *, is_utterance: bool) -> None:
        if is_utterance:
            while self._preroll:
                self._add_speech(self._preroll.popleft())
            self._preroll_bytes = 0
            self._add_speech(payload)
            return
        self._resampler = None
        self._preroll.append(payload)
        self._preroll_bytes += len(payload)
        while self._preroll_bytes > self._max_preroll:
            self._preroll_bytes -= len(self._preroll.popleft())

    def _add_speech(self, payload: bytes) -> None:
        audio = payload if self._is_direct else self._to_wire(payload)
        self._turn += audio
        if (excess := len(self._turn) - self._max_bytes) > 0:
            del self._turn[:excess]
        if self._session is not None:
            self._session.push_audio(audio)

    def _to_wire(self, payload: bytes) -> bytes:
        if self._resampler is None:
            self._resampler = Resampler(self._codec.sample_rate, self._wire.sample_rate)
        return self._wire.from_pcm(self._resampler.push(self._codec.decode(payload).tobytes()).tobytes())

    @property
    def has_speech(self) -> bool:
        """Returns whether there is enough speech for a turn."""
        return len(self._turn) >= self._min_bytes

    def commit_turn(self) -> ItemRef | None:
        """Makes the speech so far the caller's turn; None without any, or without a session."""
        if self._session is None or not self.has_speech:
            return None
        self._answered, self._turn = self._turn, bytearray()
        return self._session.commit_audio()

    def forget_answered(self) -> None:
        """Drops the last turn: it was answered, be it with a call, and no session gets it again."""
        self._answered.clear()

    def discard_turn(self) -> None:
        """Drops the speech so far: it was not for the agent, or it is known in another form."""
        if self._turn and self._session is not None:
            self._session.clear_audio()
        self._turn.clear()
