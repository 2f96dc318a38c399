"""The recognizer program: pocketsphinx behind a pipe, its own process, started by ``recognizer_process.py``.

It decodes while the caller speaks, so that the answer is ready at the pause. Two decoders follow each speaker: one the
grammar, one a loop of free phones; the score margin between them tells if the words were really said. A pair takes about
10 MB and is reused for the next speaker. Wire, both ways little-endian:

request   ``<IBI`` id, op, length + payload.  op 1 begin: JSON {rate, grammar, jsgf} · 2 audio: PCM16 mono ·
          3 finish · 4 forget the caller · 5 words: JSON [word …] · 6 pronounce: JSON {word: phones}
answer    ``<IBI`` id, kind, length + payload.  kind 1 JSON · 3 error: UTF-8 sentence, to 3, 5 and 6 only.
          finish → {text, margin, speech_margin, covered, error?}; words → the ones without a pronunciation.
          The first answer has id 0 and kind 1: {model}
The id of 1 to 4 is a caller's: the program keeps the properties of their voice until op 4.
"""

import json
import math
import os
import signal
import struct
import sys
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
import soxr
from numpy.typing import NDArray
from pocketsphinx import Config, Decoder, get_model_path

HEADER: Final = struct.Struct("<IBI")
BEGIN, AUDIO, FINISH, FORGET, WORDS, PRONOUNCE = 1, 2, 3, 4, 5, 6
JSON, ERROR = 1, 3

MODEL_RATE: Final = 16000
MAX_GRAMMARS: Final = 24
MAX_WORDS: Final = 3000
# The model was trained on real rooms: with digital silence it gets 64% of sentences right, with this noise 91%.
NOISE: Final = 60.0
# Target RMS of a caller's loudest 30 ms after the gain; the level of the voices used for tuning.
LOUDNESS: Final = 6000.0
# A 10 ms frame this loud relative to the loudest is speech, whatever the grammar takes it for.
FRAME: Final = 160
LOUD: Final = 0.12
LOUDNESS_AFTER: Final = int(0.6 * MODEL_RATE)
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
# Initial cepstral means of a new caller, by telephone line or not; measured over many sentences.
MEANS: Final = {
    True: "56.5,-0.4,-6.5,14.5,-9.1,-4.3,-0.9,-11.2,-8.3,-4.5,-4.6,6.1,-8.9",
    False: "57.7,-2.5,-3.8,13.9,-9.8,-3.5,-1.2,-13.3,-4.3,-11.3,3.5,-0.5,-4.5",
}

NO_RESULT: Final = {"text": "", "margin": None, "speech_margin": None, "covered": 0.0}

Floats = NDArray[np.float32]


def _bandpass_filter(low_hz: float, high_hz: float, taps: int = 95) -> Floats:
    """Returns a windowed-sinc band-pass at 16 kHz."""
    n = np.arange(taps) - taps // 2
    band = [2 * hz / MODEL_RATE * np.sinc(2 * hz / MODEL_RATE * n) for hz in (low_hz, high_hz)]
    return np.asarray((band[1] - band[0]) * np.blackman(taps), np.float32)


class HighBand:
    """Converts 8 kHz to 16 kHz and synthesizes the upper band: the hiss of s, f and sh where the lower band shows one.

    The band from 2.5 to 3.9 kHz is mirrored to 4.1 to 5.5 kHz, as loud as its share of the whole. Over telephones this
    takes recognized sentences from 85 to 91 of 100 (bench/stt_offline.py; a 16 kHz line has 97).
    """

    BLOCK: Final = 160
    GAIN: Final = 3.0

    def __init__(self) -> None:
        self._base, self._image = _bandpass_filter(0, 3950), _bandpass_filter(4050, 5500)
        self._tail = np.zeros(self._base.size - 1, np.float32)
        self._pending = np.zeros(0, np.float32)
        self._share = 0.0

    def extend_band(self, samples: Floats) -> Floats:
        stuffed = np.zeros(samples.size * 2, np.float32)
        stuffed[::2] = samples * 2
        self._pending = np.concatenate((self._pending, stuffed))
        size = self._pending.size // self.BLOCK * self.BLOCK
        if not size:
            return np.zeros(0, np.float32)
        joined = np.concatenate((self._tail, self._pending[:size]))
        self._pending = self._pending[size:]
        self._tail = joined[-(self._base.size - 1) :]
        base = np.convolve(joined, self._base, "valid").reshape(-1, self.BLOCK)
        image = np.convolve(joined, self._image, "valid").reshape(-1, self.BLOCK)
        high = (image**2).mean(1)
        shares = np.concatenate(([self._share], high / ((base**2).mean(1) + high + 400.0)))
        self._share = float(shares[-1])
        ramp = np.linspace(0, 1, self.BLOCK, dtype=np.float32)
        gains = shares[:-1, None] * (1 - ramp) + shares[1:, None] * ramp
        return (base + self.GAIN * gains * image).astype(np.float32).ravel()


class BandWidener:
    """Converts PCM16 at the caller's rate to floats at 16 kHz."""

    def __init__(self, rate: int) -> None:
        self._high = HighBand() if rate == 8000 else None
        self._stream = None if rate in (8000, MODEL_RATE) else soxr.ResampleStream(rate, MODEL_RATE, 1, dtype="float32")

    def widen_samples(self, pcm: bytes) -> Floats:
        samples = np.frombuffer(pcm[: len(pcm) & ~1], "<i2").astype(np.float32)
        if self._high is not None:
            return self._high.extend_band(samples)
        if self._stream is not None:
            return np.asarray(self._stream.resample_chunk(samples), np.float32)
        return samples


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
        begin, end = self._parts.get(word[:2], (0, 0))
        for variant in (word, *(f"{word}({n})" for n in range(2, 5))):
            at = self._text.find(f"\n{variant} ", begin, end)
            if at < 0:
                break
            found.append(self._text[at + len(variant) + 2 : self._text.index("\n", at + 1)].strip())
        return found

    def teach(self, word: str, phones: str) -> None:
        if not self.sounds_of(word):
            self._pronunciations[word] = (phones,)


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
        if found is None or free is None or not found.hypstr.strip():
            return NO_RESULT
        behind = (_safe_log(found.best_score) - _safe_log(free.best_score)) * 1e4
        loud = np.sqrt(np.concatenate(self._power)) > LOUD * LOUDNESS
        in_words = np.zeros(max(frames, loud.size) + 1, bool)
        for part in self.grammar_decoder.seg():
            if part.word[0] not in "<[(+":  # silence, noise and the null word
                in_words[part.start_frame : part.end_frame + 1] = True
        return {
            "text": found.hypstr.strip(),
            "margin": round(behind / frames, 2),
            "speech_margin": round(behind / max(1, int(in_words.sum())), 2),
            "covered": round(float(in_words[: loud.size][loud].mean()), 2) if loud.any() else 0.0,
        }

    def cepstral_means(self) -> tuple[str, str]:
        return self.grammar_decoder.get_cmn(False), self.free_decoder.get_cmn(False)


def _safe_log(score: float) -> float:
    return math.log(max(score, 1e-300))


@dataclass(slots=True)
class CallerState:
    """State of one caller's line: cepstral means, loudness and the current utterance."""

    means: tuple[str, str]
    loudness: float | None = None
    widener: BandWidener | None = None
    pair: DecoderPair | None = None
    waiting_audio: list[Floats] = field(default_factory=list)
    waiting_samples: int = 0
    fed_samples: int = 0
    error: str | None = None


class SpeechRecognizer:
    """All callers of one process."""

    def __init__(self) -> None:
        self.model = str(get_model_path("en-us"))
        self._lexicon = PronunciationLexicon(Path(get_model_path("en-us/cmudict-en-us.dict")))
        self._idle_pairs = [DecoderPair(self._lexicon)]
        self._callers: dict[int, CallerState] = {}
        self._noise = np.random.default_rng(7).normal(0, NOISE, 4 * MODEL_RATE).astype(np.float32)

    def begin_utterance(self, caller_id: int, order: dict[str, Any]) -> None:
        rate = int(order["rate"])
        caller = self._callers.get(caller_id)
        if caller is None:
            caller = self._callers[caller_id] = CallerState((MEANS[rate == 8000], MEANS[rate == 8000]))
        self._abandon_utterance(caller)
        caller.widener, caller.error = BandWidener(rate), None
        pair = self._idle_pairs.pop() if self._idle_pairs else DecoderPair(self._lexicon)
        try:
            pair.start_utterance(order["grammar"], order["jsgf"], order["words"], caller.means)
        except (RuntimeError, ValueError) as error:
            caller.error = str(error)
        else:
            caller.pair = pair

    def add_audio(self, caller_id: int, pcm: bytes) -> None:
        caller = self._callers.get(caller_id)
        if caller is None or caller.pair is None or caller.widener is None:
            return
        samples = caller.widener.widen_samples(pcm)
        if caller.loudness is not None:
            self._feed_samples(caller, samples)
            return
        caller.waiting_audio.append(samples)
        caller.waiting_samples += samples.size
        if caller.waiting_samples >= LOUDNESS_AFTER:
            self._measure_loudness(caller)

    def _measure_loudness(self, caller: CallerState) -> None:
        """Measures this caller's loudness before decoding their first word."""
        samples = np.concatenate(caller.waiting_audio) if caller.waiting_audio else np.zeros(0, np.float32)
        caller.waiting_audio, caller.waiting_samples = [], 0
        caller.loudness = _loudest(samples)
        self._feed_samples(caller, samples)

    def _feed_samples(self, caller: CallerState, samples: Floats) -> None:
        if caller.pair is None or not samples.size:
            return
        gain = min(max(LOUDNESS / max(caller.loudness or LOUDNESS, 1.0), 0.2), 30.0)
        at = caller.fed_samples % (self._noise.size // 2)
        noise = np.resize(self._noise[at:], samples.size)
        caller.fed_samples += samples.size
        caller.pair.feed_audio(np.clip(samples * gain + noise, -32768, 32767).astype("<i2").tobytes())

    def finish_utterance(self, caller_id: int) -> dict[str, Any]:
        caller = self._callers.get(caller_id)
        if caller is None:
            raise ValueError("nothing was begun")
        if caller.pair is None:  # an unusable grammar loses one answer, not the whole call
            return {**NO_RESULT, "error": caller.error}
        if caller.loudness is None:
            self._measure_loudness(caller)
        found = caller.pair.end_utterance()
        caller.means = caller.pair.cepstral_means()
        self._return_decoders(caller)
        return found

    def forget_caller(self, caller_id: int) -> None:
        caller = self._callers.pop(caller_id, None)
        if caller is not None:
            self._abandon_utterance(caller)

    def _abandon_utterance(self, caller: CallerState) -> None:
        """Drops an utterance that was begun and never finished."""
        if caller.pair is not None:
            caller.pair.end_utterance()
            caller.waiting_audio, caller.waiting_samples = [], 0
            self._return_decoders(caller)

    def _return_decoders(self, caller: CallerState) -> None:
        pair, caller.pair = caller.pair, None
        if pair is not None and len(pair.words) <= MAX_WORDS:
            self._idle_pairs.append(pair)

    def unknown_words(self, words: list[str]) -> list[str]:
        return [word for word in words if not self._lexicon.sounds_of(word)]

    def add_pronunciations(self, words: dict[str, str]) -> None:
        for word, phones in words.items():
            self._lexicon.teach(word, phones)


def _loudest(samples: Floats) -> float:
    frame = MODEL_RATE * 30 // 1000
    size = samples.size // frame * frame
    return float(np.sqrt((samples[:size].reshape(-1, frame) ** 2).mean(1).max())) if size else 0.0


def handle_request(recognizer: SpeechRecognizer, caller: int, op: int, payload: bytes) -> Any:
    """Returns the answer, or None when the request has none."""
    match op:
        case 1:
            recognizer.begin_utterance(caller, json.loads(payload))
        case 2:
            recognizer.add_audio(caller, payload)
        case 3:
            return recognizer.finish_utterance(caller)
        case 4:
            recognizer.forget_caller(caller)
        case 5:
            return recognizer.unknown_words(json.loads(payload))
        case _:
            recognizer.add_pronunciations(json.loads(payload))
            return {}
    return None


def write_answer(sink: BinaryIO, request: int, kind: int, body: bytes) -> None:
    sink.write(HEADER.pack(request, kind, len(body)) + body)
    sink.flush()


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server; it ends us by closing the pipe
    os.nice(5)  # the process that carries audio has priority
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # library output must not mix with the answers
    try:
        recognizer = SpeechRecognizer()
    except (RuntimeError, OSError) as error:
        write_answer(sink, 0, ERROR, str(error).encode())
        return 3
    write_answer(sink, 0, JSON, json.dumps({"model": recognizer.model}).encode())
    while len(header := source.read(HEADER.size)) == HEADER.size:
        request, op, length = HEADER.unpack(header)
        payload = source.read(length)
        try:
            answer = handle_request(recognizer, request, op, payload)
            if answer is not None:
                write_answer(sink, request, JSON, json.dumps(answer).encode())
        except BrokenPipeError:
            return 0
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            write_answer(sink, request, ERROR, str(error).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
