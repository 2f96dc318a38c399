"""Combines the LLMs of one call: time-outs, a retry when no better model is left, then the next model."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from offhook.models.ports import (
    Llm,
    LlmEvent,
    LlmMessage,
    LlmRequest,
    LlmUsage,
    ModelError,
    PreparableLlm,
    TextDelta,
    ToolCalled,
)
from offhook.voice import events
from offhook.voice.safety.model_failover import OFFLINE_PROVIDER, ModelFailover
from offhook.voice.usage_counter import UsageCounter

Emit = events.Emit
CONTINUE = "You were cut off after saying: “{spoken}”. Go on from there without repeating it."
# Hours of speech; an answer without an end is cut there.
MAX_ANSWER_CHARS: Final = 200_000
# A silent vendor is given up sooner when there is another: the caller has been waiting since they stopped talking.
STALL_WITH_FALLBACK_S: Final = 2.5


@dataclass(slots=True)
class _AttemptResult:
    """The result of one request to one model."""

    parts: list[str] = field(default_factory=list)
    has_called: bool = False
    prompt_tokens: int = 0
    completion_tokens: int = 0
    is_complete: bool = False
    is_refused: bool = False

    @property
    def text(self) -> str:
        return "".join(self.parts)


class LlmChain:
    """``stall_s``: the longest wait for a first or next token before the model counts as hung."""

    def __init__(self, llms: Sequence[Llm], *, emit: Emit, usage: UsageCounter, stall_s: float) -> None:
        self._llms = llms
        self._circuit = ModelFailover([llm.model_ref for llm in llms], emit)
        self._usage = usage
        self._stall_s = stall_s

    def prepare(self, sentences: Sequence[str]) -> None:
        """Lets the models load what the first answer needs, while the greeting is spoken; returns at once."""
        for llm in self._llms:
            if isinstance(llm, PreparableLlm):
                llm.prepare(sentences)

    @property
    def is_offline(self) -> bool:
        """Returns whether the offline model answers now."""
        return self._circuit.current_ref.provider == OFFLINE_PROVIDER

    async def stream(self, request: LlmRequest, usage: UsageCounter | None = None) -> AsyncGenerator[LlmEvent, None]:
        """Yields text and tool calls. Raises :class:`AllModelsFailed` when no model is left.

        ``usage``: counted there instead of with the call's.
        """
        usage = usage or self._usage
        self._circuit.return_to_preferred()
        while True:
            seen = _AttemptResult()
            try:
                async with aclosing(self._stream_attempt(request, seen, usage)) as attempt:
                    async for event in attempt:
                        yield event
            except ModelError as error:
                self._circuit.report_failure(error)
                if not self._circuit.should_retry(error, even_slow=True):
                    self._circuit.fail_over(error)
                if seen.has_called:  # its tool calls are already running: another model would repeat them
                    return
                if seen.text:
                    spoken = LlmMessage("assistant", seen.text)
                    instruction = LlmMessage("system", CONTINUE.format(spoken=seen.text))
                    request = replace(request, messages=[*request.messages, spoken, instruction])
                    yield TextDelta(" ")
            else:
                self._circuit.mark_success()
                return

    async def _stream_attempt(
        self, request: LlmRequest, seen: _AttemptResult, usage: UsageCounter
    ) -> AsyncGenerator[LlmEvent, None]:
        llm = self._llms[self._circuit.current]
        usage.add_units(llm.model_ref, "calls", 1)
        iterator, left_chars = llm.stream(request), MAX_ANSWER_CHARS
        fallback, stall_s = self._circuit.next_ref, self._stall_s
        if fallback is not None and fallback.provider != OFFLINE_PROVIDER:
            stall_s = min(stall_s, STALL_WITH_FALLBACK_S)
        try:
            while True:
                try:
                    async with asyncio.timeout(stall_s):
                        event = await anext(iterator)
                except StopAsyncIteration:
                    seen.is_complete = True
                    return
                except TimeoutError:
                    raise ModelError("llm_stalled", f"No token for {stall_s:g} s.", retryable=True) from None
                if isinstance(event, LlmUsage):
                    seen.prompt_tokens += event.prompt_tokens
                    seen.completion_tokens += event.completion_tokens
                    usage.add_llm_usage(llm.model_ref, event)
                    continue
                if isinstance(event, TextDelta):
                    left_chars -= len(event.text)
                    if left_chars < 0:
                        return
                    seen.parts.append(event.text)
                seen.has_called = seen.has_called or isinstance(event, ToolCalled)
                yield event
        except ModelError:
            seen.is_refused = not seen.text  # a rejected request costs nothing
            raise
        finally:
            if hasattr(iterator, "aclose"):
                await cast(Any, iterator).aclose()
            is_reported = seen.completion_tokens or (seen.is_complete and seen.prompt_tokens)
            if not seen.is_refused and not is_reported:
                usage.add_llm_estimate(llm.model_ref, request, seen.text, has_prompt=seen.prompt_tokens > 0)

    async def complete_text(self, request: LlmRequest) -> str:
        """Returns the full text of an answer that is not spoken (variable extraction)."""
        text = [event.text async for event in self.stream(request) if isinstance(event, TextDelta)]
        return "".join(text)
