"""Emulators of recognizers: they take audio and return its words, each in its vendor's format."""

import asyncio
import base64
import json
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers

from offhook.kit.audio import MULAW_8K, Samples
from offhook_lab.speech.server import DEEPGRAM_REFUSALS, HandshakeRefusal, LabServer, send_json
from offhook_lab.speech.tones import LEXICON, SpeechPause, ToneDetector, ToneLexicon, ToneWord


class RecognizerServer(LabServer):
    """Base class of recognizers. ``script``: sentences for sounds outside the lexicon (real speech), one per utterance.

    ``received_s`` is the total audio received, ``utterances`` the recognized texts.
    """

    pause_s: ClassVar[float] = 0.4

    def __init__(
        self, api_key: str = "lab-key", lexicon: ToneLexicon = LEXICON, script: Sequence[str] = ("yes please",)
    ) -> None:
        super().__init__(api_key, lexicon)
        self.script = script
        self.received_s = 0.0
        self.utterances: list[str] = []
        self.words_heard = 0
        self._next_line = 0

    async def feed_audio(
        self, socket: ServerConnection, hearing: "UtteranceBuffer", samples: Samples
    ) -> list[ToneWord | SpeechPause]:
        """Returns the words and pauses in the audio; the fault occurs at its word."""
        self.received_s += samples.size / hearing.rate
        found = list(hearing.detector.push_samples(samples))
        for item in found:
            if isinstance(item, ToneWord):
                self.words_heard += 1
        if (
            self.fault is not None
            and self.words_heard >= self.fault.after
            and (fault := self.take_stream_fault()) is not None
        ):
            await self.break_down(socket, fault)
        return found

    def next_line(self) -> str:
        text = self.script[self._next_line % len(self.script)]
        self._next_line += 1
        return text

    def finish_utterance(self, words: Sequence[ToneWord]) -> str:
        """Returns the text of a whole utterance."""
        known = [word.text for word in words if word.text is not None]
        text = " ".join(known) if known else self.next_line()
        self.utterances.append(text)
        return text


class UtteranceBuffer:
    """One stream's detector and the words since the last final."""

    def __init__(self, rate: int, pause_s: float, lexicon: ToneLexicon) -> None:
        self.rate = rate
        self.detector = ToneDetector(rate, pause_s=pause_s, lexicon=lexicon)
        self.words: list[ToneWord] = []

    @property
    def text(self) -> str:
        return " ".join(word.text or "…" for word in self.words)

    def take_words(self) -> list[ToneWord]:
        words, self.words = self.words, []
        return words


def decode_samples(payload: bytes, encoding: str) -> Samples:
    return MULAW_8K.decode(payload) if "mulaw" in encoding else np.frombuffer(payload, "<i2")


def word_timings(words: Sequence[ToneWord], text: str) -> list[dict[str, Any]]:
    """Returns the words with their times; for an unknown sound those of the script, spread over it."""
    if all(word.text is not None for word in words):
        return [{"text": word.text, "start": word.start_s, "end": word.end_s, "confidence": 0.97} for word in words]
    parts, start, end = text.split(), words[0].start_s, words[-1].end_s
    step = (end - start) / len(parts)
    return [
        {"text": part, "start": start + step * n, "end": start + step * (n + 1), "confidence": 0.9}
        for n, part in enumerate(parts)
    ]


class DeepgramRecognizerServer(RecognizerServer):
    """Emulates ``/v1/listen``. Closes with NET-0001 after 10 s without audio or KeepAlive."""

    path = "/v1/listen"
    idle_s: ClassVar[float] = 10.0
    quiet_final_s: ClassVar[float] = 3.0
    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = DEEPGRAM_REFUSALS

    def is_authorized(self, headers: Headers) -> bool:
        return headers.get("Authorization") == f"Token {self.api_key}"

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        hearing = UtteranceBuffer(int(query["sample_rate"]), int(query.get("endpointing", "10")) / 1000, self.lexicon)
        start = 0.0
        while True:
            try:
                async with asyncio.timeout(self.idle_s):
                    message = await socket.recv()
            except TimeoutError:
                await socket.close(1011, "NET-0001: no audio within the timeout window")
                return
            if isinstance(message, str):
                if self.read_message(message)["type"] == "CloseStream":
                    return
                continue
            for item in await self.feed_audio(socket, hearing, decode_samples(message, query["encoding"])):
                if isinstance(item, ToneWord):
                    hearing.words.append(item)
                    await self._send_results(socket, hearing.words, hearing.text, start, hearing.detector.heard_s)
                elif hearing.words:
                    words = hearing.take_words()
                    await self._send_results(
                        socket, words, self.finish_utterance(words), start, item.at_s, is_final=True
                    )
                    start = item.at_s
            if (
                not hearing.words
                and not hearing.detector.is_in_word
                and hearing.detector.heard_s - start > self.quiet_final_s
            ):
                await self._send_results(
                    socket, [], "", start, hearing.detector.heard_s, is_final=True, is_speech=False
                )
                start = hearing.detector.heard_s

    async def _send_results(
        self,
        socket: ServerConnection,
        words: Sequence[ToneWord],
        text: str,
        start: float,
        end: float,
        *,
        is_final: bool = False,
        is_speech: bool = True,
    ) -> None:
        listed = [{**word, "word": word["text"]} for word in word_timings(words, text)] if words else []
        body = {
            "type": "Results",
            "channel_index": [0, 1],
            "start": round(start, 3),
            "duration": round(end - start, 3),
            "is_final": is_final,
            "speech_final": is_final and is_speech,
            "channel": {"alternatives": [{"transcript": text, "confidence": 0.97, "words": listed}]},
        }
        await send_json(socket, body)


class AssemblyAiServer(RecognizerServer):
    """Emulates ``/v3/ws``. A wrong key and every other error is reported after the handshake."""

    path = "/v3/ws"
    # seconds of audio within a second
    most_per_second: ClassVar[float] = 3.0
    errors: ClassVar[Mapping[str, tuple[int, str]]] = {
        "unauthorized": (1008, "Unauthorized Connection: invalid API key"),
        "no_quota": (1008, "Unauthorized Connection: insufficient account balance"),
        "rate_limited": (1008, "Too many concurrent sessions"),
        "bad_request": (3006, "Invalid connection parameters"),
        "server_error": (3005, "Session error"),
    }

    def is_authorized(self, headers: Headers) -> bool:
        return True

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        assert socket.request is not None
        is_right = socket.request.headers.get("Authorization") == self.api_key
        trouble = self.trouble if is_right else "unauthorized"
        if trouble is not None:
            await self._send_error(socket, *self.errors[trouble])
            return
        await send_json(socket, {"type": "Begin", "id": "lab", "expires_at": 2_000_000_000})
        hearing = UtteranceBuffer(int(query["sample_rate"]), self.pause_s, self.lexicon)
        loop = asyncio.get_running_loop()
        recent: deque[tuple[float, float]] = deque()
        turn = 0
        async for message in socket:
            if isinstance(message, str):
                if self.read_message(message)["type"] == "Terminate":
                    heard = hearing.detector.heard_s
                    await send_json(socket, {"type": "Termination", "audio_duration_seconds": round(heard)})
                    return
                continue
            samples = decode_samples(message, query["encoding"])
            if not 0.05 <= samples.size / hearing.rate <= 1.0:
                await self._send_error(socket, 3007, "Input Duration Error: audio chunks are 50 to 1000 ms")
                return
            recent.append((loop.time(), samples.size / hearing.rate))
            while recent[0][0] < loop.time() - 1:
                recent.popleft()
            if sum(seconds for _, seconds in recent) > self.most_per_second:
                await self._send_error(socket, 3007, "Audio Transmission Rate Exceeded")
                return
            for item in await self.feed_audio(socket, hearing, samples):
                if isinstance(item, ToneWord):
                    hearing.words.append(item)
                    await self._send_turn(socket, turn, hearing.words, hearing.text, is_over=False)
                elif hearing.words:
                    words = hearing.take_words()
                    await self._send_turn(socket, turn, words, self.finish_utterance(words), is_over=True)
                    turn += 1

    async def _send_error(self, socket: ServerConnection, code: int, text: str) -> None:
        await send_json(socket, {"type": "Error", "error_code": code, "error": text})
        await socket.close(code, text)

    async def _send_turn(
        self, socket: ServerConnection, turn: int, words: Sequence[ToneWord], text: str, *, is_over: bool
    ) -> None:
        listed = [
            {**word, "start": round(word["start"] * 1000), "end": round(word["end"] * 1000), "word_is_final": is_over}
            for word in word_timings(words, text)
        ]
        body = {"type": "Turn", "turn_order": turn, "turn_is_formatted": False, "end_of_turn": is_over}
        await send_json(
            socket, {**body, "transcript": text, "end_of_turn_confidence": 0.9 if is_over else 0.1, "words": listed}
        )


class SpeechmaticsServer(RecognizerServer):
    """Emulates ``/v2``. Words become final while the caller still speaks, all but the last three."""

    path = "/v2"
    open_words: ClassVar[int] = 3
    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = {
        "unauthorized": HandshakeRefusal(401, {"reason": "the API key is not valid"})
    }
    errors: ClassVar[Mapping[str, tuple[int, str]]] = {
        "no_quota": (4006, "timelimit_exceeded"),
        "rate_limited": (4005, "quota_exceeded"),
        "not_found": (4004, "invalid_model"),
        "forbidden": (4003, "not_allowed"),
        "server_error": (4013, "job_error"),
    }

    def is_authorized(self, headers: Headers) -> bool:
        return headers.get("Authorization") == f"Bearer {self.api_key}"

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        start = self.read_message(await socket.recv())
        if start.get("message") != "StartRecognition":
            await self._send_error(socket, 1003, "protocol_error")
            return
        if self.trouble is not None:
            await self._send_error(socket, *self.errors[self.trouble])
            return
        audio = start["audio_format"]
        await send_json(socket, {"message": "RecognitionStarted", "id": "lab"})
        hearing = UtteranceBuffer(audio["sample_rate"], self.pause_s, self.lexicon)
        said: list[ToneWord] = []
        count = 0
        async for message in socket:
            if isinstance(message, str):
                if self.read_message(message)["message"] == "EndOfStream":
                    await send_json(socket, {"message": "EndOfTranscript"})
                    return
                continue
            count += 1
            await send_json(socket, {"message": "AudioAdded", "seq_no": count})
            for item in await self.feed_audio(socket, hearing, decode_samples(message, audio["encoding"])):
                said = await self._process_item(socket, hearing, said, item)

    async def _process_item(
        self, socket: ServerConnection, hearing: UtteranceBuffer, said: list[ToneWord], item: ToneWord | SpeechPause
    ) -> list[ToneWord]:
        if isinstance(item, ToneWord):
            hearing.words.append(item)
            if len(hearing.words) > self.open_words and all(word.text for word in hearing.words):
                sure, hearing.words = hearing.words[: -self.open_words], hearing.words[-self.open_words :]
                await self._send_transcript(socket, "AddTranscript", sure, " ".join(str(word.text) for word in sure))
                said = [*said, *sure]
            await self._send_transcript(socket, "AddPartialTranscript", hearing.words, hearing.text)
            return said
        if hearing.words:
            words = hearing.take_words()
            known = [word for word in words if word.text is not None]
            text = " ".join(str(word.text) for word in known) or self.next_line()
            self.utterances.append(" ".join([*(str(word.text) for word in said), text]))
            await self._send_transcript(socket, "AddTranscript", words, text)
            metadata = {"start_time": item.at_s, "end_time": item.at_s}
            await send_json(socket, {"message": "EndOfUtterance", "format": "2.9", "metadata": metadata})
        return []

    async def _send_transcript(
        self, socket: ServerConnection, message: str, words: Sequence[ToneWord], text: str
    ) -> None:
        results = [
            {
                "type": "word",
                "start_time": word["start"],
                "end_time": word["end"],
                "alternatives": [{"content": word["text"], "confidence": word["confidence"], "language": "en"}],
            }
            for word in word_timings(words, text)
        ]
        metadata = {"start_time": words[0].start_s, "end_time": words[-1].end_s, "transcript": f"{text} "}
        await send_json(socket, {"message": message, "format": "2.9", "metadata": metadata, "results": results})

    async def _send_error(self, socket: ServerConnection, code: int, kind: str) -> None:
        await send_json(socket, {"message": "Error", "type": kind, "reason": f"{kind} in the lab"})
        await socket.close(code, kind)


SEMANTIC_PAUSE_S: Final = 1.5


def _is_turn_detection(value: Mapping[str, Any]) -> bool:
    """Returns whether the vendor accepts these settings of its detector."""
    if value.get("type") == "semantic_vad":
        is_known = value.get("eagerness", "auto") in ("low", "medium", "high", "auto")
        return is_known and not value.keys() - {"type", "eagerness", "create_response", "interrupt_response"}
    return value.get("type") == "server_vad" and "eagerness" not in value


class OpenAiRealtimeServer(RecognizerServer):
    """Emulates ``/v1/realtime?intent=transcription``: the vendor's detector cuts items, transcripts follow the commit.

    ``semantic_vad`` waits for longer than a pause between two words.
    """

    path = "/v1/realtime"

    @property
    def base_url(self) -> str:
        return super().base_url + "/v1"

    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = {
        "unauthorized": HandshakeRefusal(
            401,
            {"error": {"code": "invalid_api_key", "type": "invalid_request_error", "message": "Incorrect API key."}},
        ),
        "rate_limited": HandshakeRefusal(
            429, {"error": {"code": "rate_limit_exceeded", "message": "Rate limit reached."}}, {"Retry-After": "1"}
        ),
    }
    errors: ClassVar[Mapping[str, tuple[str, str]]] = {
        "no_quota": ("insufficient_quota", "invalid_request_error"),
        "not_found": ("model_not_found", "invalid_request_error"),
        "server_error": ("", "server_error"),
    }

    def is_authorized(self, headers: Headers) -> bool:
        return headers.get("Authorization") == f"Bearer {self.api_key}"

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        if query.get("intent") != "transcription":
            await self._send_error(socket, "invalid_value", "invalid_request_error")
            return
        await send_json(socket, {"type": "session.created", "session": {"type": "transcription"}})
        hearing: UtteranceBuffer | None = None
        encoding, item, pause_s = "", 0, self.pause_s
        async for raw in socket:
            message = json.loads(raw)
            if message["type"] == "session.update":
                self.messages.append(message)
                if self.trouble is not None:
                    await self._send_error(socket, *self.errors[self.trouble])
                    return
                settings = message["session"]["audio"]["input"]
                if (detection := settings.get("turn_detection")) is not None:
                    if not _is_turn_detection(detection):
                        await self._send_error(socket, "invalid_value", "invalid_request_error")
                        return
                    pause_s = SEMANTIC_PAUSE_S if detection["type"] == "semantic_vad" else self.pause_s
                audio = settings.get("format")
                if audio is not None:
                    encoding = "mulaw" if audio["type"] == "audio/pcmu" else "pcm"
                    if encoding == "pcm" and audio.get("rate") != 24000:
                        await self._send_error(socket, "invalid_value", "invalid_request_error")
                        return
                    hearing = UtteranceBuffer(8000 if encoding == "mulaw" else 24000, pause_s, self.lexicon)
                await send_json(socket, {"type": "session.updated", "session": message["session"]})
            elif message["type"] == "input_audio_buffer.append" and hearing is not None:
                samples = decode_samples(base64.b64decode(message["audio"]), encoding)
                for found in await self.feed_audio(socket, hearing, samples):
                    item = await self._process_item(socket, hearing, found, item)

    async def _process_item(
        self, socket: ServerConnection, hearing: UtteranceBuffer, found: ToneWord | SpeechPause, item: int
    ) -> int:
        name = {"item_id": f"item_{item}"}
        if isinstance(found, ToneWord):
            if not hearing.words:
                start = {"audio_start_ms": round(found.start_s * 1000)}
                await send_json(socket, {"type": "input_audio_buffer.speech_started", **name, **start})
            hearing.words.append(found)
            return item
        if not hearing.words:
            return item
        words = hearing.take_words()
        end = {"audio_end_ms": round(words[-1].end_s * 1000)}
        await send_json(socket, {"type": "input_audio_buffer.speech_stopped", **name, **end})
        await send_json(socket, {"type": "input_audio_buffer.committed", **name, "previous_item_id": None})
        kind = "conversation.item.input_audio_transcription"
        text = self.finish_utterance(words)
        for part in text.split():
            await send_json(socket, {"type": f"{kind}.delta", **name, "content_index": 0, "delta": f"{part} "})
        usage = {"type": "duration", "seconds": round(words[-1].end_s - words[0].start_s, 2)}
        await send_json(
            socket, {"type": f"{kind}.completed", **name, "content_index": 0, "transcript": text, "usage": usage}
        )
        return item + 1

    async def _send_error(self, socket: ServerConnection, code: str, kind: str) -> None:
        error = {"type": kind, "code": code or None, "message": f"{code or kind} in the lab", "param": None}
        await send_json(socket, {"type": "error", "event_id": "event_lab", "error": error})
        await socket.close(1000)
