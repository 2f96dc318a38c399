"""Speech that a model makes itself: audio to the line as it comes, words to what counts as heard."""

from collections.abc import Callable

from offhook.voice.output.playback import Playback, QueuedSentence


class ModelSpeech:
    """One stretch of speech, by the vendor's ``item_id``. Audio is in the line's codec and waits for :meth:`begin_playing`."""

    def __init__(self, item_id: str) -> None:
        self.item_id = item_id
        self._sentence: QueuedSentence | None = None
        self._playback: Playback | None = None
        self._text = ""
        self._waiting = bytearray()
        self._is_complete = False

    def add_piece(self, text: str, audio: bytes) -> None:
        self._text += text
        if self._sentence is None or self._playback is None:
            self._waiting += audio
            return
        self._sentence.text = self._text.strip()
        if audio:
            self._playback.push_audio(self._sentence, audio)

    def begin_playing(self, playback: Playback, on_start: Callable[[], None]) -> QueuedSentence:
        """Queues what there is, behind everything that was queued before."""
        self._playback = playback
        self._sentence = sentence = playback.begin_sentence(self._text.strip(), on_start, is_paced=True)
        if self._waiting:
            playback.push_audio(sentence, bytes(self._waiting))
            self._waiting.clear()
        if self._is_complete:
            playback.complete_sentence(sentence)
        return sentence

    def mark_complete(self) -> None:
        """Marks the end: nothing more is added."""
        self._is_complete = True
        if self._sentence is not None and self._playback is not None:
            self._playback.complete_sentence(self._sentence)

    @property
    def text(self) -> str:
        return self._text.strip()

    def heard_ms(self, now: float, bytes_per_s: float) -> int:
        """Returns how much of it has been played by loop time ``now``."""
        return 0 if self._sentence is None else int(self._sentence.heard_s(now, bytes_per_s) * 1000)
