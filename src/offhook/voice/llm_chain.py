"""The LLMs of one call as one: time-outs, one retry, then the next model for the rest of the call."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any, cast

from offhook.models.ports import Llm, LlmEvent, LlmRequest, LlmUsage, Message, ModelError, TextDelta
from offhook.voice import events
from offhook.voice.errors import AllModelsFailed
from offhook.voice.usage import UsageCounter

Emit = Callable[[str, dict[str, Any]], None]
CONTINUE = "You were cut off after saying: “{said}”. Go on from there without repeating it."


class LlmChain:
    """``stall_s``: the longest wait for a first or next token before the model counts as hung."""

    def __init__(self, llms: Sequence[Llm], *, emit: Emit, usage: UsageCounter, stall_s: float) -> None:
        self._llms = llms
        self._emit = emit
        self._usage = usage
        self._stall_s = stall_s
        self._current = 0
        self._has_retried = False

    async def stream(self, request: LlmRequest) -> AsyncGenerator[LlmEvent, None]:
        """Yield text and tool calls; raise :class:`AllModelsFailed` when no model is left to ask."""
        while True:
            said: list[str] = []
            try:
                async with aclosing(self._attempt(request, said)) as attempt:
                    async for event in attempt:
                        yield event
            except ModelError as error:
                self._fail(error)
                if said:
                    request = _continued(request, "".join(said))
                    yield TextDelta(" ")
            else:
                self._has_retried = False
                return

    async def _attempt(self, request: LlmRequest, said: list[str]) -> AsyncGenerator[LlmEvent, None]:
        llm = self._llms[self._current]
        self._usage.llm_call(llm.ref)
        iterator = llm.stream(request)
        is_settled = False
        try:
            while True:
                try:
                    async with asyncio.timeout(self._stall_s):
                        event = await anext(iterator)
                except StopAsyncIteration:
                    return
                except TimeoutError:
                    raise ModelError("llm_stalled", f"No token for {self._stall_s:g} s.", retryable=True) from None
                if isinstance(event, LlmUsage):
                    self._usage.llm(llm.ref, event)
                    is_settled = True
                    continue
                if isinstance(event, TextDelta):
                    said.append(event.text)
                yield event
        except ModelError:
            is_settled = is_settled or not said  # a request that was refused costs nothing
            raise
        finally:
            if not is_settled:
                self._usage.llm_estimate(llm.ref, request, "".join(said))
            if hasattr(iterator, "aclose"):
                await cast(Any, iterator).aclose()

    def _fail(self, error: ModelError) -> None:
        ref = self._llms[self._current].ref
        self._emit(
            events.MODEL_FAILED,
            {
                "kind": "llm",
                "provider": ref.provider,
                "code": error.code,
                "message": str(error),
                "retryable": error.retryable,
            },
        )
        has_next = self._current + 1 < len(self._llms)
        if error.retryable and not self._has_retried and not (has_next and error.code == "llm_stalled"):
            self._has_retried = True
            return
        if not has_next:
            raise AllModelsFailed("llm", error) from error
        self._current += 1
        self._has_retried = False
        to = self._llms[self._current].ref
        self._emit(events.FAILED_OVER, {"kind": "llm", "from": ref.provider, "to": to.provider})

    async def ask(self, request: LlmRequest) -> str:
        """The whole text of an answer that nobody listens to (variable extraction)."""
        text = [event.text async for event in self.stream(request) if isinstance(event, TextDelta)]
        return "".join(text)


def _continued(request: LlmRequest, said: str) -> LlmRequest:
    messages = [*request.messages, Message("assistant", said), Message("system", CONTINUE.format(said=said))]
    return replace(request, messages=messages)
