"""Google's Gemini Live API (BidiGenerateContent) over a WebSocket: a model that hears tones, and speaks them.

Written from the types of the vendor's SDK (``google/genai/types.py``) and its session guide, with the faults that its
users report. Where they are silent, a comment with ``??`` says which reading was chosen: the stricter one.
"""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import Any, Final, NoReturn

import numpy as np
from websockets.asyncio.server import ServerConnection
from websockets.datastructures import Headers

from offhook_lab.speech.gemini_conversation import (
    IN_RATE,
    OUT_RATE,
    check_setup,
    count_usage,
    read_functions,
    read_turns,
)
from offhook_lab.speech.realtime_conversation import Entry, ModelAnswer, VendorConversation
from offhook_lab.speech.server import ConnectionBroken, SpeechFault
from offhook_lab.speech.tones import LEXICON, ToneLexicon, read_tones
from offhook_lab.speech.voice_model_server import Answer, VoiceModelServer, add_tokens

CHUNK_S: Final = 0.1
# The vendor announces the end of a connection about a minute before.
NOTICE_S: Final = 60.0
INVALID: Final = "Request contains an invalid argument."
NO_QUOTA: Final = "You exceeded your current quota, please check your plan and billing details."


class GeminiLiveServer(VoiceModelServer):
    """``sessions`` are the connections in the order in which they began.

    Faults besides :class:`VoiceModelServer`'s: ``next_reason`` is why the next turn ends without an answer
    (``NEED_MORE_INPUT``, ``PROHIBITED_INPUT_CONTENT``); ``last_reason`` is given with every answer;
    ``completes_after_s``: between the last audio and the end of the turn; ``has_late_words``: the transcript comes after
    the last audio; ``uncovered_tokens`` of a prompt are in no modality; ``interrupts_itself``: the next answer ends as if
    the caller had spoken.
    """

    path = "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent"

    def __init__(self, model: Answer | None = None, lexicon: ToneLexicon = LEXICON) -> None:
        super().__init__(model, lexicon)
        self.sessions: list[GeminiLiveSession] = []
        self.session_s = 600.0
        self.next_reason = ""
        self.last_reason = ""
        self.next_close = ""
        self.completes_after_s = 0.0
        self.has_late_words = False
        self.interrupts_itself = False
        self.uncovered_tokens = 0

    def is_authorized(self, headers: Headers) -> bool:
        # the vendor accepts the handshake, and closes the connection
        return True

    async def serve_connection(self, socket: ServerConnection, query: Mapping[str, str]) -> None:
        assert socket.request is not None
        session = GeminiLiveSession(self, socket)
        if socket.request.headers.get("x-goog-api-key") != self.api_key:
            await session.refuse(1007, "API key not valid. Please pass a valid API key.")
        if self.trouble == "no_quota":
            await session.refuse(1011, NO_QUOTA)
        if self.trouble is not None:
            await session.refuse(1011, "The service is currently unavailable.")
        self.sessions.append(session)
        await session.serve_messages()

    @property
    def newest_session(self) -> "GeminiLiveSession":
        return self.sessions[-1]

    def start_orphan(self) -> None:
        self.newest_session.begin_turn()

    def empty_account(self) -> None:
        self.next_close = NO_QUOTA

    def filter_answer(self) -> None:
        self.next_reason = "PROHIBITED_INPUT_CONTENT"

    def delay_pongs(self, seconds: float) -> None:
        """Answers nothing for a time, pings included, and then goes on."""
        for socket in list(self._sockets):
            socket.transport.pause_reading()
            asyncio.get_running_loop().call_later(seconds, socket.transport.resume_reading)

    def counted_usage(self) -> dict[str, float]:
        total: dict[str, float] = {}
        for usage in self.usage:
            for side, name in (("prompt", "input"), ("response", "output")):
                for part in usage[f"{side}TokensDetails"]:
                    add_tokens(total, f"{part['modality'].lower()}_{name}_tokens", part["tokenCount"])
            add_tokens(total, "audio_input_tokens", self.uncovered_tokens)
            add_tokens(total, "text_output_tokens", usage["thoughtsTokenCount"])
        return total


class GeminiLiveSession:
    """One connection. Turns of the model are tasks; every client message is handled in order."""

    def __init__(self, server: GeminiLiveServer, socket: ServerConnection) -> None:
        self._server = server
        self._socket = socket
        self.conversation = VendorConversation()
        self.setup: dict[str, Any] = {}
        self.heard_bytes = 0
        self._activity: bytearray | None = None
        self._turn: asyncio.Task[None] | None = None
        self._is_interrupted = asyncio.Event()
        # calls that wait for their results
        self._pending: dict[str, str] = {}
        self._timers: list[asyncio.TimerHandle] = []

    async def serve_messages(self) -> None:
        message = self._server.read_message(await self._socket.recv())
        self.setup = message.get("setup") or {}
        problem = check_setup(self.setup)
        if problem:
            await self.refuse(*problem)
        await self._send({"setupComplete": {"sessionId": self._server.next_id("session")}})
        self._announce_end()
        handlers = {
            "realtimeInput": self._on_realtime_input,
            "clientContent": self._on_client_content,
            "toolResponse": self._on_tool_response,
            "contextUpdate": self._on_context_update,
        }
        try:
            async for raw in self._socket:
                (kind, value), *others = json.loads(raw).items()
                if kind not in handlers or others:
                    await self.refuse(1007, f'Invalid JSON payload received. Unknown name "{kind}".')
                if "audio" not in value:
                    self._server.messages.append({kind: value})
                await handlers[kind](value)
        finally:
            for timer in self._timers:
                timer.cancel()
            if self._turn is not None:
                self._turn.cancel()

    async def refuse(self, code: int, reason: str) -> NoReturn:
        """Closes the connection, which is how this vendor complains."""
        self._server.complaints.append(reason)
        await self._socket.close(code, reason)
        raise ConnectionBroken

    async def _send(self, message: Mapping[str, Any]) -> None:
        self._server.sent.append(dict(message))
        # the vendor sends JSON in binary frames
        await self._socket.send(json.dumps(message).encode())

    def _announce_end(self) -> None:
        self.go_away(max(self._server.session_s - NOTICE_S, self._server.session_s / 2), self._server.session_s)

    def go_away(self, notice_in_s: float, end_in_s: float) -> None:
        """Announces the end of the connection, and ends it."""

        def run(message: Mapping[str, Any] | None) -> None:
            async def act() -> None:
                if message is not None:
                    await self._send(message)
                else:
                    await self._socket.close(1011, "Deadline expired before operation could complete.")

            self._ending = asyncio.create_task(act())

        loop = asyncio.get_running_loop()
        notice = {"goAway": {"timeLeft": f"{end_in_s - notice_in_s:g}s"}}
        self._timers.append(loop.call_later(notice_in_s, run, notice))
        self._timers.append(loop.call_later(end_in_s, run, None))

    # -- what the client sends ------------------------------------------------------------------------------------

    async def _on_context_update(self, value: Mapping[str, Any]) -> None:
        instructions = "\n\n".join(part["text"] for part in value["systemInstruction"]["parts"])
        self.conversation.begin_step(instructions, read_functions(value["tools"]["tools"]))

    async def _on_realtime_input(self, value: Mapping[str, Any]) -> None:
        if "activityStart" in value:
            if self._activity is not None:
                await self.refuse(1007, "Activity has already started.")
            self._activity = bytearray()
            await self._interrupt()
        elif "audio" in value:
            if self._activity is None or value["audio"]["mimeType"] != f"audio/pcm;rate={IN_RATE}":
                await self.refuse(1007, INVALID)
            audio = base64.b64decode(value["audio"]["data"])
            self.heard_bytes += len(audio)
            self._activity += audio
        elif "activityEnd" in value:
            if self._activity is None:
                await self.refuse(1007, "Activity has not started.")
            samples = np.frombuffer(bytes(self._activity), "<i2")
            self._activity = None
            heard = " ".join(read_tones(samples, IN_RATE, self._server.lexicon))
            audio_ms = round(samples.size / IN_RATE * 1000)
            self._add_entry("user", heard, audio_ms=audio_ms)
            self.begin_turn()
        else:
            await self.refuse(1007, INVALID)

    async def _on_client_content(self, value: Mapping[str, Any]) -> None:
        turns = read_turns(value.get("turns") or [])
        if turns is None:
            await self.refuse(1007, INVALID)
        await self._interrupt()
        for role, text in turns:
            self._add_entry(role, text)
        if value.get("turnComplete"):
            # ?? the model does not answer itself
            if not turns or turns[-1][0] != "user":
                await self.refuse(1007, INVALID)
            self.begin_turn()

    async def _on_tool_response(self, value: Mapping[str, Any]) -> None:
        for response in value["functionResponses"]:
            if self._pending.pop(response.get("id"), None) != response.get("name"):
                # ?? a result that nobody asked for
                await self.refuse(1008, "Operation is not implemented, or supported, or enabled.")
            text = response["response"]["output"]
            self._add_entry("", text, kind="function_call_output", call_id=response["id"])
        if not self._pending:
            self.begin_turn()

    def _add_entry(self, role: str, text: str, *, kind: str = "message", call_id: str = "", audio_ms: int = 0) -> Entry:
        entry = Entry(self._server.next_id("entry"), kind, role, text, audio_ms=audio_ms, call_id=call_id, spoken=text)
        self.conversation.entries.append(entry)
        return entry

    async def _interrupt(self) -> None:
        """New input stops what is generated, and cancels the calls that wait for results."""
        if self._turn is not None and not self._turn.done():
            self._timers.append(asyncio.get_running_loop().call_later(self._server.cancel_s, self._is_interrupted.set))
        await self.cancel_calls()

    async def cancel_calls(self) -> None:
        if self._pending:
            await self._send({"toolCallCancellation": {"ids": list(self._pending)}})
            self._pending.clear()

    # -- what the model does --------------------------------------------------------------------------------------

    def begin_turn(self) -> None:
        self._turn = asyncio.create_task(self._run_turn(self._turn))

    async def _run_turn(self, before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await asyncio.wait([before])
        server, self._is_interrupted = self._server, asyncio.Event()
        server.responses += 1
        answer, fault = server.model(self.conversation), server.take_stream_fault()
        used = self.conversation.count_usage(ModelAnswer(), 0.0)
        reason, server.next_reason = server.next_reason, ""
        close, server.next_close = server.next_close, ""
        await self._wait_interrupted(server.first_audio_s)
        if close:
            await self._socket.close(1011, close)
            return
        spoken_s = 0.0
        if reason or self._is_interrupted.is_set():
            answer = ModelAnswer()
        elif answer.text:
            await self._send({"serverContent": {"modelTurn": {"parts": [{"text": "Well …", "thought": True}]}}})
            spoken_s = await self._send_speech(answer.text, fault)
        elif fault is not None:
            await server.break_down(self._socket, fault)
        is_cut = self._is_interrupted.is_set()
        usage = count_usage(used, answer, spoken_s, server.uncovered_tokens)
        if answer.calls and not is_cut:
            await self._send_calls(answer, usage)
        else:
            await self._finish_turn(reason, usage, is_spoken=bool(spoken_s), is_cut=is_cut)

    async def _wait_interrupted(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._is_interrupted.wait()
        except TimeoutError:
            pass

    async def _send_speech(self, text: str, fault: SpeechFault | None) -> float:
        """Sends the answer faster than it can be heard; returns the seconds that were sent."""
        server, words = self._server, text.split(" ")
        samples, step = await server.speak(text, OUT_RATE), int(CHUNK_S * OUT_RATE)
        # what was sent stays in the conversation, whether it is heard or not
        entry = self._add_entry("assistant", "")
        pieces = [samples[at : at + step] for at in range(0, samples.size, step)]
        breaks_at = len(pieces) // 2 if server.interrupts_itself else -1
        server.interrupts_itself = False
        for index, piece in enumerate(pieces):
            if fault is not None and index >= fault.after:
                await server.break_down(self._socket, fault)
            if index == breaks_at:
                self._is_interrupted.set()
            if self._is_interrupted.is_set():
                break
            said = words[index * 2 : index * 2 + 2] if index + 1 < len(pieces) else words[index * 2 :]
            entry.audio_ms += round(piece.size / OUT_RATE * 1000)
            data = base64.b64encode(piece.astype("<i2").tobytes()).decode()
            blob = {"inlineData": {"mimeType": f"audio/pcm;rate={OUT_RATE}", "data": data}}
            content: dict[str, Any] = {"modelTurn": {"parts": [blob]}}
            if said:
                delta = " ".join(said) if not entry.text else " " + " ".join(said)
                entry.text = entry.spoken = f"{entry.text}{delta}"
                if not server.has_late_words:
                    content["outputTranscription"] = {"text": delta}
            await self._send({"serverContent": content})
            await self._wait_interrupted(server.chunk_pause_s)
        return entry.audio_ms / 1000

    async def _send_calls(self, answer: ModelAnswer, usage: dict[str, Any]) -> None:
        server, calls = self._server, []
        for name, arguments in answer.calls:
            args: Any = dict(arguments)
            if server.broken_arguments:
                args, server.broken_arguments = json.dumps(args), False
            call_id = server.next_id("call")
            self._pending[call_id] = name
            self._add_entry("", json.dumps(dict(arguments)), kind="function_call", call_id=call_id)
            calls.append({"id": call_id, "name": name, "args": args})
        await self._send({"toolCall": {"functionCalls": calls}, **self._report(usage)})

    async def _finish_turn(self, reason: str, usage: dict[str, Any], *, is_spoken: bool, is_cut: bool) -> None:
        if is_cut:
            await self._send({"serverContent": {"interrupted": True}})
        elif is_spoken:
            await self._send({"serverContent": {"generationComplete": True}})
            if self._server.has_late_words:
                words = self.conversation.entries[-1].text
                await self._send({"serverContent": {"outputTranscription": {"text": words, "finished": True}}})
            # the vendor waits until it believes that its words were heard
            await self._wait_interrupted(self._server.completes_after_s)
            if self._is_interrupted.is_set():
                await self._send({"serverContent": {"interrupted": True}})
        reason = reason or self._server.last_reason
        done: dict[str, Any] = {"turnComplete": True} | ({"turnCompleteReason": reason} if reason else {})
        await self._send({"serverContent": done, **self._report(usage)})

    def _report(self, usage: dict[str, Any]) -> dict[str, Any]:
        self._server.usage.append(usage)
        return {"usageMetadata": usage} if self._server.reports_usage else {}
