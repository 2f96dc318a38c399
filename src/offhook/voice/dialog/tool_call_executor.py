"""Runs the functions that a model calls: with time limits, and exactly once when they have side effects."""

import asyncio
import json
from collections.abc import Mapping, Sequence
from typing import Any

from offhook.models.ports import LlmMessage, ToolCall
from offhook.voice import events
from offhook.voice.call_inputs import current_inputs
from offhook.voice.dialog.llm_chain import Emit
from offhook.voice.ports import AgentTool, EndCallRequest, ToolError

UNKNOWN_ANSWER = {
    "error": "The line broke before this finished. Whether it was done is not known: ask the caller before doing it again."
}
CANCELED_ANSWER = {"error": "The caller interrupted before this finished."}


class ToolCallExecutor:
    """Keeps the history complete: every call gets exactly one answer, in call order."""

    def __init__(self, emit: Emit) -> None:
        self._emit = emit
        self._inputs = current_inputs()
        self._time = self._inputs.time
        self._open: dict[str, ToolCall] = {}
        self._answers: dict[str, Any] = {}
        self._running: dict[str, asyncio.Task[Any]] = {}
        self._ends_with_call: set[str] = set()
        self.end_request: EndCallRequest | None = None

    @property
    def has_open_calls(self) -> bool:
        """Returns whether the next turn begins with answers to calls."""
        return bool(self._open or self._running)

    def expect_answers(self, calls: Sequence[ToolCall]) -> None:
        """Records calls that are in the history and need answers."""
        for call in calls:
            self._open[call.id] = call

    def set_answer(self, call: ToolCall, result: Mapping[str, Any]) -> None:
        self._answers[call.id] = result

    async def run_tool(self, call: ToolCall, tool: AgentTool) -> bool:
        """Calls a tool and returns whether it succeeded. A tool with side effects keeps running after a barge-in."""
        task = asyncio.create_task(self._call_tool(call, tool))
        self._running[call.id] = task
        if tool.blocks_barge_in:
            self._ends_with_call.add(call.id)
        try:
            is_ok = await (asyncio.shield(task) if tool.has_side_effects else task)
            await self._inputs.resumed("tool_over")
            return is_ok
        finally:
            if task.done():
                self._running.pop(call.id, None)
            elif not tool.has_side_effects:
                task.cancel()

    async def _call_tool(self, call: ToolCall, tool: AgentTool) -> bool:
        await self._inputs.resumed("tool_begins")
        started = self._time()
        self._emit(events.TOOL_CALLED, {"id": call.id, "name": call.name, "arguments": call.arguments})
        outcome: dict[str, Any]
        try:
            async with asyncio.timeout(tool.timeout_s):
                result = await tool.call(call.arguments)
            if isinstance(result, EndCallRequest):
                self.end_request, result = result, result.result
            outcome = {"ok": True, "result": result}
            self._answers[call.id] = result
        except TimeoutError:
            outcome = {"ok": False, "error": f"No answer within {tool.timeout_s:g} seconds."}
        except ToolError as error:
            outcome = {"ok": False, "error": str(error)}
        except asyncio.CancelledError:
            self._emit(events.TOOL_ANSWERED, {"id": call.id, "name": call.name, "ok": False, "error": "cancelled"})
            raise
        if not outcome["ok"]:
            self._answers[call.id] = {"error": outcome["error"]}
        took = round((self._time() - started) * 1000)
        self._emit(events.TOOL_ANSWERED, {"id": call.id, "name": call.name, "ms": took, **outcome})
        return bool(outcome["ok"])

    async def cancel_call_bound_tools(self) -> None:
        """Cancels tools that only make sense during the call, which is over."""
        tasks = [task for call_id, task in self._running.items() if call_id in self._ends_with_call]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    async def wait_for_side_effects(self) -> list[LlmMessage]:
        """Waits for side effects that outlived their turn, then answers every open call."""
        for call_id, task in list(self._running.items()):
            await asyncio.wait([task])
            await self._inputs.resumed("side_effect")
            self._running.pop(call_id, None)
        return self.take_answers()

    def take_answers(self) -> list[LlmMessage]:
        messages = []
        for call_id in list(self._open):
            if call_id in self._running:
                continue
            messages.append(_answer_message(call_id, self._answers.pop(call_id, CANCELED_ANSWER)))
            del self._open[call_id]
        return messages

    def answers_so_far(self) -> list[LlmMessage]:
        """Returns an answer to every open call as things stand: what a process that takes over can know of it."""
        return [_answer_message(call_id, self._answers.get(call_id, UNKNOWN_ANSWER)) for call_id in self._open]


def _answer_message(call_id: str, answer: Any) -> LlmMessage:
    content = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False, default=str)
    return LlmMessage("tool", content, tool_call_id=call_id)
