"""The streaming recognizer of scenarios, with a vendor's errors: one word in twenty is wrong, most fillers are dropped, a
cough is seldom a word, distant speech is heard badly, and in noise an endpoint may take a second."""

from typing import Final

import numpy as np

from offhook.scenarios.sound.clips import Clip, SpokenWord
from offhook.scenarios.sound.recognizer import ENDPOINT_S, FILLERS, StreamingRecognizer

NOISY_ENDPOINT_S: Final = 1.0
HEARD_AS: Final = {"mm-hmm": ("Mm-hmm.", "Mhmm", "mm hmm", ""), "mhm": ("Mhm", "Mm", "Mhmm.", "")}
WRONG_WORDS: Final = ("the", "it", "and", "in", "too", "on", "there", "a")


class VendorEmulator(StreamingRecognizer):
    """``errors`` scales its error rates; ``noise_db`` is the line's babble, if any."""

    def __init__(self, random: np.random.Generator, noise_db: float | None = None, errors: float = 1.0) -> None:
        super().__init__(random)
        self.noise_db = noise_db
        self.errors = errors

    def hear_clip(self, clip: Clip, starts_at: float, *, is_distant: bool = False, is_cough: bool = False) -> None:
        """Tells the open stream that a clip begins at a loop time."""
        words = clip.words
        if self.streams and is_cough and self.random.random() < 0.06 * self.errors:
            words = (SpokenWord("Oh", 0.0, clip.seconds),)
        self.hear_words(words, starts_at, is_distant=is_distant)

    def transcribe(self, word: SpokenWord, *, is_distant: bool) -> str:
        plain, dice = word.text.lower(), self.random.random()
        if plain in FILLERS:
            return "" if dice < 0.7 else word.text
        if plain in HEARD_AS:
            return str(self.random.choice(HEARD_AS[plain]))
        rate = (0.3 if is_distant else 0.05) * self.errors * (1.6 if (self.noise_db or 99) < 13 else 1.0)
        if dice < rate * 0.5:
            return ""
        return str(self.random.choice(WRONG_WORDS)) if dice < rate else word.text

    def endpoint_wait_s(self) -> float:
        is_late = self.noise_db is not None and self.random.random() < 0.5
        return NOISY_ENDPOINT_S if is_late else ENDPOINT_S
