"""The recognizer program of a voice pack: sherpa-onnx behind a pipe, its own process, started by the server.

Its argument is JSON {type: transducer | moonshine, threads, and the files of the model by their names in the manifest}.
A transducer decodes while the caller speaks, Moonshine when they pause. sherpa-onnx ends the process on files that it cannot
use; the server's end takes that as a recognizer that cannot be started. Wire, both ways little-endian:

request   ``<IBI`` id, op, length + payload.  op 1 begin: JSON {rate} · 2 audio: PCM16 mono · 3 finish · 4 forget the caller
answer    ``<IBI`` id, kind, length + payload.  kind 1 JSON · 3 error: UTF-8 sentence, to 2 and 3 only · 2 progress.
          audio → {text}, what is understood so far; finish → {text, confidence}. The first answer has id 0: {model}
"""

import json
import math
import sys
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np
import sherpa_onnx
import soxr
from numpy.typing import NDArray

from ..answers import serve_requests  # noqa: TID252 - the package has another name in this process

MODEL_RATE: Final = 16000
FULL_SCALE: Final = 32768.0
# A streaming encoder looks ahead: without something to look at it keeps the last word to itself.
TAIL: Final = np.zeros(int(0.66 * MODEL_RATE), np.float32)
Floats = NDArray[np.float32]


class LineResampler:
    """Converts PCM16 at the caller's rate to floats at 16 kHz."""

    def __init__(self, rate: int) -> None:
        self._stream = None if rate == MODEL_RATE else soxr.ResampleStream(rate, MODEL_RATE, 1, dtype="float32")

    def resample(self, pcm: bytes, *, is_last: bool = False) -> Floats:
        samples = np.frombuffer(pcm[: len(pcm) & ~1], "<i2").astype(np.float32) / FULL_SCALE
        return samples if self._stream is None else np.asarray(self._stream.resample_chunk(samples, last=is_last))


@dataclass(slots=True)
class PackUtterance:
    resampler: LineResampler
    stream: Any = None
    parts: list[Floats] = field(default_factory=list)


class TransducerDecoder:
    """A streaming zipformer, or another transducer that sherpa-onnx knows by its metadata."""

    def __init__(self, model: dict[str, Any]) -> None:
        self._recognizer = sherpa_onnx.OnlineRecognizer.from_transducer(
            encoder=model["encoder"],
            decoder=model["decoder"],
            joiner=model["joiner"],
            tokens=model["tokens"],
            num_threads=int(model["threads"]),
        )

    def begin(self, rate: int) -> PackUtterance:
        return PackUtterance(LineResampler(rate), self._recognizer.create_stream())

    def add_audio(self, utterance: PackUtterance, pcm: bytes) -> str:
        utterance.stream.accept_waveform(MODEL_RATE, utterance.resampler.resample(pcm))
        return self._decode(utterance)

    def finish(self, utterance: PackUtterance) -> dict[str, Any]:
        rest = utterance.resampler.resample(b"", is_last=True)
        utterance.stream.accept_waveform(MODEL_RATE, np.concatenate((rest, TAIL)))
        utterance.stream.input_finished()
        text = self._decode(utterance)
        scores = self._recognizer.ys_probs(utterance.stream)
        confidence = round(math.exp(min(0.0, sum(scores) / len(scores))), 3) if scores else None
        return {"text": text, "confidence": confidence if text else 0.0}

    def _decode(self, utterance: PackUtterance) -> str:
        while self._recognizer.is_ready(utterance.stream):
            self._recognizer.decode_stream(utterance.stream)
        return str(self._recognizer.get_result(utterance.stream))


class MoonshineDecoder:
    """Moonshine: hears an utterance when it is over."""

    def __init__(self, model: dict[str, Any]) -> None:
        self._recognizer = sherpa_onnx.OfflineRecognizer.from_moonshine(
            preprocessor=model["preprocessor"],
            encoder=model["encoder"],
            uncached_decoder=model["uncached_decoder"],
            cached_decoder=model["cached_decoder"],
            tokens=model["tokens"],
            num_threads=int(model["threads"]),
        )

    def begin(self, rate: int) -> PackUtterance:
        return PackUtterance(LineResampler(rate))

    def add_audio(self, utterance: PackUtterance, pcm: bytes) -> str:
        utterance.parts.append(utterance.resampler.resample(pcm))
        return ""

    def finish(self, utterance: PackUtterance) -> dict[str, Any]:
        audio = np.concatenate((*utterance.parts, utterance.resampler.resample(b"", is_last=True)))
        if not audio.size:
            return {"text": "", "confidence": None}
        stream = self._recognizer.create_stream()
        stream.accept_waveform(MODEL_RATE, audio)
        self._recognizer.decode_stream(stream)
        return {"text": str(stream.result.text), "confidence": None}


class PackRecognizer:
    """All callers of one process."""

    def __init__(self, model: dict[str, Any]) -> None:
        self.model = str(model["type"])
        load = TransducerDecoder if self.model == "transducer" else MoonshineDecoder
        self._decoder: TransducerDecoder | MoonshineDecoder = load(model)
        self._utterances: dict[int, PackUtterance] = {}

    def handle(self, caller: int, op: int, payload: bytes) -> Any:
        """Returns the answer, or None when the request has none."""
        match op:
            case 1:
                self._utterances[caller] = self._decoder.begin(int(json.loads(payload)["rate"]))
            case 2:
                return {"text": self._decoder.add_audio(self._find(caller), payload)}
            case 3:
                utterance = self._find(caller)
                del self._utterances[caller]
                return self._decoder.finish(utterance)
            case _:
                self._utterances.pop(caller, None)
        return None

    def _find(self, caller: int) -> PackUtterance:
        utterance = self._utterances.get(caller)
        if utterance is None:
            raise ValueError("nothing was begun")
        return utterance


def main() -> int:
    return serve_requests(
        partial(PackRecognizer, json.loads(sys.argv[2])),
        lambda recognizer: {"model": recognizer.model},
        lambda recognizer, caller, op, payload: recognizer.handle(caller, op, payload),
        errors=(RuntimeError, OSError, ValueError, KeyError),
    )
