"""The decoders: one pair for each speaker that follows the grammar, and one that writes down whole sentences."""

import math
import os
import tempfile
import time
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from pocketsphinx import Config, Decoder, LogMath, NGramModel, get_model_path

from .line_audio import Floats

Mask = NDArray[np.bool_]

MAX_GRAMMARS: Final = 24
MAX_WORDS: Final = 3000
MAX_MODELS: Final = 8
MAX_SENTENCE_WORDS: Final = 6000
SLICE_BYTES: Final = 16000  # half a second
# The base of pocketsphinx's logarithms.
LOG_BASE: Final = 1.0001
# Words that nobody wants to find in a transcript because of a mistake.
NEVER_HEARD: Final = frozenset({"fuck", "fucking", "fucked", "fuckin", "shit", "bitch", "ass", "cunt", "nigger"})
# Target RMS of a caller's loudest 30 ms after the gain; the level of the voices used for tuning.
LOUDNESS: Final = 6000.0
# A 10 ms frame this loud relative to the loudest is speech, whatever the grammar takes it for.
FRAME: Final = 160
LOUD: Final = 0.12
# Low; otherwise the noise after an answer becomes one more digit.
WORD_INSERTION: Final = 0.05
# One word for each meaning ("yeah" and "yes" are one), and the sound of digits that lost their hiss on a telephone.
EXTRA_SOUNDS: Final = {
    "yes": ("Y EH P", "Y AE", "Y AH P"),
    "no": ("N OW P", "N AA"),
    "zero": ("TH IH R OW", "V IH R OW", "D IH R OW"),
    "six": ("TH IH K S", "S IH K", "F IH K S"),
    "seven": ("TH EH V AH N", "F EH V AH N"),
}
NO_RESULT: Final = {"text": "", "margin": None, "speech_margin": None, "covered": 0.0}
NO_SENTENCE: Final = {"text": "", "margin": None, "covered": 0.0, "unknown": False}


class PronunciationLexicon:
    """Pronunciations of single words out of the model's dictionary, which stays one string of 3 MB.

    Words with the same first two letters are adjacent in it: a lookup searches only there.
    """

    def __init__(self, path: Path) -> None:
        self._text = "\n" + path.read_text("utf-8")
        self._pronunciations: dict[str, tuple[str, ...]] = {}
        self._parts: dict[str, tuple[int, int]] = {}
        at = 0
        for line in self._text[1:].split("\n"):
            end = at + 1 + len(line)
            begin = self._parts.get(line[:2], (at, end))[0]
            self._parts[line[:2]] = (begin, end)
            at = end

    def sounds_of(self, word: str) -> tuple[str, ...]:
        if word not in self._pronunciations:
            self._pronunciations[word] = (*self._look_up(word), *EXTRA_SOUNDS.get(word, ()))
        return self._pronunciations[word]

    def _look_up(self, word: str) -> list[str]:
        found = []
        begin, end = self._parts.get(word[:2] if len(word) > 1 else f"{word} ", (0, 0))
        for variant in (word, *(f"{word}({n})" for n in range(2, 5))):
            at = self._text.find(f"\n{variant} ", begin, end)
            if at < 0:
                break
            found.append(self._text[at + len(variant) + 2 : self._text.index("\n", at + 1)].strip())
        return found

    def headwords(self) -> Iterator[str]:
        """Yields every word of the dictionary once."""
        for line in self._text[1:].split("\n"):
            word = line.partition(" ")[0]
            if word and not word.endswith(")"):
                yield word

    def teach(self, word: str, phones: str) -> None:
        if not self.sounds_of(word):
            self._pronunciations[word] = (phones,)

    def forget(self) -> None:
        """Forgets what it was taught, and that it does not know other words."""
        self._pronunciations.clear()


class DecoderPair:
    """The two decoders of one speaker."""

    def __init__(self, lexicon: PronunciationLexicon) -> None:
        model = get_model_path("en-us/en-us")
        common: dict[str, Any] = {"hmm": model, "dict": os.devnull, "lm": None, "loglevel": "FATAL"}
        self.grammar_decoder = Decoder(Config(wip=WORD_INSERTION, **common))
        self.free_decoder = Decoder(Config(allphone_ci=True, **common))
        self.free_decoder.add_allphone_file("free", None)
        self.free_decoder.activate_search("free")
        self._lexicon = lexicon
        self._grammars: OrderedDict[str, None] = OrderedDict()
        self.words: set[str] = set()
        self._power: list[Floats] = []
        self.audio = bytearray()
        self.free_score = 0.0

    def start_utterance(self, name: str, jsgf: str, words: list[str], means: tuple[str, str]) -> None:
        if name not in self._grammars:
            self._learn(words)
            if len(self._grammars) >= MAX_GRAMMARS:
                self.grammar_decoder.remove_search(self._grammars.popitem(last=False)[0])
            self.grammar_decoder.add_jsgf_string(name, jsgf)
        self._grammars[name] = None
        self._grammars.move_to_end(name)
        self.grammar_decoder.activate_search(name)
        self._power = [np.zeros(0, np.float32)]
        self.audio.clear()
        for decoder, mean in zip((self.grammar_decoder, self.free_decoder), means, strict=True):
            decoder.set_cmn(mean)
            decoder.start_utt()

    def _learn(self, words: list[str]) -> None:
        for word in words:
            if word not in self.words:
                for index, phones in enumerate(self._lexicon.sounds_of(word), 1):
                    self.grammar_decoder.add_word(word if index == 1 else f"{word}({index})", phones, False)
                self.words.add(word)

    def feed_audio(self, raw: bytes) -> None:
        self.audio += raw
        samples = np.frombuffer(raw, "<i2").astype(np.float32)
        size = samples.size // FRAME * FRAME
        self._power.append((samples[:size].reshape(-1, FRAME) ** 2).mean(1))
        self.grammar_decoder.process_raw(raw, False, False)
        self.free_decoder.process_raw(raw, False, False)

    def end_utterance(self) -> dict[str, Any]:
        frames = max(1, self.grammar_decoder.n_frames())
        self.grammar_decoder.end_utt()
        self.free_decoder.end_utt()
        found, free = self.grammar_decoder.hyp(), self.free_decoder.hyp()
        self.free_score = 0.0 if free is None else _safe_log(free.best_score)
        if found is None or free is None or not found.hypstr.strip():
            return NO_RESULT
        behind = (_safe_log(found.best_score) - _safe_log(free.best_score)) * 1e4
        loud = self.loud_frames()
        in_words = frames_in_words(self.grammar_decoder, max(frames, loud.size) + 1)
        return {
            "text": found.hypstr.strip(),
            "margin": round(behind / frames, 2),
            "speech_margin": round(behind / max(1, int(in_words.sum())), 2),
            "covered": _share_of_loud(loud, in_words),
        }

    def loud_frames(self) -> Mask:
        """Returns for each 10 ms of the utterance whether it is loud enough for speech."""
        return np.sqrt(np.concatenate(self._power)) > LOUD * LOUDNESS

    def cepstral_means(self) -> tuple[str, str]:
        return self.grammar_decoder.get_cmn(False), self.free_decoder.get_cmn(False)


@dataclass(frozen=True, slots=True)
class CapturedUtterance:
    """A finished utterance, which another decoder may hear again: audio at 16 kHz and what it was heard with."""

    audio: bytes
    mean: str
    free_score: float
    loud: Mask


class SentenceDecoder:
    """Decodes whole utterances by a language model, after the grammar did not fit. One for all speakers."""

    def __init__(self, lexicon: PronunciationLexicon, max_decoding_s: float) -> None:
        self._lexicon = lexicon
        self._max_decoding_s = max_decoding_s
        self._models: OrderedDict[str, None] = OrderedDict()
        self._words: set[str] = set()
        self._decoder = self._new_decoder()

    def _new_decoder(self) -> Decoder:
        self._models.clear()
        self._words.clear()
        return Decoder(Config(hmm=get_model_path("en-us/en-us"), dict=os.devnull, lm=None, loglevel="FATAL"))

    def learn_model(self, name: str, arpa: str, words: list[str]) -> None:
        """Learns a language model in ARPA format; the least recently used ones are forgotten."""
        if name in self._models:
            return
        if len(self._words.union(words)) > MAX_SENTENCE_WORDS:
            self._decoder = self._new_decoder()
        while len(self._models) >= MAX_MODELS:
            self._decoder.remove_search(self._models.popitem(last=False)[0])
        sounds = [
            (word if index == 1 else f"{word}({index})", phones)
            for word in words
            if word not in self._words
            for index, phones in enumerate(self._lexicon.sounds_of(word), 1)
        ]
        for at, (word, phones) in enumerate(sounds, 1):
            # the last one makes the other models know the new size of the dictionary
            self._decoder.add_word(word, phones, bool(self._models) and at == len(sounds))
        self._words.update(words)
        with tempfile.NamedTemporaryFile("w", suffix=".arpa", encoding="utf-8") as file:
            file.write(arpa)
            file.flush()
            model = NGramModel(self._decoder.get_config(), self._decoder.get_logmath(), file.name)
            self._decoder.add_lm(name, model)
        self._models[name] = None

    def knows_model(self, name: str) -> bool:
        return name in self._models

    def decode_utterance(self, name: str, spoken: CapturedUtterance) -> dict[str, Any]:
        """Returns ``{text, margin, covered}`` like the grammar's result."""
        self._models.move_to_end(name)
        self._decoder.activate_search(name)
        self._decoder.set_cmn(spoken.mean)
        self._decoder.start_utt()
        is_complete = self._decode_in_time(spoken.audio)
        frames = max(1, self._decoder.n_frames())
        self._decoder.end_utt()
        found = self._decoder.hyp()
        if not is_complete or found is None or not found.hypstr.strip():
            return NO_SENTENCE
        in_words = frames_in_words(self._decoder, max(frames, spoken.loud.size) + 1)
        return {
            **NO_SENTENCE,
            "text": found.hypstr.strip(),
            "margin": round((_safe_log(found.best_score) - spoken.free_score) * 1e4 / frames, 2),
            "covered": _share_of_loud(spoken.loud, in_words),
        }

    def _decode_in_time(self, audio: bytes) -> bool:
        """Returns whether all of ``audio`` was decoded before the other callers have waited for too long."""
        given_up_at = time.monotonic() + self._max_decoding_s
        for at in range(0, len(audio), SLICE_BYTES):
            if time.monotonic() >= given_up_at:
                return False
            self._decoder.process_raw(audio[at : at + SLICE_BYTES], False, False)
        return True


def frames_in_words(decoder: Decoder, size: int) -> Mask:
    """Returns for each frame whether the decoder takes it for a part of a word."""
    in_words = np.zeros(size, bool)
    for part in decoder.seg():
        if part.word[0] not in "<[(+":  # silence, noise and the null word
            in_words[part.start_frame : part.end_frame + 1] = True
    return in_words


def _share_of_loud(loud: Mask, in_words: Mask) -> float:
    return round(float(in_words[: loud.size][loud].mean()), 2) if loud.any() else 0.0


def common_words(lexicon: PronunciationLexicon, count: int) -> dict[str, float]:
    """Returns the commonest words of the shipped language model with their probabilities."""
    model = NGramModel(Config(loglevel="FATAL"), LogMath(), get_model_path("en-us/en-us.lm.bin"))
    rated = ((model.prob([word]), word) for word in lexicon.headwords() if word not in NEVER_HEARD)
    return {word: LOG_BASE**log for log, word in sorted(rated, reverse=True)[:count]}


def _safe_log(score: float) -> float:
    return math.log(max(score, 1e-300))
