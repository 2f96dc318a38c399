"""A program that speaks: espeak-ng behind pipes. It is a program of its own because espeak-ng is GPL.

In: SPEAK (JSON: text, voice, rate, pitch), CANCEL, PHONEMES (UTF-8 words, one a line). Out: READY (sample rate),
AUDIO (PCM16), DONE, FAILED (UTF-8), IPA (UTF-8, one a line). It ends when its standard input does.
"""

import ctypes
import json
import queue
import sys
import threading
from typing import Any, Final

from offhook.helpers.frames import pack, read

SPEAK, CANCEL, PHONEMES = 1, 2, 3
READY, AUDIO, DONE, FAILED, IPA = 10, 11, 12, 13, 14

_SYNCHRONOUS: Final = 2
_RATE, _PITCH = 1, 3
_UTF8: Final = 1
_IPA_MODE: Final = 2
# Audio leaves in pieces of this length, so that the first one is out long before the sentence is done.
_PIECE_MS: Final = 60

_Callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)


class Espeak:
    def __init__(self, library: str, data: str | None) -> None:
        self._lib = ctypes.CDLL(library)
        self._lib.espeak_TextToPhonemes.restype = ctypes.c_char_p
        path = data.encode() if data else None
        self.sample_rate: int = self._lib.espeak_Initialize(_SYNCHRONOUS, _PIECE_MS, path, 0)
        if self.sample_rate <= 0:
            raise RuntimeError("espeak-ng found no voice data")
        self._sink: Any = None
        self._callback = _Callback(self._on_audio)
        self._lib.espeak_SetSynthCallback(self._callback)
        self._voice = ""

    def _on_audio(self, wave: Any, count: int, _: Any) -> int:
        if wave and count > 0:
            return int(self._sink(ctypes.string_at(wave, count * 2)))
        return 0

    def use(self, voice: str) -> None:
        if voice != self._voice:
            if self._lib.espeak_SetVoiceByName(voice.encode()) != 0:
                raise ValueError(f"there is no voice {voice!r}")
            self._voice = voice

    def speak(self, text: str, *, voice: str, rate: int, pitch: int, sink: Any) -> None:
        """``sink`` gets PCM16 pieces and returns True to stop."""
        self.use(voice)
        self._sink = sink
        self._lib.espeak_SetParameter(_RATE, rate, 0)
        self._lib.espeak_SetParameter(_PITCH, pitch, 0)
        data = text.encode() + b"\0"
        self._lib.espeak_Synth(data, len(data), 0, 1, 0, _UTF8, None, None)

    def ipa(self, word: str) -> str:
        self.use("en-us")
        text = ctypes.c_char_p(word.encode())
        pointer = ctypes.pointer(text)
        found = self._lib.espeak_TextToPhonemes(pointer, _UTF8, _IPA_MODE)
        return (found or b"").decode(errors="replace")


class Program:
    """One thread reads, so that a cancel is heard while the other one speaks."""

    def __init__(self, espeak: Espeak) -> None:
        self._espeak = espeak
        self._work: queue.Queue[tuple[int, int, bytes] | None] = queue.Queue()
        self._cancelled: set[int] = set()
        self._out = sys.stdout.buffer

    def run(self) -> None:
        self._send(0, READY, str(self._espeak.sample_rate).encode())
        threading.Thread(target=self._read, daemon=True).start()
        while (frame := self._work.get()) is not None:
            channel, kind, payload = frame
            try:
                self._do(channel, kind, payload)
            except (ValueError, KeyError, TypeError) as error:
                self._send(channel, FAILED, str(error).encode())
            self._cancelled.discard(channel)

    def _read(self) -> None:
        while (frame := read(sys.stdin.buffer)) is not None:
            if frame[1] == CANCEL:
                self._cancelled.add(frame[0])
            else:
                self._work.put(frame)
        self._work.put(None)

    def _do(self, channel: int, kind: int, payload: bytes) -> None:
        if kind == PHONEMES:
            words = payload.decode().split("\n")
            self._send(channel, IPA, "\n".join(self._espeak.ipa(word) for word in words).encode())
        elif kind == SPEAK:
            if channel not in self._cancelled:
                self._speak(channel, json.loads(payload))
            self._send(channel, DONE)

    def _speak(self, channel: int, order: dict[str, Any]) -> None:
        def sink(pcm: bytes) -> bool:
            if channel in self._cancelled:
                return True
            self._send(channel, AUDIO, pcm)
            return False

        self._espeak.speak(
            str(order["text"]), voice=str(order["voice"]), rate=int(order["rate"]), pitch=int(order["pitch"]), sink=sink
        )

    def _send(self, channel: int, kind: int, payload: bytes = b"") -> None:
        self._out.write(pack(channel, kind, payload))
        self._out.flush()


if __name__ == "__main__":
    try:
        Program(Espeak(sys.argv[1], sys.argv[2] or None)).run()
    except BrokenPipeError:
        sys.exit(0)
