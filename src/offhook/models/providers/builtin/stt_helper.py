"""The listening program: pocketsphinx behind a pipe, started by ``stt.py`` as a process of its own and never imported.

One decoder serves every call: an utterance is decoded when it is over, at 30 to 50 times the speed of speech, so that nothing
of one caller is kept for another. Wire, both ways little-endian:

request   ``<IBI`` id, op, length + payload.  op 1 utterance: JSON {grammar, jsgf} + newline + PCM16 16 kHz ·
          2 words: JSON [word …] → which are not in the dictionary · 3 pronounce: JSON {word: phones}
answer    ``<IBI`` id, kind, length + payload.  kind 1 JSON · 3 error: UTF-8 sentence.
          The first answer has id 0 and kind 1: {model}
"""

import json
import os
import signal
import struct
import sys
from collections import OrderedDict
from typing import Any, BinaryIO, Final

HEADER: Final = struct.Struct("<IBI")
UTTERANCE, WORDS, PRONOUNCE = 1, 2, 3
JSON, ERROR = 1, 3
MAX_GRAMMARS: Final = 64


class Recogniser:
    """One pocketsphinx decoder and the grammars that it has compiled."""

    def __init__(self) -> None:
        import pocketsphinx  # noqa: PLC0415 - this program's one dependency, reported when it is missing

        self.model = str(pocketsphinx.get_model_path())
        self._decoder = pocketsphinx.Decoder(pocketsphinx.Config(lm=None, loglevel="FATAL", wip=0.2))
        self._decoder.add_allphone_file("_phones", None)
        self._grammars: OrderedDict[str, None] = OrderedDict()

    def unknown(self, words: list[str]) -> list[str]:
        return [word for word in words if self._decoder.lookup_word(word) is None]

    def pronounce(self, words: dict[str, str]) -> None:
        for word, phones in words.items():
            if self._decoder.lookup_word(word) is None:
                self._decoder.add_word(word, phones, True)

    def recognise(self, grammar: str, jsgf: str, pcm: bytes) -> dict[str, Any]:
        """``{text, margin}``: the margin is the log score per frame above a loop of free phones, negative, 0 is best."""
        self._use(grammar, jsgf)
        text, score = self._decode(grammar, pcm)
        if not text:
            return {"text": "", "margin": None}
        _, free = self._decode("_phones", pcm)
        frames = max(1, len(pcm) // 320)
        return {"text": text, "margin": round((score - free) / frames, 2)}

    def _use(self, grammar: str, jsgf: str) -> None:
        if grammar in self._grammars:
            self._grammars.move_to_end(grammar)
            return
        if len(self._grammars) >= MAX_GRAMMARS:
            oldest, _ = self._grammars.popitem(last=False)
            self._decoder.remove_search(oldest)
        self._decoder.add_jsgf_string(grammar, jsgf)
        self._grammars[grammar] = None

    def _decode(self, search: str, pcm: bytes) -> tuple[str, float]:
        import math  # noqa: PLC0415 - beside its only use

        decoder = self._decoder
        decoder.activate_search(search)
        decoder.start_utt()
        # the whole utterance at once: its mean is normalised over itself, not over an earlier caller
        decoder.process_raw(pcm, False, True)
        decoder.end_utt()
        found = decoder.hyp()
        if found is None:
            return "", 0.0
        return found.hypstr.strip(), math.log(max(found.best_score, 1e-300)) * 1e4


def answer(recogniser: Recogniser, op: int, payload: bytes) -> Any:
    if op == UTTERANCE:
        head, _, pcm = payload.partition(b"\n")
        order = json.loads(head)
        return recogniser.recognise(order["grammar"], order["jsgf"], pcm)
    if op == WORDS:
        return recogniser.unknown(json.loads(payload))
    recogniser.pronounce(json.loads(payload))
    return {}


def write(sink: BinaryIO, request: int, kind: int, payload: bytes) -> None:
    sink.write(HEADER.pack(request, kind, len(payload)) + payload)
    sink.flush()


def main() -> int:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server; it ends us by closing the pipe
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # nothing that the library prints may get between the answers
    try:
        recogniser = Recogniser()
    except (ImportError, RuntimeError, OSError) as error:
        write(sink, 0, ERROR, str(error).encode())
        return 3
    write(sink, 0, JSON, json.dumps({"model": recogniser.model}).encode())
    while len(header := source.read(HEADER.size)) == HEADER.size:
        request, op, length = HEADER.unpack(header)
        try:
            payload = source.read(length)
            write(sink, request, JSON, json.dumps(answer(recogniser, op, payload)).encode())
        except BrokenPipeError:
            return 0
        except (RuntimeError, ValueError, KeyError, TypeError) as error:
            write(sink, request, ERROR, str(error).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
