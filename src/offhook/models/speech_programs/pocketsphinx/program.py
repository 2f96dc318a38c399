"""The recognizer program: pocketsphinx behind a pipe, its own process, started by the server.

It decodes while the caller speaks, so that the answer is ready at the pause. Two decoders follow each speaker: one the
grammar, one a loop of free phones; the score margin between them tells if the words were really said. A pair takes about
10 MB and is reused for the next speaker. Wire, both ways little-endian:

request   ``<IBI`` id, op, length + payload.  op 1 begin: JSON {rate, grammar, jsgf} · 2 audio: PCM16 mono ·
          3 finish · 4 forget the caller · 5 words: JSON [word …] · 6 pronounce: JSON {word: phones} ·
          7 common words: JSON count · 8 learn a language model: JSON {name, arpa, words} ·
          9 hear the caller's last utterance again by the language model of this name: JSON name · 10 forget all
          words that it was taught
answer    ``<IBI`` id, kind, length + payload.  kind 1 JSON · 3 error: UTF-8 sentence, to 3 and 5 to 9 only ·
          2 progress: empty, id 0, after each second of work on a request; answers nothing.
          finish → {text, margin, speech_margin, covered, error?}; words → the ones without a pronunciation;
          common words → {word: probability}; hear again → {text, margin, covered, unknown: the model has to be learned first}.
          The first answer has id 0 and kind 1: {model}
The id of 1 to 4 is a caller's: the program keeps the properties of their voice until op 4.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from pocketsphinx import get_model_path

from ..answers import serve_requests  # noqa: TID252 - the package has another name in this process
from .decoders import (
    LOUDNESS,
    MAX_WORDS,
    NO_RESULT,
    NO_SENTENCE,
    SLICE_BYTES,
    CapturedUtterance,
    DecoderPair,
    PronunciationLexicon,
    SentenceDecoder,
    common_words,
)
from .line_audio import MODEL_RATE, BandWidener, Floats, loudest_rms

# The model was trained on real rooms: with digital silence it gets 64% of sentences right, with this noise 91%.
NOISE: Final = 60.0
LOUDNESS_AFTER: Final = int(0.6 * MODEL_RATE)
# Initial cepstral means of a new caller, by telephone line or not; measured over many sentences.
MEANS: Final = {
    True: "56.5,-0.4,-6.5,14.5,-9.1,-4.3,-0.9,-11.2,-8.3,-4.5,-4.6,6.1,-8.9",
    False: "57.7,-2.5,-3.8,13.9,-9.8,-3.5,-1.2,-13.3,-4.3,-11.3,3.5,-0.5,-4.5",
}


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
    last: CapturedUtterance | None = None


class SpeechRecognizer:
    """All callers of one process."""

    def __init__(self, max_decoding_s: float) -> None:
        self._max_decoding_s = max_decoding_s
        self.model = str(get_model_path("en-us"))
        self._lexicon = PronunciationLexicon(Path(get_model_path("en-us/cmudict-en-us.dict")))
        self._sentences: SentenceDecoder | None = None
        self._idle_pairs = [DecoderPair(self._lexicon)]
        self._callers: dict[int, CallerState] = {}
        self._noise = np.random.default_rng(7).normal(0, NOISE, 4 * MODEL_RATE).astype(np.float32)

    def begin_utterance(self, caller_id: int, order: dict[str, Any]) -> None:
        rate = int(order["rate"])
        caller = self._callers.get(caller_id)
        if caller is None:
            caller = self._callers[caller_id] = CallerState((MEANS[rate == 8000], MEANS[rate == 8000]))
        self._abandon_utterance(caller)
        caller.widener, caller.error, caller.last = BandWidener(rate), None, None
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
        caller.loudness = loudest_rms(samples)
        self._feed_samples(caller, samples)

    def _feed_samples(self, caller: CallerState, samples: Floats) -> None:
        if caller.pair is None or not samples.size:
            return
        gain = min(max(LOUDNESS / max(caller.loudness or LOUDNESS, 1.0), 0.2), 30.0)
        at = caller.fed_samples % (self._noise.size // 2)
        noise = np.resize(self._noise[at:], samples.size)
        caller.fed_samples += samples.size
        raw = np.clip(samples * gain + noise, -32768, 32767).astype("<i2").tobytes()
        for at in range(0, len(raw), SLICE_BYTES):  # the decoder lets no other thread run
            caller.pair.feed_audio(raw[at : at + SLICE_BYTES])

    def finish_utterance(self, caller_id: int) -> dict[str, Any]:
        caller = self._callers.get(caller_id)
        if caller is None:
            raise ValueError("nothing was begun")
        if caller.pair is None:  # an unusable grammar loses one answer, not the whole call
            return {**NO_RESULT, "error": caller.error}
        if caller.loudness is None:
            self._measure_loudness(caller)
        found = caller.pair.end_utterance()
        caller.last = CapturedUtterance(
            bytes(caller.pair.audio), caller.means[0], caller.pair.free_score, caller.pair.loud_frames()
        )
        caller.means = caller.pair.cepstral_means()
        self._return_decoders(caller)
        return found

    def decode_sentence(self, caller_id: int, name: str) -> dict[str, Any]:
        """Hears the caller's last utterance again, by a language model."""
        caller = self._callers.get(caller_id)
        if caller is None or caller.last is None:
            return NO_SENTENCE
        decoder, last = self._sentence_decoder(), caller.last
        if not decoder.knows_model(name):
            return {**NO_SENTENCE, "unknown": True}
        return decoder.decode_utterance(name, last)

    def _sentence_decoder(self) -> SentenceDecoder:
        if self._sentences is None:
            self._sentences = SentenceDecoder(self._lexicon, self._max_decoding_s)
        return self._sentences

    def learn_model(self, order: dict[str, Any]) -> None:
        self._sentence_decoder().learn_model(order["name"], order["arpa"], order["words"])

    def common_words(self, count: int) -> dict[str, float]:
        return common_words(self._lexicon, count)

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

    def forget_words(self) -> None:
        self._lexicon.forget()


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
        case 7:
            return recognizer.common_words(int(json.loads(payload)))
        case 8:
            recognizer.learn_model(json.loads(payload))
            return {}
        case 9:
            return recognizer.decode_sentence(caller, json.loads(payload))
        case 10:
            recognizer.forget_words()
        case _:
            recognizer.add_pronunciations(json.loads(payload))
            return {}
    return None


def main() -> int:
    max_decoding_s = float(sys.argv[2])  # after the folder of the package
    return serve_requests(
        lambda: SpeechRecognizer(max_decoding_s),
        lambda recognizer: {"model": recognizer.model},
        handle_request,
        errors=(RuntimeError, OSError),
    )
