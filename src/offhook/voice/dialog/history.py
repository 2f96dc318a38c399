"""The conversation history for the model: words and calls, cut to what was heard."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from offhook.kit.json_values import JsonObject
from offhook.models.ports import LlmMessage, ToolCall
from offhook.voice.output.sentence_splitter import common_prefix


class ConversationHistory:
    """``messages`` in order. The agent's words of the current turn are tracked, so that they can be cut."""

    def __init__(self) -> None:
        self.messages: list[LlmMessage] = []
        self._spoken_entries: list[int] = []
        # gets how much was heard of what a model has said itself, by its item, in milliseconds
        self.on_speech_cut: Callable[[Mapping[str, int]], None] | None = None

    def begin_turn(self, messages: list[LlmMessage], heard: str | None) -> None:
        """Begins a turn with these messages and the caller's words, if any."""
        self.messages = [*messages, LlmMessage("user", heard)] if heard else messages
        self._spoken_entries = []

    def add_agent_message(self, text: str, calls: tuple[ToolCall, ...] = ()) -> None:
        """Adds what the agent said, called, or both."""
        if text:
            self._spoken_entries.append(len(self.messages))
        self.messages.append(LlmMessage("assistant", text, tool_calls=calls))

    def append_to_tool_call(self, text: str) -> None:
        """Adds words spoken beside a call to the message that made the call: vendors want the answer right after it."""
        at = max(index for index, message in enumerate(self.messages) if message.tool_calls)
        message = self.messages[at]
        self.messages[at] = replace(message, content=f"{message.content} {text}".strip())
        if at not in self._spoken_entries:
            self._spoken_entries.append(at)

    def add_tool_answers(self, answers: Iterable[LlmMessage]) -> None:
        """Adds the results of function calls."""
        self.messages += answers

    def add_canned_text(self, text: str) -> None:
        """Adds a phrase of the session itself (of the watchdog), so that the model knows about it."""
        self.messages.append(LlmMessage("assistant", text))

    def truncate_to_heard(self, heard: str, speech_ms: Mapping[str, int] | None = None) -> None:
        """Keeps only the words of this turn that were heard before the caller interrupted."""
        if speech_ms and self.on_speech_cut is not None:
            self.on_speech_cut(speech_ms)
        left = heard
        for index in self._spoken_entries:
            message = self.messages[index]
            kept = message.content if left.startswith(message.content) else common_prefix(message.content, left)
            left = left[len(kept) :].lstrip()
            self.messages[index] = replace(message, content=kept)
        self.messages = [
            message for message in self.messages if message.content or message.role != "assistant" or message.tool_calls
        ]
        self._spoken_entries = []

    def snapshot(self, answers: Sequence[LlmMessage] = ()) -> list[JsonObject]:
        """Returns the history with these answers to calls that have none yet."""
        return [asdict(message) for message in (*self.messages, *answers)]

    def restore(self, state: Sequence[Mapping[str, Any]]) -> None:
        self.messages = [
            LlmMessage(
                item["role"],
                item["content"],
                tuple(ToolCall(**call) for call in item["tool_calls"]),
                item["tool_call_id"],
            )
            for item in state
        ]
