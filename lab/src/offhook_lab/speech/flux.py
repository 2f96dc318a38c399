"""Emulates Deepgram's Flux, which recognizes words and decides when a turn is over."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers

from offhook_lab.speech.recognizers import RecognizerServer, UtteranceBuffer, decode_samples, word_timings
from offhook_lab.speech.server import DEEPGRAM_REFUSALS, HandshakeRefusal, send_json
from offhook_lab.speech.tones import ToneWord

# What the vendor accepts.
_RANGES = {"eot_threshold": (0.5, 0.9), "eager_eot_threshold": (0.3, 0.9), "eot_timeout_ms": (500, 10_000)}
_ENGLISH, _MULTILINGUAL = "flux-general-en", "flux-general-multi"
_ENCODINGS = ("linear16", "linear32", "mulaw", "alaw", "opus", "ogg-opus")


class FluxServer(RecognizerServer):
    """Emulates ``/v2/listen``. A turn's end is likely after ``eager_s`` of silence, and certain after ``end_s``.

    It closes with NET-0001 after 10 s without audio, whatever else it gets. The multilingual model finds words of
    ``languages``, the most frequent one first.
    """

    path = "/v2/listen"
    idle_s: ClassVar[float] = 10.0
    eager_s: ClassVar[float] = 0.2
    end_s: ClassVar[float] = 0.5
    languages: Sequence[str] = ("en",)
    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = DEEPGRAM_REFUSALS

    def is_authorized(self, headers: Headers) -> bool:
        return headers.get("Authorization") == f"Token {self.api_key}"

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        wrong = [
            name for name, (low, high) in _RANGES.items() if name in query and not low <= float(query[name]) <= high
        ]
        # hints are for the multilingual model alone
        wrong += [name for name in ("language_hint",) if name in query and query["model"] != _MULTILINGUAL]
        if wrong or query["encoding"] not in _ENCODINGS or query["model"] not in (_ENGLISH, _MULTILINGUAL):
            await send_json(
                socket, {"type": "Error", "sequence_id": 0, "code": "INVALID_QUERY", "description": f"Wrong: {wrong}"}
            )
            return
        await _FluxConnection(self, socket, query).serve()


class _FluxConnection:
    """One connection, and the state of its turn."""

    def __init__(self, server: FluxServer, socket: ServerConnection, query: Mapping[str, str]) -> None:
        self._server = server
        self._socket = socket
        self._encoding = query["encoding"]
        self._is_eager = "eager_eot_threshold" in query
        self._is_multilingual = query["model"] == _MULTILINGUAL
        self._hearing = UtteranceBuffer(int(query["sample_rate"]), server.eager_s, server.lexicon)
        self._sent = self._turn = 0
        self._started_s = self._last_word_s = 0.0
        self._awaits_end = False

    async def serve(self) -> None:
        await self._send({"type": "Connected"})
        heard_at = asyncio.get_running_loop().time()
        while True:
            try:
                async with asyncio.timeout_at(heard_at + self._server.idle_s):
                    message = await self._socket.recv()
            except TimeoutError:
                await self._socket.close(1011, "NET-0001: no audio within the timeout window")
                return
            if isinstance(message, str):
                kind = self._server.read_message(message)["type"]
                if kind == "CloseStream":
                    return
                answer = "ConfigureSuccess" if kind == "Configure" else "ConfigureFailure"
                await self._send({"type": answer})
                continue
            heard_at = asyncio.get_running_loop().time()
            await self._hear(message)

    async def _hear(self, payload: bytes) -> None:
        hearing = self._hearing
        for item in await self._server.feed_audio(self._socket, hearing, decode_samples(payload, self._encoding)):
            if isinstance(item, ToneWord):
                await self._add_word(item)
            elif hearing.words and self._is_eager and not self._awaits_end:
                self._awaits_end = True
                await self._send_turn("EagerEndOfTurn")
        is_quiet = not hearing.detector.is_in_word
        if hearing.words and is_quiet and hearing.detector.heard_s - self._last_word_s >= self._server.end_s:
            text = self._server.finish_utterance(hearing.words)
            await self._send_turn("EndOfTurn", text)
            hearing.take_words()
            self._awaits_end = False
            self._turn += 1
            self._started_s = hearing.detector.heard_s

    async def _add_word(self, word: ToneWord) -> None:
        is_first = not self._hearing.words
        self._hearing.words.append(word)
        self._last_word_s = word.end_s
        event = "StartOfTurn" if is_first else "TurnResumed" if self._awaits_end else "Update"
        self._awaits_end = False
        await self._send_turn(event)

    async def _send_turn(self, event: str, text: str | None = None) -> None:
        hearing = self._hearing
        text = hearing.text if text is None else text
        words = [
            {"word": word["text"], "confidence": word["confidence"], "start": word["start"], "end": word["end"]}
            for word in word_timings(hearing.words, text)
        ]
        await self._send(
            {
                "type": "TurnInfo",
                "event": event,
                "turn_index": self._turn,
                "audio_window_start": round(self._started_s, 3),
                "audio_window_end": round(hearing.detector.heard_s, 3),
                "transcript": text,
                "words": words,
                "end_of_turn_confidence": {"EagerEndOfTurn": 0.55, "EndOfTurn": 0.85}.get(event, 0.1),
                **({"languages": list(self._server.languages)} if self._is_multilingual and text else {}),
            }
        )

    async def _send(self, message: Mapping[str, Any]) -> None:
        await send_json(self._socket, {**message, "request_id": "lab", "sequence_id": self._sent})
        self._sent += 1
