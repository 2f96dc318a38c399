"""Emulators of voices: they take sentences and return tones, in pieces as a vendor's model generates them."""

import asyncio
import base64
from collections import deque
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final
from urllib.parse import unquote, urlsplit

from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers

from offhook.kit.audio import MULAW_8K
from offhook_lab.speech.server import DEEPGRAM_REFUSALS, HandshakeRefusal, LabServer, send_json
from offhook_lab.speech.tones import LEXICON, ToneLexicon, speak_tones

PIECE_S: Final = 0.2
NO_VOICE: Final = "no-such-voice"


class VoiceServer(LabServer):
    """Base class of voices. ``first_byte_s`` passes until a sentence begins, ``piece_s`` between pieces of 0.2 s;
    ``spoken`` are the sentences."""

    def __init__(self, api_key: str = "lab-key", lexicon: ToneLexicon = LEXICON) -> None:
        super().__init__(api_key, lexicon)
        self.first_byte_s = 0.1
        self.piece_s = 0.02
        self.spoken: list[str] = []
        self.pieces_sent = 0

    async def stream_pieces(
        self, socket: ServerConnection, text: str, encoding: str, rate: int
    ) -> AsyncIterator[bytes]:
        """Yields the audio of a sentence, or carries out its fault."""
        self.spoken.append(text)
        slow = self._take_fault_of("slow")
        fault = self.take_stream_fault()
        await asyncio.sleep(slow.seconds if slow else self.first_byte_s)
        samples = await self.say(text, rate) if self.say else speak_tones(text, rate, self.lexicon)
        step = int(PIECE_S * rate)
        for number, at in enumerate(range(0, samples.size, step)):
            if fault is not None and number == fault.after:
                await self.break_down(socket, fault)
            piece = samples[at : at + step]
            self.pieces_sent += 1
            yield MULAW_8K.encode(piece) if encoding == "mulaw" else piece.astype("<i2").tobytes()
            await asyncio.sleep(self.piece_s)


@dataclass
class _SpeechContext:
    """An ElevenLabs context: text until it is flushed, one sentence after the other, ``isFinal`` when closed."""

    text: str = ""
    jobs: "asyncio.Queue[str | None]" = field(default_factory=asyncio.Queue)
    task: "asyncio.Task[None] | None" = None


class ElevenLabsServer(VoiceServer):
    """Emulates ``/v1/text-to-speech/{voice_id}/multi-stream-input``. A wrong key is reported after the handshake."""

    path = "/v1/text-to-speech/"
    max_contexts: ClassVar[int] = 5
    errors: ClassVar[Mapping[str, tuple[str, str]]] = {
        "unauthorized": ("invalid_api_key", "Invalid API key"),
        "no_quota": ("quota_exceeded", "This request exceeds your quota of 10000."),
        "rate_limited": ("too_many_concurrent_requests", "Too many concurrent requests."),
        "not_found": ("voice_id_does_not_exist", "A voice with this voice_id does not exist."),
        "server_error": ("internal_server_error", "Something went wrong."),
    }

    def is_authorized(self, headers: Headers) -> bool:
        return True

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        assert socket.request is not None
        voice = unquote(urlsplit(socket.request.path).path.split("/")[3])
        trouble = self.trouble
        if socket.request.headers.get("xi-api-key") != self.api_key:
            trouble = "unauthorized"
        elif voice == NO_VOICE:
            trouble = "not_found"
        contexts: dict[str, _SpeechContext] = {}
        idle_s = float(query.get("inactivity_timeout", "20"))
        try:
            while True:
                try:
                    async with asyncio.timeout(idle_s):
                        message = self.read_message(await socket.recv())
                except TimeoutError:
                    await self._send_error(socket, "input_timeout_exceeded", "Have not received a new text input.")
                    return
                if trouble is not None:
                    await self._send_error(socket, *self.errors[trouble])
                    return
                if message.get("close_socket"):
                    return
                if not await self._queue_text(socket, contexts, message, query["output_format"]):
                    return
        finally:
            for context in contexts.values():
                if context.task is not None:
                    context.task.cancel()

    async def _send_error(self, socket: ServerConnection, error: str, text: str) -> None:
        await send_json(socket, {"message": text, "error": error, "code": 1008})
        await socket.close(1008, text)

    async def _queue_text(
        self, socket: ServerConnection, contexts: dict[str, _SpeechContext], message: Mapping[str, Any], output: str
    ) -> bool:
        name = message.get("context_id")
        if name is None:
            return True
        if name not in contexts:
            if len(contexts) >= self.max_contexts:
                text = "Maximum simultaneous contexts per WebSocket connection exceeded (5)."
                await self._send_error(socket, "max_active_conversations", text)
                return False
            context = contexts[name] = _SpeechContext()
            context.task = asyncio.create_task(self._speak_context(socket, name, contexts, output))
        context = contexts[name]
        context.text += message.get("text") or ""
        if message.get("flush") or message.get("close_context"):
            if context.text.strip():
                context.jobs.put_nowait(context.text.strip())
            context.text = ""
        if message.get("close_context"):
            context.jobs.put_nowait(None)
        return True

    async def _speak_context(
        self, socket: ServerConnection, name: str, contexts: dict[str, _SpeechContext], output: str
    ) -> None:
        kind, _, rate = output.partition("_")
        context = contexts[name]
        while (text := await context.jobs.get()) is not None:
            async for piece in self.stream_pieces(socket, text, "mulaw" if kind == "ulaw" else "pcm", int(rate)):
                audio = base64.b64encode(piece).decode()
                await send_json(
                    socket, {"audio": audio, "contextId": name, "alignment": None, "normalizedAlignment": None}
                )
        contexts.pop(name, None)
        await send_json(socket, {"isFinal": True, "contextId": name})


class CartesiaServer(VoiceServer):
    """Emulates ``/tts/websocket``, version 2026-03-01."""

    path = "/tts/websocket"
    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = {
        "unauthorized": HandshakeRefusal(
            401, {"error_code": "unauthorized", "title": "Unauthorized", "message": "Bad key."}
        ),
    }
    errors: ClassVar[Mapping[str, tuple[int, str, str]]] = {
        "no_quota": (402, "quota_exceeded", "You are out of credits."),
        "rate_limited": (429, "concurrency_limited", "You have exceeded your plan's concurrency limit."),
        "not_found": (404, "voice_not_found", "There is no such voice."),
        "server_error": (500, "internal_error", "Something went wrong."),
    }

    def is_authorized(self, headers: Headers) -> bool:
        return headers.get("X-API-Key") == self.api_key

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        tasks: dict[str, asyncio.Task[None]] = {}
        try:
            async for raw in socket:
                message = self.read_message(raw)
                name = str(message["context_id"])
                if message.get("cancel"):
                    if name in tasks:
                        tasks[name].cancel()
                    continue
                trouble = self.trouble
                if message["voice"]["id"] == NO_VOICE:
                    trouble = "not_found"
                if trouble is not None:
                    status, code, text = self.errors[trouble]
                    body = {"type": "error", "done": True, "status_code": status, "error_code": code, "title": code}
                    await send_json(socket, {**body, "message": text, "context_id": name})
                    continue
                tasks[name] = asyncio.create_task(self._speak_context(socket, name, message))
        finally:
            for task in tasks.values():
                task.cancel()

    async def _speak_context(self, socket: ServerConnection, name: str, message: Mapping[str, Any]) -> None:
        output = message["output_format"]
        kind = {"pcm_mulaw": "mulaw", "pcm_s16le": "pcm"}[output["encoding"]]
        base = {"status_code": 206, "context_id": name}
        async for piece in self.stream_pieces(socket, message["transcript"], kind, output["sample_rate"]):
            data = base64.b64encode(piece).decode()
            await send_json(socket, {**base, "type": "chunk", "data": data, "done": False, "step_time": 20.0})
        await send_json(socket, {**base, "type": "done", "done": True})


class RimeServer(VoiceServer):
    """Emulates ``/ws3``: one sentence at a time, tagged with the context of the flushed text."""

    path = "/ws3"
    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = {
        "unauthorized": HandshakeRefusal(401, {"error": "Unauthorized"}),
        "rate_limited": HandshakeRefusal(429, {"error": "Too many requests"}, {"Retry-After": "2"}),
        "no_quota": HandshakeRefusal(402, {"error": "Insufficient credits"}),
        "server_error": HandshakeRefusal(503, {"error": "Unavailable"}),
    }

    def is_authorized(self, headers: Headers) -> bool:
        return headers.get("Authorization") == f"Bearer {self.api_key}"

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        text, context = "", None
        task: asyncio.Task[None] | None = None
        try:
            async for raw in socket:
                message = self.read_message(raw)
                operation = message.get("operation")
                if "text" in message:
                    text, context = text + message["text"], message.get("contextId")
                elif operation == "clear":
                    text = ""
                    if task is not None:
                        task.cancel()
                elif operation == "flush" and text.strip():
                    if query["speaker"] == NO_VOICE or self.trouble == "not_found":
                        await send_json(
                            socket, {"type": "error", "message": f"speaker {query['speaker']} is not known"}
                        )
                    else:
                        task = asyncio.create_task(self._speak_text(socket, text.strip(), context, query))
                    text = ""
                elif operation == "eos":
                    return
        finally:
            if task is not None:
                task.cancel()

    async def _speak_text(
        self, socket: ServerConnection, text: str, context: str | None, query: Mapping[str, str]
    ) -> None:
        async for piece in self.stream_pieces(socket, text, query["audioFormat"], int(query["samplingRate"])):
            await send_json(socket, {"type": "chunk", "data": base64.b64encode(piece).decode(), "contextId": context})
        words = {"words": text.split(), "start": [], "end": []}
        await send_json(socket, {"type": "timestamps", "word_timestamps": words, "contextId": context})
        await send_json(socket, {"type": "done", "contextId": context})


class DeepgramVoiceServer(VoiceServer):
    """Emulates ``/v1/speak``: at most 20 flushes within a minute on a connection."""

    path = "/v1/speak"
    max_flushes: ClassVar[int] = 20
    refusals: ClassVar[Mapping[str, HandshakeRefusal]] = DEEPGRAM_REFUSALS

    def is_authorized(self, headers: Headers) -> bool:
        return headers.get("Authorization") == f"Token {self.api_key}"

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        loop = asyncio.get_running_loop()
        text, sequence = "", 0
        flushes: deque[float] = deque(maxlen=self.max_flushes)
        task: asyncio.Task[None] | None = None
        await send_json(socket, {"type": "Metadata", "request_id": "lab", "model_name": query["model"]})
        try:
            async for raw in socket:
                kind = (message := self.read_message(raw))["type"]
                if kind == "Speak":
                    text += message["text"]
                elif kind == "Flush":
                    if len(flushes) == self.max_flushes and loop.time() - flushes[0] < 60:
                        warning = {"description": "Exceeded the limit of flushes.", "code": "FLUSH_LIMIT"}
                        await send_json(socket, {"type": "Warning", **warning})
                        continue
                    flushes.append(loop.time())
                    task = asyncio.create_task(self._speak_text(socket, text, sequence, query))
                    text, sequence = "", sequence + 1
                elif kind == "Clear":
                    text = ""
                    if task is not None:
                        task.cancel()
                    await send_json(socket, {"type": "Cleared", "sequence_id": sequence})
                elif kind == "Close":
                    return
        finally:
            if task is not None:
                task.cancel()

    async def _speak_text(self, socket: ServerConnection, text: str, sequence: int, query: Mapping[str, str]) -> None:
        kind = "mulaw" if query["encoding"] == "mulaw" else "pcm"
        async for piece in self.stream_pieces(socket, text, kind, int(query["sample_rate"])):
            await socket.send(piece)
        await send_json(socket, {"type": "Flushed", "sequence_id": sequence})
