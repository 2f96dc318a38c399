"""Turns VAD probabilities into speech start and speech stop events, with hysteresis."""

from collections.abc import Callable
from typing import Final

# A word has at least this much speech; anything shorter is a click or a breath.
MIN_SPEECH_S: Final = 0.06


class SpeechDetector:
    """Call it with each window's probability; times are those of the audio pushed so far, plus ``started_at``.

    ``is_speaking`` is true from the second speech window until ``stop_after_s`` of silence. ``speech_s`` is the
    length of the current speech, ``silence_s`` the silence since its last window. ``stands_out`` gets whether a window
    sounds like speech and may overrule it, because of the noise on the line.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float],
        start_probability: float,
        stop_probability: float,
        stop_after_s: float,
        on_start: Callable[[], None],
        on_stop: Callable[[], None],
        on_window: Callable[[], None],
        stands_out: Callable[[bool], bool] = lambda is_speech: is_speech,
    ) -> None:
        self._now = now
        self._start = start_probability
        self._stop = stop_probability
        self._stop_after = stop_after_s
        self._on_start = on_start
        self._on_stop = on_stop
        self._on_window = on_window
        self._stands_out = stands_out
        self._onset_s = 0.0
        self.is_speaking = False
        self.speech_s = 0.0
        self.silence_s = 0.0
        self.started_at = 0.0
        self.stopped_at = 0.0

    def __call__(self, probability: float, window_s: float) -> None:
        now = self._now()
        is_speech = self._stands_out(probability >= (self._stop if self.is_speaking else self._start))
        if self.is_speaking:
            if is_speech:
                self.speech_s += self.silence_s + window_s
                self.silence_s = 0.0
                self.stopped_at = now
            else:
                self.silence_s += window_s
                if self.silence_s >= self._stop_after:
                    self.is_speaking = False
                    self._on_stop()
        elif not is_speech:
            self._onset_s = 0.0
            self.silence_s += window_s
        else:
            self._onset_s += window_s
            if self._onset_s >= MIN_SPEECH_S:
                self.is_speaking = True
                self.speech_s = self._onset_s
                self.started_at = now - self._onset_s
                self.stopped_at = now
                self.silence_s = 0.0
                self._onset_s = 0.0
                self._on_start()
        self._on_window()
