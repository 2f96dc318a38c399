"""A spoken language of tones: every word has its pitch, so that audio can be read back into words, even over a
telephone."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from offhook.kit.audio import Samples

WORD_S: Final = 0.16
GAP_S: Final = 0.04
LOWEST_HZ: Final = 300
STEP_HZ: Final = 25
# All below 3.4 kHz, the telephone's band.
MAX_WORDS: Final = 124
AMPLITUDE: Final = 8000
LOUD_RMS: Final = 400
BLOCK_S: Final = 0.01
# Silence of this length ends a word; the gap between two is longer.
QUIET_BLOCKS: Final = 2
# Below this share of its energy around one pitch, a sound is not one of our words.
MIN_PURITY: Final = 0.5
_WORD: Final = re.compile(r"[\w']+")


class ToneLexicon:
    """Words and their pitches; new words get the next free pitch. Two processes with the same ``words`` agree."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        self._words: list[str] = []
        for word in words:
            self.pitch_of(word)

    def pitch_of(self, word: str) -> float:
        """Returns a word's frequency in Hz. Raises ValueError when no pitches are left."""
        if word not in self._words:
            if len(self._words) >= MAX_WORDS:
                raise ValueError(f"the lexicon is full at {MAX_WORDS} words")
            self._words.append(word)
        return LOWEST_HZ + STEP_HZ * self._words.index(word)

    def word_at(self, hz: float) -> str | None:
        index = round((hz - LOWEST_HZ) / STEP_HZ)
        return self._words[index] if 0 <= index < len(self._words) else None


LEXICON: Final = ToneLexicon()


def words_of(text: str) -> list[str]:
    return _WORD.findall(text.lower())


@dataclass(frozen=True, slots=True)
class ToneVoice:
    """How long words are: ``word_s``, and ``letter_s`` for each letter; ``gap_s`` is between them."""

    word_s: float = WORD_S
    letter_s: float = 0.0
    gap_s: float = GAP_S

    def length_s(self, word: str) -> float:
        return self.word_s + self.letter_s * len(word)

    def words_within(self, text: str, seconds: float) -> list[str]:
        """Returns the words of a text that are said in these seconds, to the nearest word."""
        found, end_s = list[str](), 0.0
        for word in words_of(text):
            length_s = self.length_s(word) + self.gap_s
            if end_s + length_s / 2 > seconds:
                break
            found.append(word)
            end_s += length_s
        return found

    def speak(self, text: str, rate: int, lexicon: ToneLexicon = LEXICON) -> Samples:
        """Returns the text as int16 samples."""
        gap = np.zeros(int(self.gap_s * rate))
        parts = [part for word in words_of(text) for part in (self._say(word, rate, lexicon), gap)]
        return np.concatenate(parts).astype(np.int16) if parts else np.zeros(0, np.int16)

    def _say(self, word: str, rate: int, lexicon: ToneLexicon) -> NDArray[np.float64]:
        count = int(self.length_s(word) * rate)
        ramp = np.minimum(1.0, np.arange(count) / (0.005 * rate))
        shape: NDArray[np.float64] = ramp * ramp[::-1] * AMPLITUDE
        return np.sin(2 * np.pi * lexicon.pitch_of(word) * np.arange(count) / rate) * shape


QUICK_VOICE: Final = ToneVoice()
# At the pace of people: some 16 characters a second.
HUMAN_VOICE: Final = ToneVoice(word_s=0.05, letter_s=0.05, gap_s=0.05)


def speak_tones(text: str, rate: int, lexicon: ToneLexicon = LEXICON) -> Samples:
    """Returns the text as int16 samples: 160 ms per word and 40 ms between words."""
    return QUICK_VOICE.speak(text, rate, lexicon)


@dataclass(frozen=True, slots=True)
class ToneWord:
    """A recognized word. ``text`` is None for a sound outside the lexicon. Times are seconds since the first sample."""

    text: str | None
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True)
class SpeechPause:
    """The caller has been quiet for the detector's ``pause_s``."""

    at_s: float


class ToneDetector:
    """Detects words and pauses in samples."""

    def __init__(self, rate: int, *, pause_s: float = 0.4, lexicon: ToneLexicon = LEXICON) -> None:
        self._rate = rate
        self._lexicon = lexicon
        self._block = int(BLOCK_S * rate)
        self._pause_blocks = round(pause_s / BLOCK_S)
        self._pending = np.zeros(0, np.int16)
        self._sound: list[Samples] = []
        self._blocks = 0
        self._quiet = self._pause_blocks
        self.is_in_word = False

    @property
    def heard_s(self) -> float:
        """Returns the length of the audio so far."""
        return self._blocks * BLOCK_S + self._pending.size / self._rate

    def push_samples(self, samples: Samples) -> Iterator[ToneWord | SpeechPause]:
        self._pending = np.concatenate((self._pending, samples))
        while self._pending.size >= self._block:
            block, self._pending = self._pending[: self._block], self._pending[self._block :]
            self._blocks += 1
            yield from self._take_block(block)

    def _take_block(self, block: Samples) -> Iterator[ToneWord | SpeechPause]:
        is_loud = float(np.sqrt(np.mean(block.astype(np.float64) ** 2))) > LOUD_RMS
        if is_loud:
            self._quiet = 0
            self.is_in_word = True
            self._sound.append(block)
            return
        self._quiet += 1
        if self.is_in_word and self._quiet >= QUIET_BLOCKS:
            self.is_in_word = False
            yield self._finish_word()
        if self._quiet == self._pause_blocks:
            yield SpeechPause(self._blocks * BLOCK_S)

    def _finish_word(self) -> ToneWord:
        sound, self._sound = np.concatenate(self._sound).astype(np.float64), []
        end_s = (self._blocks - self._quiet) * BLOCK_S
        start_s = end_s - sound.size / self._rate
        spectrum = np.abs(np.fft.rfft(sound * np.hanning(sound.size), n=8192)) ** 2
        hz = float(np.argmax(spectrum)) * self._rate / 8192
        around = spectrum[int((hz - 40) * 8192 / self._rate) : int((hz + 40) * 8192 / self._rate) + 1].sum()
        is_word = around / max(float(spectrum.sum()), 1.0) > MIN_PURITY
        return ToneWord(self._lexicon.word_at(hz) if is_word else None, start_s, end_s)


def read_tones(samples: Samples, rate: int, lexicon: ToneLexicon = LEXICON) -> list[str]:
    """Returns the words of a whole recording, ``?`` for unknown ones."""
    ear = ToneDetector(rate, lexicon=lexicon)
    silence = np.zeros(rate // 2, np.int16)
    return [
        item.text or "?" for item in ear.push_samples(np.concatenate((samples, silence))) if isinstance(item, ToneWord)
    ]
