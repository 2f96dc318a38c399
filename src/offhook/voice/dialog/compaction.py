"""Keeps long conversations short in tokens: earlier nodes are summarized in the background."""

import asyncio
from collections.abc import Sequence
from typing import Final

from offhook.kit.json_values import parse_json
from offhook.models.ports import LlmMessage, LlmRequest
from offhook.voice import events
from offhook.voice.call_inputs import current_inputs
from offhook.voice.dialog.llm_chain import Emit, LlmChain
from offhook.voice.errors import AllModelsFailed

# A shorter history costs less than its summary.
MIN_MESSAGES: Final = 12
# The newest messages are kept verbatim.
KEEP_MESSAGES: Final = 4
MIN_SUMMARY_CHARS: Final = 20
# Far more than the 150 words that it is asked for.
MAX_SUMMARY_CHARS: Final = 10_000
INSTRUCTION: Final = (
    "Summarize this telephone conversation for the agent that goes on with it: what the caller wants, every fact, name,"
    " number and date that was said, what was agreed and what is still open. At most 150 words."
)
_SCHEMA: Final = {
    "type": "object",
    "properties": {"summary": {"type": "string", "description": "The summary, in the language of the conversation."}},
    "required": ["summary"],
    "additionalProperties": False,
}


class HistoryCompactor:
    """Summarizes old messages; ``summary`` replaces those that were removed from the history."""

    def __init__(self, llm: LlmChain, emit: Emit, *, is_on: bool) -> None:
        self._llm = llm
        self._emit = emit
        self._inputs = current_inputs()
        self._is_on = is_on
        self._task: asyncio.Task[str] | None = None
        self._count = 0
        self.summary = ""

    def start_summary(self, history: Sequence[LlmMessage]) -> None:
        """Starts summarizing old messages after a node was left; returns immediately."""
        count = _find_safe_cut(history, len(history) - KEEP_MESSAGES)
        if self._is_on and self._task is None and count >= MIN_MESSAGES - KEEP_MESSAGES:
            self._count = count
            self._task = asyncio.create_task(self._request_summary(list(history[:count])))

    def apply_summary(self, history: list[LlmMessage]) -> list[LlmMessage]:
        """Returns the history without the summarized messages once the summary exists. Call it between turns."""
        if self._task is None or not self._task.done():
            return history
        task, self._task = self._task, None
        summary = "" if task.cancelled() else task.result()
        if len(summary) < MIN_SUMMARY_CHARS:
            return history
        self.summary = summary
        self._emit(events.CONTEXT_COMPACTED, {"messages": self._count, "summary": summary})
        return history[self._count :]

    @property
    def is_due(self) -> bool:
        """Returns whether the next turn begins with a new summary."""
        return self._task is not None and self._task.done()

    def with_summary(self, history: Sequence[LlmMessage]) -> list[LlmMessage]:
        """Returns the history with the summary before it."""
        before = [LlmMessage("assistant", f"(What was said before: {self.summary})")] if self.summary else []
        return [*before, *history]

    def cancel(self) -> None:
        if self._task is not None:
            self._task.cancel()

    async def _request_summary(self, history: list[LlmMessage]) -> str:
        await self._inputs.resumed("summary")
        spoken = "\n".join(
            f"{'Caller' if message.role == 'user' else 'Agent'}: {message.content}"
            for message in self.with_summary(history)
            if message.role in ("user", "assistant") and message.content
        )
        messages = [LlmMessage("system", INSTRUCTION), LlmMessage("user", spoken)]
        try:
            answer = await self._llm.complete_text(
                LlmRequest(messages=messages, temperature=0.0, response_schema=_SCHEMA)
            )
            found = parse_json(answer[answer.index("{") : answer.rindex("}") + 1])
        except (AllModelsFailed, ValueError):
            return ""
        summary = found.get("summary") if isinstance(found, dict) else None
        return summary.strip()[:MAX_SUMMARY_CHARS] if isinstance(summary, str) else ""


def _find_safe_cut(history: Sequence[LlmMessage], end: int) -> int:
    """Returns the largest cut up to ``end`` after which the caller speaks and every tool call has its answer."""
    while end > 0:
        calls = {call.id for message in history[:end] for call in message.tool_calls}
        answers = {message.tool_call_id for message in history[:end] if message.tool_call_id is not None}
        if history[end].role == "user" and calls <= answers:
            return end
        end -= 1
    return 0
