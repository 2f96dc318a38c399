"""The voice engine without audio: a text chat with an agent."""

import asyncio
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any, cast

from offhook.kit.json_values import JsonObject, ReadableJsonObject
from offhook.models.ports import CallModels
from offhook.voice import events
from offhook.voice.call_context import CallAgent
from offhook.voice.dialog.call_language import LanguageWords
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.llm_chain import LlmChain
from offhook.voice.dialog.spoken_clock import prepare_clock
from offhook.voice.dialog.steps import AgentSpeech, ConversationEnded, ConversationState
from offhook.voice.errors import AllModelsFailed, EmptyTurn
from offhook.voice.events import VoiceEvent
from offhook.voice.ports import CallResult, RunSink
from offhook.voice.usage_counter import UsageCounter
from offhook.workflows.graph import Edge


class TextSession:
    """One chat. ``state`` is a result of :meth:`snapshot`, to continue in another process or after a restart.

    ``elapsed_s`` is the chat's age, so that its events continue on the same clock.
    """

    def __init__(
        self,
        *,
        agent: CallAgent,
        models: CallModels,
        sink: RunSink,
        state: Mapping[str, Any] | None = None,
        elapsed_s: float = 0.0,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._t0 = self._loop.time() - elapsed_s
        self._sink = sink
        agent.context["call_language"] = models.language
        self.phrases = agent.config.phrases_in(models.language)
        self._usage = UsageCounter(state.get("usage") if state is not None else None)
        self._conversation = Conversation(
            agent=agent,
            llm=LlmChain(models.llm, emit=self._emit_event, usage=self._usage, stall_s=agent.config.give_up_after_s),
            emit=self._emit_event,
            is_spoken=False,
        )
        self._conversation.language = LanguageWords(models.language)
        prepare_clock(models.language)
        self.result: CallResult | None = None
        if state is not None:
            self._conversation.restore(cast(ConversationState, state))

    @property
    def is_over(self) -> bool:
        return self._conversation.is_over

    @property
    def node_id(self) -> str:
        return self._conversation.node.id

    def snapshot(self) -> JsonObject:
        """Returns plain JSON from which another session can start."""
        return cast(JsonObject, {**self._conversation.snapshot(), "usage": self._usage.as_dict()})

    async def start(self, node_id: str | None = None) -> list[str]:
        """Starts the chat, at another node than the first if one is named, and returns the agent's first messages."""
        self._emit_event(events.CALL_STARTED, {"channel": "text"})
        self._conversation.enter_start_node(node_id)
        return await self._run_turn(None)

    async def say(self, text: str) -> list[str]:
        """Returns the agent's answer, one string per node that spoke."""
        at = self._since_start()
        self._emit_event(events.CALLER_SAID, {"text": text, "start_s": at, "end_s": at})
        return await self._run_turn(text)

    async def press(self, digits: str) -> list[str]:
        """Returns the agent's answer to keys, as on a telephone: they take their edge, or are an entry to read."""
        self._emit_event(events.DIGITS_PRESSED, {"digits": digits})
        edge = next((edge for edge in self._conversation.outgoing_edges() if edge.digits == digits), None)
        heard = None if edge is not None else f"(entered on the keypad) {digits.removesuffix('#')}"
        return await self._run_turn(heard, edge)

    def say_canned(self, text: str) -> str:
        """Says a fixed sentence that no model chose, and returns it."""
        self._conversation.history.add_canned_text(text)
        self._report_speech(text)
        return text

    def report_idle(self, prompts: int, idle_s: float) -> None:
        self._emit_event(events.CALLER_IDLE, {"prompts": prompts, "idle_s": round(idle_s, 1)})

    async def end(self, reason: str = "caller_hung_up") -> CallResult:
        """Extracts the remaining variables and closes the chat; idempotent."""
        if self.result is None:
            await self._conversation.finish()
            self._conversation.is_over = True
            self._emit_event(events.USAGE_COUNTED, self._usage.as_dict())
            request = self._conversation.end_request
            outcome = (request.outcome if request is not None else None) or "answered"
            self._emit_event(events.CALL_ENDED, {"end_reason": reason, "outcome": outcome})
            self.result = CallResult(outcome, reason, self._since_start(), self._conversation.gathered_context)
        return self.result

    async def _run_turn(self, text: str | None, edge: Edge | None = None) -> list[str]:
        messages: list[str] = []
        current = ""
        reason = "agent_ended"
        try:
            async with aclosing(self._conversation.respond(text, edge=edge)) as steps:
                async for step in steps:
                    if isinstance(step, AgentSpeech) and not step.is_scripted:
                        current += step.text
                        continue
                    messages, current = [*messages, current], ""
                    if isinstance(step, ConversationEnded):
                        reason = step.reason
                    if isinstance(step, AgentSpeech):
                        messages.append(step.text)
        except EmptyTurn:
            current = self.phrases.reprompt
            self._conversation.history.add_canned_text(current)
        except AllModelsFailed:
            current = self.phrases.apology
            self._conversation.is_over = True
            reason = "error"
        messages = [message.strip() for message in (*messages, current) if message.strip()]
        for message in messages:
            self._report_speech(message)
        if self._conversation.is_over:
            await self.end(reason)
        else:
            # the next snapshot must include the results of this turn's background work
            await self._conversation.wait_until_settled()
            self._emit_event(events.USAGE_COUNTED, self._usage.as_dict())
        return messages

    def _report_speech(self, text: str) -> None:
        at = self._since_start()
        event_data: ReadableJsonObject = {
            "text": text,
            "start_s": at,
            "end_s": at,
            "interrupted": False,
            "node_id": self.node_id,
        }
        self._emit_event(events.AGENT_SAID, event_data)

    def _since_start(self) -> float:
        return round(self._loop.time() - self._t0, 3)

    def _emit_event(self, kind: str, data: ReadableJsonObject) -> None:
        self._sink.emit(VoiceEvent(kind, self._since_start(), data))
