"""The speech program: espeak-ng behind a pipe, its own process, started by ``synthesizer_process.py``.

espeak-ng is GPL, so only this program loads it; the server imports only the wire's constants from this file. The
program uses only the standard library and ends with its standard input. Wire, little-endian:

request   ``<IBI`` id, op, length + payload.  op 1 speak: JSON {text, voice, wpm} · 2 cancel · 3 phonemes: JSON
          {words, voice} · 4 speak apart: as 1, in a copy of the program as it is now, so that a text always
          sounds the same in a program that has said nothing else; without cancel
answer    ``<IBI`` id, kind, length + payload.  kind 1 PCM16 mono · 2 end · 3 error: UTF-8 sentence · 4 JSON.
          The first answer has id 0 and kind 4: {sample_rate, library}
"""

import contextlib
import ctypes
import ctypes.util
import importlib.util
import json
import os
import queue
import signal
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Final

HEADER: Final = struct.Struct("<IBI")
SPEAK, CANCEL, PHONEMES, SPEAK_APART = 1, 2, 3, 4
PCM, END, ERROR, JSON = 1, 2, 3, 4

# Constants of espeak-ng's speak_lib.h.
_SYNCHRONOUS: Final = 2
_DO_NOT_EXIT: Final = 0x8000
_CHARACTERS: Final = 1
_UTF8: Final = 1
_RATE: Final = 1
_IPA: Final = 0x02
_OK: Final = 0

CHUNK_MS: Final = 100
FALLBACK_VOICE: Final = "en-us"

_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p)


def library_candidates() -> Iterator[tuple[str, Path | None]]:
    """Yields libraries to try with their ``espeak-ng-data`` folder: the wheel's own, then the system's."""
    spec = importlib.util.find_spec("espeakng_loader")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        for file in ("libespeak-ng.so", "libespeak-ng.dylib", "espeak-ng.dll"):
            if (folder / file).exists():
                yield str(folder / file), folder
    for name in (ctypes.util.find_library("espeak-ng"), "libespeak-ng.so.1"):
        if name:
            yield name, None


class EspeakLibrary:
    """One loaded library. ``on_audio`` gets PCM16 while :meth:`speak` runs and returns False to stop it."""

    def __init__(self) -> None:
        problems = []
        for library, data in library_candidates():
            try:
                self._load_library(library, data)
            except OSError as error:
                problems.append(f"{library}: {error}")
            else:
                return
        raise OSError("; ".join(problems) or "espeak-ng is not installed")

    def _load_library(self, library: str, data: Path | None) -> None:
        self._lib = ctypes.CDLL(library)
        path = None
        if data is not None:
            # espeak-ng keeps only 160 bytes of this path, so it gets a short relative one.
            os.chdir(data)
            path = b"."
        rate = self._lib.espeak_Initialize(_SYNCHRONOUS, CHUNK_MS, path, _DO_NOT_EXIT)
        if rate <= 0:
            raise OSError(f"espeak_Initialize answered {rate}")
        self.sample_rate = int(rate)
        self.library = library
        self._voice = ""
        self._on_audio: Callable[[bytes], bool] = lambda _: False
        self._callback = _Callback(self._on_samples)
        self._lib.espeak_SetSynthCallback(self._callback)
        self._lib.espeak_TextToPhonemes.restype = ctypes.c_char_p

    def _on_samples(self, samples: int | None, count: int, _events: int | None) -> int:
        if not samples or count <= 0:
            return 0
        return 0 if self._on_audio(ctypes.string_at(samples, count * 2)) else 1

    def use_voice(self, voice: str) -> None:
        """Selects a voice; American English replaces one that does not exist."""
        if voice == self._voice:
            return
        for name in (voice, FALLBACK_VOICE, "en"):
            if self._lib.espeak_SetVoiceByName(name.encode()) == _OK:
                self._voice = voice
                return
        raise OSError("no voice works")

    def speak(self, text: str, wpm: int, on_audio: Callable[[bytes], bool]) -> None:
        self._on_audio = on_audio
        self._lib.espeak_SetParameter(_RATE, wpm, 0)
        raw = text.encode()
        answer = self._lib.espeak_Synth(raw, len(raw) + 1, 0, _CHARACTERS, 0, _UTF8, None, None)
        if answer != _OK:
            raise OSError(f"espeak_Synth answered {answer}")

    def phonemes_of(self, text: str) -> str:
        """Returns the IPA of a short text."""
        left = ctypes.c_char_p(text.encode())
        parts = []
        while left.value:
            part = self._lib.espeak_TextToPhonemes(ctypes.byref(left), _UTF8, _IPA)
            parts.append((part or b"").decode("utf-8", "replace"))
        return " ".join(parts)


class SynthesisServer:
    """Reads requests in a thread, so that a cancel overtakes the work, and works in order."""

    def __init__(self, source: BinaryIO, sink: BinaryIO) -> None:
        self._source = source
        self._sink = sink
        self._requests: queue.SimpleQueue[tuple[int, int, dict[str, Any]]] = queue.SimpleQueue()
        self._cancelled: set[int] = set()
        self._lock = threading.Lock()

    def read_requests(self) -> None:
        while len(header := self._source.read(HEADER.size)) == HEADER.size:
            request, op, length = HEADER.unpack(header)
            payload = self._source.read(length)
            if op == CANCEL:
                with self._lock:
                    self._cancelled.add(request)
            else:
                self._requests.put((request, op, json.loads(payload)))
        os._exit(0)  # our parent process is gone

    def write_answer(self, request: int, kind: int, payload: bytes = b"") -> None:
        self._sink.write(HEADER.pack(request, kind, len(payload)) + payload)
        self._sink.flush()

    def serve_requests(self, espeak: EspeakLibrary) -> None:
        while True:
            request, op, body = self._requests.get()
            try:
                if op == SPEAK_APART:
                    self._speak_apart(espeak, request, body)
                    continue
                espeak.use_voice(str(body["voice"]))
                if op == PHONEMES:
                    found = {str(word): espeak.phonemes_of(str(word)) for word in body["words"]}
                    self.write_answer(request, JSON, json.dumps(found).encode())
                elif not self._is_cancelled(request):
                    espeak.speak(str(body["text"]), int(body["wpm"]), self._audio_sender(request))
                self.write_answer(request, END)
            except (OSError, KeyError, TypeError, ValueError) as error:
                if isinstance(error, BrokenPipeError):
                    return
                self.write_answer(request, ERROR, str(error).encode())
            with self._lock:  # ids only grow: a late cancel has no effect
                self._cancelled = {later for later in self._cancelled if later > request}

    def _speak_apart(self, espeak: EspeakLibrary, request: int, body: dict[str, Any]) -> None:
        if (child := os.fork()) == 0:
            with contextlib.suppress(OSError, KeyError, TypeError, ValueError):
                espeak.use_voice(str(body["voice"]))
                espeak.speak(str(body["text"]), int(body["wpm"]), partial(self._send_audio, request))
                self.write_answer(request, END)
                os._exit(0)
            os._exit(1)
        if os.waitpid(child, 0)[1] != 0:
            self.write_answer(request, ERROR, b"The voice could not speak this text.")

    def _is_cancelled(self, request: int) -> bool:
        with self._lock:
            return request in self._cancelled

    def _audio_sender(self, request: int) -> Callable[[bytes], bool]:
        def send_audio(pcm: bytes) -> bool:
            return not self._is_cancelled(request) and self._send_audio(request, pcm)

        return send_audio

    def _send_audio(self, request: int, pcm: bytes) -> bool:
        try:
            self.write_answer(request, PCM, pcm)
        except BrokenPipeError:
            os._exit(0)
        return True


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server; it ends us by closing the pipe
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # library output must not mix with the answers
    program = SynthesisServer(sys.stdin.buffer, sink)
    try:
        espeak = EspeakLibrary()
    except OSError as error:
        program.write_answer(0, ERROR, str(error).encode())
        return 3
    program.write_answer(0, JSON, json.dumps({"sample_rate": espeak.sample_rate, "library": espeak.library}).encode())
    threading.Thread(target=program.read_requests, daemon=True).start()
    program.serve_requests(espeak)
    return 0


if __name__ == "__main__":
    sys.exit(main())
