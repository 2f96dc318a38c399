"""The voice program of a voice pack: sherpa-onnx behind a pipe, its own process, started by the server.

Its argument is JSON {type: vits | kokoro, threads, and the files of the model by their names in the manifest}. It holds no
espeak-ng, which is GPL: it gets phonemes, which the server has asked the speech program for. Wire as that program's
(``espeak_program.py``), little-endian:

request   op 1 speak: JSON {phonemes or text, speaker, speed, rate} · 2 cancel
answer    kind 1 PCM16 mono at ``rate`` · 2 end; with id 0 a sign of life · 3 error: UTF-8 sentence.
          The first answer that is no sign of life has id 0 and kind 4: {sample_rate, speakers, language}
"""

import json
import os
import queue
import signal
import sys
import threading
from typing import Any, BinaryIO, Final

import numpy as np
import sherpa_onnx
import soxr

from ..answers import AnswerWriter  # noqa: TID252 - the package has another name in this process
from ..espeak_program import CANCEL, END, ERROR, HEADER, JSON, PCM, SPEAK  # noqa: TID252

FULL_SCALE: Final = 32767.0
# sherpa-onnx shortens the pauses within a sentence by its default.
KEEP_PAUSES: Final = 1.0


class PackVoice:
    """One loaded voice."""

    def __init__(self, model: dict[str, Any]) -> None:
        files = {name: model[name] for name in ("model", "tokens")}
        lexicon = str(model.get("lexicon") or "")
        if model["type"] == "kokoro":
            kokoro = sherpa_onnx.OfflineTtsKokoroModelConfig(**files, voices=model["voices"], lexicon=lexicon)
            parts = {"kokoro": kokoro}
        else:
            parts = {"vits": sherpa_onnx.OfflineTtsVitsModelConfig(**files, lexicon=lexicon)}
        config = sherpa_onnx.OfflineTtsConfig(
            model=sherpa_onnx.OfflineTtsModelConfig(**parts, num_threads=int(model["threads"])), max_num_sentences=1
        )
        if not config.validate():
            raise ValueError("sherpa-onnx does not take the files of this voice")
        self._tts = sherpa_onnx.OfflineTts(config)
        self.about = {
            "sample_rate": int(self._tts.sample_rate),
            "speakers": int(self._tts.num_speakers),
            "language": str(self._tts.lang),
        }

    def speak(self, order: dict[str, Any]) -> bytes:
        """Returns PCM16 of one piece. Raises ValueError where none of it can be spoken."""
        wanted = sherpa_onnx.GenerationConfig()
        wanted.sid = int(order["speaker"])
        wanted.speed = float(order["speed"])
        wanted.silence_scale = KEEP_PAUSES
        if "phonemes" in order:
            wanted.phoneme_codepoints = [order["phonemes"]]
        audio = self._tts.generate(str(order.get("text", "")), wanted)
        samples = np.asarray(audio.samples, np.float32)
        if not samples.size:
            raise ValueError("the voice has no sound for this text")
        rate, wanted = int(audio.sample_rate), int(order["rate"])
        resampled = samples if rate == wanted else soxr.resample(samples, rate, wanted)
        return bytes((np.clip(resampled, -1.0, 1.0) * FULL_SCALE).astype("<i2").tobytes())


class PackVoiceServer:
    """Reads requests in a thread, so that a cancel overtakes what waits, and works in order."""

    def __init__(self, source: BinaryIO, answers: AnswerWriter) -> None:
        self._source = source
        self._answers = answers
        self._requests: queue.SimpleQueue[tuple[int, dict[str, Any]]] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._lock = threading.Lock()

    def read_requests(self) -> None:
        while len(header := self._source.read(HEADER.size)) == HEADER.size:
            request, op, length = HEADER.unpack(header)
            payload = self._source.read(length)
            if op == CANCEL:
                with self._lock:
                    self._cancelled.add(request)
            elif op == SPEAK:
                self._requests.put((request, json.loads(payload)))
        os._exit(0)  # our parent process is gone, or needs this voice no more

    def serve_requests(self, voice: PackVoice) -> None:
        while True:
            request, order = self._requests.get()
            try:
                if not self._is_cancelled(request):
                    with self._answers.reporting_progress():
                        pcm = voice.speak(order)
                    if not self._is_cancelled(request):
                        self._answers.write_answer(request, PCM, pcm)
                self._answers.write_answer(request, END)
            except BrokenPipeError:
                return
            except (RuntimeError, ValueError, KeyError, TypeError) as error:
                self._answers.write_answer(request, ERROR, str(error).encode())
            with self._lock:  # ids only grow: a late cancel has no effect
                self._cancelled = {later for later in self._cancelled if later > request}

    def _is_cancelled(self, request: int) -> bool:
        with self._lock:
            return request in self._cancelled


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server; it ends us by closing the pipe
    os.nice(5)  # the process that carries audio has priority
    answers = AnswerWriter(os.fdopen(os.dup(1), "wb"))
    os.dup2(2, 1)  # library output must not mix with the answers
    try:
        with answers.reporting_progress():
            voice = PackVoice(json.loads(sys.argv[2]))
    except (RuntimeError, OSError, ValueError, KeyError) as error:
        answers.write_answer(0, ERROR, str(error).encode())
        return 3
    answers.write_answer(0, JSON, json.dumps(voice.about).encode())
    server = PackVoiceServer(sys.stdin.buffer, answers)
    threading.Thread(target=server.read_requests, daemon=True).start()
    server.serve_requests(voice)
    return 0
