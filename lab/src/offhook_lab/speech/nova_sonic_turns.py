"""The turns of the emulated Nova Sonic's model: blocks of words, of sound and of calls."""

import asyncio
import base64
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, Protocol

from offhook_lab.speech.nova_sonic_signing import make_message
from offhook_lab.speech.realtime_conversation import Entry, ModelAnswer, VendorConversation
from offhook_lab.speech.server import NESTED, SpeechFault

if TYPE_CHECKING:
    from offhook_lab.speech.nova_sonic import NovaSonicServer

CHUNK_S: Final = 0.1
OUT_RATE: Final = 24000


class Link(Protocol):
    """The stream of one session."""

    def send(self, message: bytes, *, is_last: bool = False) -> None: ...

    def reset(self) -> None: ...

    def abort(self) -> None: ...


class NovaModelTurns:
    """What the model does in one session. Turns are tasks; the next one waits for the one before."""

    def __init__(self, server: "NovaSonicServer", link: Link) -> None:
        self._server = server
        self._link = link
        self.conversation = VendorConversation()
        self._prompt = ""
        self._is_over = False
        self._is_ending = False
        self._turn: asyncio.Task[None] | None = None
        self._is_interrupted = asyncio.Event()
        self._pending: dict[str, str] = {}
        self._totals: dict[str, int] = {}

    def end(self) -> None:
        self._is_over = True
        if self._turn is not None:
            self._turn.cancel()

    def refuse(self, kind: str, sentence: str) -> None:
        """Ends the stream with an exception, which is how this vendor complains."""
        if self._is_over:
            return
        if kind == "validationException":
            self._server.complaints.append(sentence)
        body = json.dumps({"message": sentence}).encode()
        self._link.send(make_message("exception", kind, body), is_last=True)
        self.end()

    def _send(self, name: str, **value: Any) -> None:
        event = {name: {"sessionId": str(id(self)), "promptName": self._prompt, **value}}
        self._server.sent.append(event)
        self._send_text(json.dumps({"event": event}))

    def _send_text(self, text: str) -> None:
        if not self._is_over:
            chunk = {"bytes": base64.b64encode(text.encode()).decode()}
            self._link.send(make_message("event", "chunk", json.dumps(chunk).encode()))

    def _finish(self) -> None:
        if not self._is_over:
            self._link.send(b"", is_last=True)
            self.end()

    def _add_entry(self, role: str, text: str, *, kind: str = "message", call_id: str = "", audio_ms: int = 0) -> Entry:
        entry = Entry(self._server.next_id("entry"), kind, role, text, audio_ms=audio_ms, call_id=call_id, spoken=text)
        self.conversation.entries.append(entry)
        return entry

    def _interrupt(self) -> None:
        if self._turn is not None and not self._turn.done():
            asyncio.get_running_loop().call_later(self._server.cancel_s, self._is_interrupted.set)

    def begin_turn(self) -> None:
        self._turn = asyncio.create_task(self._run_turn(self._turn))

    async def _run_turn(self, before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await asyncio.wait([before])
        server, self._is_interrupted = self._server, asyncio.Event()
        server.responses += 1
        answer, fault = server.model(self.conversation), server.take_stream_fault()
        used = self.conversation.count_usage(ModelAnswer(), 0.0)["input_token_details"]
        self._send("completionStart", completionId=server.next_id("completion"))
        self._send_heard()
        await self._wait_interrupted(server.first_audio_s)
        self._send_strange_events()
        if server.next_exception is not None:
            (kind, sentence), server.next_exception = server.next_exception, None
            self.refuse(kind, sentence)
            return
        if server.answers_nothing or (fault is not None and not answer.text and await self._break(fault)):
            answer, server.answers_nothing = ModelAnswer(), False
        spoken_s = 0.0
        if answer.text and not self._is_interrupted.is_set():
            spoken_s = await self._send_speech(answer, fault)
        is_cut = self._is_interrupted.is_set()
        if answer.calls and not is_cut:
            self._send_calls(answer)
        self._report(used, "" if is_cut and not spoken_s else answer.text, spoken_s, answer)
        if is_cut or not (answer.text or answer.calls):
            self._send("completionEnd", stopReason="INTERRUPTED" if is_cut else "END_TURN")
        if self._is_ending:
            self._finish()

    def _send_heard(self) -> None:
        """Sends what the caller has said, if that came as audio."""
        last = self.conversation.entries[-1] if self.conversation.entries else None
        if last is not None and last.role == "user" and last.audio_ms:
            self._send_block("TEXT", "USER", "FINAL", last.text or "", "PARTIAL_TURN")

    def _send_block(self, kind: str, role: str, stage: str, text: str, reason: str) -> None:
        content = self._begin_block(kind, role, stage)
        self._send("textOutput", contentId=content, role=role, content=text)
        self._send("contentEnd", contentId=content, type=kind, stopReason=reason)

    def _begin_block(self, kind: str, role: str, stage: str = "") -> str:
        content = self._server.next_id("content")
        fields = {"additionalModelFields": json.dumps({"generationStage": stage})} if stage else {}
        self._send("contentStart", contentId=content, type=kind, role=role, **fields)
        return content

    def _send_strange_events(self) -> None:
        events, self._server.next_events = self._server.next_events, []
        for event in events:
            if isinstance(event, bytes):
                self._link.send(event)
            else:
                self._send(event[0], **event[1])

    async def _wait_interrupted(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._is_interrupted.wait()
        except TimeoutError:
            pass

    async def _break(self, fault: SpeechFault) -> bool:
        """Carries out the fault. Never returns normally."""
        if fault.kind == "cut":
            self._link.abort()
        elif fault.kind == "close":
            self.refuse("internalServerException", "The system encountered an unexpected error during processing.")
        elif fault.kind == "garbage":
            self._send_text('{"event": {"textOu')
        elif fault.kind == "nested":
            self._send_text('{"event": ' + NESTED)
        elif fault.kind == "binary_garbage":
            self._link.send(b"\x00\x00\x00\x10\xff\xff\xff\xffgarbage!")
        await asyncio.Event().wait()
        return True

    async def _send_speech(self, answer: ModelAnswer, fault: SpeechFault | None) -> float:
        """Sends the answer faster than it can be heard; returns the seconds that were sent."""
        server, text = self._server, answer.text
        if not server.has_late_words:
            self._send_block("TEXT", "ASSISTANT", "SPECULATIVE", text, "PARTIAL_TURN")
        content = self._begin_block("AUDIO", "ASSISTANT")
        samples, step = await server.speak(text, OUT_RATE), int(CHUNK_S * OUT_RATE)
        # what was sent stays in the conversation, whether it is heard or not
        entry = self._add_entry("assistant", text)
        pieces = [samples[at : at + step] for at in range(0, samples.size, step)]
        breaks_at = len(pieces) // 2 if server.interrupts_itself else -1
        server.interrupts_itself = False
        for index, piece in enumerate(pieces):
            if fault is not None and index >= fault.after:
                await self._break(fault)
            if index == breaks_at:
                self._is_interrupted.set()
            if self._is_interrupted.is_set():
                break
            entry.audio_ms += round(piece.size / OUT_RATE * 1000)
            data = base64.b64encode(piece.astype("<i2").tobytes()).decode()
            data, server.next_audio = server.next_audio or data, None
            self._send("audioOutput", contentId=content, role="ASSISTANT", content=data)
            await self._wait_interrupted(server.chunk_pause_s)
        self._end_speech_block(content, answer)
        return entry.audio_ms / 1000

    def _end_speech_block(self, content: str, answer: ModelAnswer) -> None:
        server, is_cut = self._server, self._is_interrupted.is_set()
        reason = "INTERRUPTED" if is_cut else "PARTIAL_TURN" if answer.calls else "END_TURN"
        if server.is_filtered:
            reason, server.is_filtered = "CONTENT_FILTERED", False
        self._send("contentEnd", contentId=content, type="AUDIO", stopReason=reason)
        final = '{ "interrupted" : true }' if is_cut else answer.text
        self._send_block("TEXT", "ASSISTANT", "FINAL", final, "INTERRUPTED" if is_cut else "END_TURN")

    def _send_calls(self, answer: ModelAnswer) -> None:
        server = self._server
        for name, arguments in answer.calls:
            text = json.dumps(dict(arguments))
            if server.broken_arguments:
                text, server.broken_arguments = text[:-1], False
            call_id = server.next_id("call")
            self._pending[call_id] = name
            self._add_entry("", json.dumps(dict(arguments)), kind="function_call", call_id=call_id)
            for _ in range(2 if server.repeats_calls else 1):
                content = self._begin_block("TOOL", "TOOL")
                self._send("toolUse", contentId=content, toolName=name, toolUseId=call_id, content=text)
                self._send("contentEnd", contentId=content, type="TOOL", stopReason="TOOL_USE")

    def _report(self, used: Mapping[str, int], text: str, spoken_s: float, answer: ModelAnswer) -> None:
        made = VendorConversation().count_usage(ModelAnswer(text, answer.calls), spoken_s)["output_token_details"]
        usage = {
            "text_input_tokens": used["text_tokens"],
            "audio_input_tokens": used["audio_tokens"],
            "text_output_tokens": made["text_tokens"],
            "audio_output_tokens": made["audio_tokens"],
        }
        self._server.usage.append(usage)
        for name, tokens in usage.items():
            self._totals[name] = self._totals.get(name, 0) + tokens
        if self._server.reports_usage:
            self._send("usageEvent", details={"delta": _split(usage), "total": _split(self._totals)})


def _split(tokens: Mapping[str, int]) -> dict[str, dict[str, int]]:
    return {
        side: {"speechTokens": tokens[f"audio_{side}_tokens"], "textTokens": tokens[f"text_{side}_tokens"]}
        for side in ("input", "output")
    }
