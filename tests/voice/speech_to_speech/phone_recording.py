"""What a caller's telephone has played: the frames as they were heard, without those that were dropped at the far end."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from offhook.kit.audio import FRAME_S, Samples
from offhook_lab.speech.tones import HUMAN_VOICE, ToneDetector, ToneLexicon, ToneWord
from tests.fakes.voice import KeptLeg

# Quieter than this is silence to the caller: about 40 dB below the agent's voice.
AUDIBLE_PEAK: Final = 80
# Less of a word is a click.
MIN_WORD_S: Final = 0.04
# Pitches are read in windows of this length.
WINDOW_S: Final = 0.06
HOP_S: Final = 0.01
# Shorter pauses are those between words.
MIN_SILENCE_S: Final = 0.2


@dataclass(frozen=True, slots=True)
class Span:
    """From one second of the call to another."""

    start_s: float
    end_s: float

    @property
    def length_s(self) -> float:
        return self.end_s - self.start_s


class PhoneRecording:
    """The agent's side of one call; seconds since ``started_at``, a loop time."""

    def __init__(self, leg: KeptLeg, started_at: float, length_s: float, lexicon: ToneLexicon) -> None:
        self._rate = leg.codec.sample_rate
        self._lexicon = lexicon
        self.samples = np.zeros(round(length_s * self._rate), np.int16)
        end = 0.0
        clears = [at - started_at for at in leg.clears]
        for sent_at, frame in leg.frames:
            start = max(sent_at - started_at, end)
            dropped_at = next((at for at in clears if sent_at - started_at <= at < start + FRAME_S), None)
            until = start + FRAME_S if dropped_at is None else max(start, dropped_at)
            end = until if dropped_at is not None else start + FRAME_S
            self._place(start, leg.codec.decode(frame)[: round((until - start) * self._rate)])

    def _place(self, start_s: float, samples: Samples) -> None:
        at = round(start_s * self._rate)
        piece = samples[: max(self.samples.size - at, 0)]
        self.samples[at : at + piece.size] = piece

    def sounds(self) -> list[Span]:
        """Returns the stretches in which the agent is heard, with the pauses between words."""
        block = round(FRAME_S * self._rate)
        count = self.samples.size // block
        peaks = np.abs(self.samples[: count * block].astype(np.int32)).reshape(count, block).max(axis=1)
        found: list[Span] = []
        for index in np.flatnonzero(peaks > AUDIBLE_PEAK):
            start, end = float(index) * FRAME_S, float(index + 1) * FRAME_S
            if found and start - found[-1].end_s < MIN_SILENCE_S:
                found[-1] = Span(found[-1].start_s, end)
            else:
                found.append(Span(start, end))
        return found

    def words(self) -> list[ToneWord]:
        """Returns the words that were heard, with their times. One that was cut off and said again is one word."""
        ear = ToneDetector(self._rate, lexicon=self._lexicon)
        quiet = np.zeros(self._rate // 2, np.int16)
        line = np.concatenate((self.samples, quiet))
        found: list[ToneWord] = []
        sounds = [item for item in ear.push_samples(line) if isinstance(item, ToneWord)]
        for word in (part for sound in sounds for part in self._words_in(sound)):
            if word.end_s - word.start_s < MIN_WORD_S:
                continue
            if found and found[-1].text == word.text and _is_cut(found[-1]):
                found.pop()
            found.append(word)
        return found

    def _words_in(self, sound: ToneWord) -> list[ToneWord]:
        """Returns the words of one sound: where speech was cut off and went on at once, there is no pause between them."""
        size, hop = round(WINDOW_S * self._rate), round(HOP_S * self._rate)
        start, end = round(sound.start_s * self._rate), round(sound.end_s * self._rate)
        found: list[ToneWord] = []
        for at in range(start, end - size + 1, hop):
            spectrum = np.abs(np.fft.rfft(self.samples[at : at + size] * np.hanning(size), n=8192))
            text = self._lexicon.word_at(float(np.argmax(spectrum)) * self._rate / 8192)
            middle_s = (at + size / 2) / self._rate
            if not found or found[-1].text != text:
                found.append(ToneWord(text, middle_s, middle_s))
            found[-1] = ToneWord(text, found[-1].start_s, middle_s)
        whole = [word for word in found if word.end_s - word.start_s >= MIN_WORD_S]
        if len(whole) < 2:
            return [sound]
        ends = [*(word.end_s for word in whole[:-1]), sound.end_s]
        starts = [sound.start_s, *(word.start_s for word in whole[1:])]
        return [ToneWord(word.text, *span) for word, *span in zip(whole, starts, ends, strict=True)]


def _is_cut(word: ToneWord) -> bool:
    return word.end_s - word.start_s < HUMAN_VOICE.length_s(word.text or "") - 0.02


def word_distance(expected: Sequence[str], found: Sequence[str]) -> int:
    """Returns how many words must be added, dropped or replaced to make one text the other."""
    row = list(range(len(found) + 1))
    for number, word in enumerate(expected, 1):
        before, row = row, [number]
        for at, other in enumerate(found, 1):
            row.append(min(before[at] + 1, row[-1] + 1, before[at - 1] + (word != other)))
    return row[-1]
