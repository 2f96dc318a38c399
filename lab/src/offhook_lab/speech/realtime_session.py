"""Shared code of the emulated vendors that speak the events of OpenAI's Realtime API (GA)."""

import asyncio
import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

import numpy as np
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers

from offhook.kit.audio import MULAW_8K, Samples
from offhook_lab.speech.realtime_conversation import Entry, ModelAnswer, VendorConversation
from offhook_lab.speech.server import SpeechFault, send_json
from offhook_lab.speech.tones import LEXICON, ToneLexicon, read_tones
from offhook_lab.speech.voice_model_server import Answer, VoiceModelServer, run_until_closed

RATE: Final = 24000
CHUNK_S: Final = 0.1
MIN_COMMIT_MS: Final = 100


class RealtimeEventsServer(VoiceModelServer):
    """``sessions`` are the conversations in the order in which they began.

    Faults besides :class:`VoiceModelServer`'s: ``shorter_ms``: how much less audio the vendor counts than it has sent;
    ``next_status`` is how the next response ends (``failed:rate_limit_exceeded``, ``incomplete:content_filter``).
    """

    path = "/v1/realtime"

    def __init__(self, model: Answer | None = None, lexicon: ToneLexicon = LEXICON) -> None:
        super().__init__(model, lexicon)
        self.sessions: list[VoiceModelSession] = []
        self.shorter_ms = 0
        self.next_status = ""

    @property
    def base_url(self) -> str:
        return super().base_url + "/v1"

    def is_authorized(self, headers: Headers) -> bool:
        return headers.get("Authorization") == f"Bearer {self.api_key}"

    @property
    def newest_session(self) -> "VoiceModelSession":
        return self.sessions[-1]

    def start_orphan(self) -> None:
        self.newest_session.begin_response({})

    def filter_answer(self) -> None:
        self.next_status = "incomplete:content_filter"


class VoiceModelSession:
    """One connection. Responses are tasks; every client event is answered in order.

    Written for OpenAI; vendors that speak the same events override what they do otherwise.
    """

    added_kinds: ClassVar[Sequence[str]] = ("conversation.item.added", "conversation.item.done")
    spoken_content: ClassVar[str] = "output_audio"
    names_deleted: ClassVar[bool] = True

    def __init__(self, server: RealtimeEventsServer, socket: ServerConnection) -> None:
        self._server = server
        self._socket = socket
        self.conversation = VendorConversation()
        self.settings: dict[str, Any] = {}
        self.updates: list[dict[str, Any]] = []
        self.appended_bytes = 0
        self._format: Mapping[str, Any] = {"type": "audio/pcm", "rate": RATE}
        self._buffer = bytearray()
        self._active: tuple[str, asyncio.Task[None]] | None = None
        self._is_canceled = asyncio.Event()

    async def serve_events(self) -> None:
        await self._begin_session()
        limit = asyncio.get_running_loop().call_later(self._server.session_s, self._expire_session)
        handlers = {
            "session.update": self._update_session,
            "input_audio_buffer.append": self._append_audio,
            "input_audio_buffer.commit": self._commit_audio,
            "input_audio_buffer.clear": self._clear_audio,
            "conversation.item.create": self._create_item,
            "conversation.item.truncate": self._truncate_item,
            "conversation.item.delete": self._delete_item,
            "response.create": self._create_response,
            "response.cancel": self._cancel_response,
        }
        try:
            async for raw in self._socket:
                message = json.loads(raw)
                if message["type"] != "input_audio_buffer.append":
                    self._server.messages.append(message)
                handler = handlers.get(message["type"])
                if handler is None:
                    await self.send_error(f"Invalid value: '{message['type']}'.", message, code="invalid_value")
                else:
                    await handler(message)
        finally:
            limit.cancel()
            if self._active is not None:
                self._active[1].cancel()

    async def _begin_session(self) -> None:
        await self._send_event({"type": "session.created", "session": {"type": "realtime"}})

    async def _send_event(self, message: Mapping[str, Any]) -> None:
        named = {"event_id": self._server.next_id("event"), **message}
        self._server.sent.append(named)
        await send_json(self._socket, named)

    async def send_error(
        self, sentence: str, message: Mapping[str, Any] | None = None, *, code: str | None = None
    ) -> None:
        self._server.complaints.append(sentence)
        error = {
            "type": "invalid_request_error",
            "code": code,
            "message": sentence,
            "param": None,
            "event_id": (message or {}).get("event_id"),
        }
        await self._send_event({"type": "error", "error": error})

    def _expire_session(self) -> None:
        async def end() -> None:
            await self._announce_expiry()
            await self._socket.close(1001, "")

        self._ending = asyncio.create_task(end())

    async def _announce_expiry(self) -> None:
        await self.send_error("Your session hit the maximum duration of 60 minutes.", code="session_expired")

    # -- what the client sends ------------------------------------------------------------------------------------

    async def _update_session(self, message: Mapping[str, Any]) -> None:
        session = message["session"]
        audio = session.get("audio", {})
        for side in ("input", "output"):
            form = audio.get(side, {}).get("format")
            if form not in (None, {"type": "audio/pcmu"}, {"type": "audio/pcm", "rate": RATE}):
                await self.send_error("Invalid audio format.", message, code="invalid_value")
                return
            self._format = form or self._format
        if session.get("type") != "realtime":
            await self.send_error(
                "Missing required parameter: 'session.type'.", message, code="missing_required_parameter"
            )
            return
        if any(not tool.get("name") for tool in session.get("tools", ())):
            await self.send_error("Invalid tool.", message, code="invalid_value")
            return
        await self._accept_settings(session)

    async def _accept_settings(self, session: Mapping[str, Any]) -> None:
        self.updates.append(dict(session))
        self.settings = {**self.settings, **session}
        if "instructions" in session:
            self.conversation.begin_step(session["instructions"], [tool["name"] for tool in session["tools"]])
        await self._send_event({"type": "session.updated", "session": self.settings})

    async def _append_audio(self, message: Mapping[str, Any]) -> None:
        audio = base64.b64decode(message["audio"])
        self.appended_bytes += len(audio)
        self._buffer += audio

    async def _clear_audio(self, message: Mapping[str, Any]) -> None:
        self._buffer.clear()
        await self._send_event({"type": "input_audio_buffer.cleared"})

    async def _commit_audio(self, message: Mapping[str, Any]) -> None:
        samples, rate = self._decode_audio(bytes(self._buffer))
        audio_ms = round(samples.size / rate * 1000)
        if audio_ms < MIN_COMMIT_MS:
            sentence = (
                "Error committing input audio buffer: buffer too small. Expected at least 100ms of audio, "
                f"but buffer only has {audio_ms:.2f}ms of audio."
            )
            await self.send_error(sentence, message, code="input_audio_buffer_commit_empty")
            return
        self._buffer.clear()
        heard = " ".join(read_tones(samples, rate, self._server.lexicon))
        entry = Entry(self._server.next_id("item"), "message", "user", heard, audio_ms=audio_ms)
        self.conversation.entries.append(entry)
        await self._send_event({"type": "input_audio_buffer.committed", "item_id": entry.id})

    async def _create_item(self, message: Mapping[str, Any]) -> None:
        problem = self.conversation.add_entry(message["item"], message.get("previous_item_id"))
        if problem:
            await self.send_error(problem, message, code="invalid_value")
            return
        for kind in self.added_kinds:
            await self._send_event({"type": kind, "item": message["item"]})

    async def _truncate_item(self, message: Mapping[str, Any]) -> None:
        end_ms = message["audio_end_ms"]
        problem = self.conversation.truncate_entry(message["item_id"], end_ms, shorter_ms=self._server.shorter_ms)
        if problem:
            await self.send_error(problem, message, code="invalid_value")
        else:
            cut = {"item_id": message["item_id"], "content_index": 0, "audio_end_ms": end_ms}
            await self._send_event(
                {"type": "conversation.item.truncated", **cut, **self._keep_heard(message["item_id"])}
            )

    def _keep_heard(self, item_id: str) -> dict[str, Any]:
        """Keeps what was heard of an entry that was cut; returns what the vendor says of it."""
        return {}

    async def _delete_item(self, message: Mapping[str, Any]) -> None:
        problem = self.conversation.delete_entry(message["item_id"])
        if problem:
            await self.send_error(problem, message, code="item_delete_invalid_item_id")
        else:
            item_id = message["item_id"] if self.names_deleted else ""
            await self._send_event({"type": "conversation.item.deleted", "item_id": item_id})

    async def _cancel_response(self, message: Mapping[str, Any]) -> None:
        wanted = message.get("response_id")
        if self._active is None or wanted not in (None, self._active[0]):
            await self.send_error(
                "Cancellation failed: no active response found", message, code="response_cancel_not_active"
            )
            return
        asyncio.get_running_loop().call_later(self._server.cancel_s, self._is_canceled.set)

    async def _create_response(self, message: Mapping[str, Any]) -> None:
        if self._active is not None:
            sentence = (
                f"VendorConversation already has an active response in progress: {self._active[0]}. "
                "Wait until the response is finished before creating a new one."
            )
            await self.send_error(sentence, message, code="conversation_already_has_active_response")
            return
        self.begin_response((message.get("response") or {}).get("metadata") or {})

    # -- what the model does --------------------------------------------------------------------------------------

    def begin_response(self, metadata: Mapping[str, str]) -> None:
        self._is_canceled = asyncio.Event()
        response_id = self._server.next_id("resp")
        self._active = (response_id, asyncio.create_task(run_until_closed(self._run_response(response_id, metadata))))

    async def _run_response(self, response_id: str, metadata: Mapping[str, str]) -> None:
        server = self._server
        server.responses += 1
        base = {"id": response_id, "object": "realtime.response", "metadata": self._named_metadata(metadata)}
        await self._send_event({"type": "response.created", "response": {**base, "status": "in_progress"}})
        answer, fault = server.model(self.conversation), server.take_stream_fault()
        status, server.next_status = server.next_status, ""
        usage = self.conversation.count_usage(ModelAnswer(), 0.0)
        await self._wait_canceled(server.first_audio_s)
        spoken_s = 0.0
        if answer.text and not status.startswith("failed") and not self._is_canceled.is_set():
            spoken_s = await self._send_speech(response_id, answer.text, fault)
        elif fault is not None:
            await self.break_on(fault)
        for name, arguments in answer.calls if not status else ():
            await self._send_call(response_id, name, arguments)
        done = usage if not spoken_s and not answer.calls else None
        await self._finish_response(base, status, done or total_usage(usage, answer, spoken_s))

    def _named_metadata(self, metadata: Mapping[str, str]) -> dict[str, str] | None:
        return dict(metadata) or None

    async def break_on(self, fault: SpeechFault) -> None:
        await self._server.break_down(self._socket, fault)

    async def _wait_canceled(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._is_canceled.wait()
        except TimeoutError:
            pass

    async def _send_speech(self, response_id: str, text: str, fault: SpeechFault | None) -> float:
        """Sends the answer faster than it can be heard; returns the seconds that were sent."""
        mulaw, rate = self._is_mulaw, self._rate
        step, words = int(CHUNK_S * rate), text.split(" ")
        samples = await self._server.speak(text, rate)
        entry = self._server.spoken_entry(text)
        self.conversation.entries.append(entry)
        where = {"response_id": response_id, "item_id": entry.id, "output_index": 0, "content_index": 0}
        pieces = [samples[at : at + step] for at in range(0, samples.size, step)]
        for index, piece in enumerate(pieces):
            if fault is not None and index >= fault.after:
                await self.break_on(fault)
            if self._is_canceled.is_set():
                break
            for word in words[index * 2 : index * 2 + 2] if index + 1 < len(pieces) else words[index * 2 :]:
                delta = {"delta": word if word == words[0] and index == 0 else f" {word}"}
                await self._send_event({"type": "response.output_audio_transcript.delta", **where, **delta})
            payload = MULAW_8K.encode(piece) if mulaw else piece.astype("<i2").tobytes()
            entry.audio_ms += round(piece.size / rate * 1000)
            delta = {"delta": base64.b64encode(payload).decode()}
            await self._send_event({"type": "response.output_audio.delta", **where, **delta})
            await self._wait_canceled(self._server.chunk_pause_s)
        is_whole = not self._is_canceled.is_set()
        item = {
            "id": entry.id,
            "type": "message",
            "role": "assistant",
            "status": "completed" if is_whole else "incomplete",
            "content": [{"type": self.spoken_content, "transcript": text}],
        }
        await self._send_event(
            {"type": "response.output_item.done", "response_id": response_id, "output_index": 0, "item": item}
        )
        return entry.audio_ms / 1000

    async def _send_call(self, response_id: str, name: str, arguments: Mapping[str, Any]) -> None:
        server = self._server
        text = json.dumps(dict(arguments))
        if server.broken_arguments:
            text, server.broken_arguments = text[:-1] + ',"', False
        is_whole = not self._is_canceled.is_set()
        item = call_item(server.next_id("item"), server.next_id("call"), name, text, is_whole=is_whole)
        self.conversation.entries.append(
            Entry(item["id"], "function_call", "", text, is_ours=True, call_id=item["call_id"])
        )
        where = {"response_id": response_id, "output_index": 1}
        names = {key: item[key] for key in ("call_id", "name", "arguments")} | {"item_id": item["id"]}
        await self._send_event({"type": "response.function_call_arguments.done", **where, **names})
        await self._end_call(where, item)

    async def _end_call(self, where: Mapping[str, Any], item: Mapping[str, Any]) -> None:
        await self._send_event({"type": "response.output_item.done", **where, "item": item})

    async def _finish_response(self, base: Mapping[str, Any], status: str, usage: dict[str, Any]) -> None:
        kind, _, reason = status.partition(":")
        if kind not in ("failed", "incomplete") and self._is_canceled.is_set():
            kind, reason = "cancelled", "client_cancelled"
        self._active = None
        response = {**base, "status": kind or "completed", "status_details": details_of(kind, reason)}
        response["usage"] = usage if self._server.reports_usage else None
        await self._end_response(response)
        self._server.usage.append(usage)

    async def _end_response(self, response: Mapping[str, Any]) -> None:
        await self._send_event({"type": "response.done", "response": response})

    def _decode_audio(self, audio: bytes) -> tuple[Samples, int]:
        return MULAW_8K.decode(audio) if self._is_mulaw else np.frombuffer(audio, "<i2"), self._rate

    @property
    def _is_mulaw(self) -> bool:
        return bool(self._format["type"] == "audio/pcmu")

    @property
    def _rate(self) -> int:
        return 8000 if self._is_mulaw else int(self._format["rate"])


def total_usage(usage: dict[str, Any], answer: ModelAnswer, audio_s: float) -> dict[str, Any]:
    """Returns the usage of a response with what it has produced."""
    produced = VendorConversation().count_usage(answer, audio_s)
    return {
        **usage,
        "output_tokens": produced["output_tokens"],
        "output_token_details": produced["output_token_details"],
        "total_tokens": usage["input_tokens"] + produced["output_tokens"],
    }


def details_of(kind: str, reason: str) -> dict[str, Any] | None:
    """Returns why a response ended as it did; nothing for one that is complete."""
    if kind == "failed":
        return {"type": "failed", "error": {"type": "invalid_request_error", "code": reason, "message": reason}}
    return {"type": kind, "reason": reason} if kind in ("incomplete", "cancelled") else None


def call_item(item_id: str, call_id: str, name: str, arguments: str, *, is_whole: bool) -> dict[str, Any]:
    """Returns the entry of a call; the arguments of one that was cut off are not complete."""
    return {
        "id": item_id,
        "type": "function_call",
        "call_id": call_id,
        "name": name,
        "arguments": arguments if is_whole else arguments[:1],
        "status": "completed" if is_whole else "incomplete",
    }
