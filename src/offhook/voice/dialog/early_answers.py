"""Asks the model before the caller's turn is decided; nothing of its answer is said, noted or done until then."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Final

from offhook.models.ports import LlmEvent, LlmRequest
from offhook.voice import events
from offhook.voice.call_inputs import current_inputs
from offhook.voice.dialog.conversation import Conversation
from offhook.voice.dialog.llm_chain import LlmChain
from offhook.voice.events import Emit
from offhook.voice.usage_counter import UsageCounter

# In one turn of the caller: who rambles must not multiply what the model costs.
MAX_REQUESTS: Final = 2


@dataclass(slots=True, eq=False)
class _EarlyRequest:
    """One request, its answer as far as it has come, and what has become of it: ``is_used`` is None until then.

    ``pieces`` ends with None.
    """

    heard: str
    request: LlmRequest
    started_at: float
    usage: UsageCounter = field(default_factory=UsageCounter)
    pieces: asyncio.Queue[LlmEvent | None] = field(default_factory=asyncio.Queue)
    failure: Exception | None = None
    has_begun: bool = False
    is_canceled: bool = False
    is_over: bool = False
    is_used: bool | None = None
    task: asyncio.Task[None] | None = None

    @property
    def has_failed(self) -> bool:
        """Returns whether it has failed before it said anything."""
        return self.failure is not None and self.pieces.qsize() <= 1

    def cancel(self) -> None:
        """Ends the request. A task that has not begun ends by itself: in a replay, it begins where it did in the call."""
        self.is_canceled = True
        if self.has_begun and self.task is not None:
            self.task.cancel()


class EarlyAnswers:
    """Implements AnswerSource over a call's language models: an answer to the same request may be on its way already.

    There is at most one early request at a time.
    """

    def __init__(self, conversation: Conversation, llm: LlmChain, usage: UsageCounter, emit: Emit) -> None:
        """Becomes the source of the conversation's answers."""
        self._conversation = conversation
        conversation.answers = self
        self._llm = llm
        self._usage = usage
        self._emit = emit
        self._inputs = current_inputs()
        self._early: _EarlyRequest | None = None
        self._last_task: asyncio.Task[None] | None = None
        self._requests = 0

    def ask(self, heard: str) -> None:
        """Asks the model as if these were all of the caller's words. Called many times a second."""
        if self._early is not None and self._early.heard == heard:
            return
        self.drop("other_words")
        if self._requests >= MAX_REQUESTS or self._llm.is_offline:
            return
        request = self._conversation.request_ahead(heard)
        if request is None:
            return
        self._requests += 1
        self._early = early = _EarlyRequest(heard, request, self._inputs.time())
        early.task = self._last_task = asyncio.create_task(self._stream_ahead(early, self._last_task))

    def drop(self, reason: str) -> None:
        """Cancels the early request, if there is one, and forgets its answer."""
        early, self._early = self._early, None
        if early is not None:
            early.cancel()
            self._decide(early, is_used=False)
            self._emit(events.EARLY_ANSWER, {"used": False, "reason": reason})

    def turn_over(self, *, is_answered: bool) -> None:
        """The caller's turn is decided; an answer to it asks :meth:`stream` next."""
        self._requests = 0
        if not is_answered:
            self.drop("not_answered")

    async def stream(self, request: LlmRequest) -> AsyncGenerator[LlmEvent, None]:
        early = self._take(request)
        if early is None:
            async with aclosing(self._llm.stream(request)) as stream:
                async for event in stream:
                    yield event
            return
        try:
            while True:
                is_here = not early.pieces.empty()
                piece = await early.pieces.get()
                if not is_here:
                    await self._inputs.resumed("early_piece")
                if piece is None:
                    break
                yield piece
            if early.failure is not None:
                raise early.failure
        finally:
            if not early.is_over:
                early.cancel()

    def _take(self, request: LlmRequest) -> _EarlyRequest | None:
        """Returns the early request if it is this one."""
        early = self._early
        if early is None:
            return None
        if early.request != request or early.has_failed:
            self.drop("failed" if early.has_failed else "other_request")
            return None
        self._early = None
        ahead_ms = round((self._inputs.time() - early.started_at) * 1000)
        self._decide(early, is_used=True)
        self._emit(events.EARLY_ANSWER, {"used": True, "ahead_ms": ahead_ms})
        return early

    async def _stream_ahead(self, early: _EarlyRequest, before: asyncio.Task[None] | None) -> None:
        if before is not None:
            await asyncio.gather(before, return_exceptions=True)
        await self._inputs.resumed("early")
        try:
            if early.is_canceled:
                return
            early.has_begun = True
            async with aclosing(self._llm.stream(early.request, early.usage)) as stream:
                async for event in stream:
                    early.pieces.put_nowait(event)
        except Exception as failure:  # noqa: BLE001 - raised where the answer is used, or asked for again
            early.failure = failure
        finally:
            early.is_over = True
            early.pieces.put_nowait(None)
            self._count(early)

    def _decide(self, early: _EarlyRequest, *, is_used: bool) -> None:
        early.is_used = is_used
        self._count(early)

    def _count(self, early: _EarlyRequest) -> None:
        """Counts a request that is over when it is known what became of it."""
        if early.is_over and early.is_used is not None:
            self._usage.add_early(early.usage.as_dict(), is_used=early.is_used)

    def count_usage(self, usage: UsageCounter) -> None:
        """Counts what the early request has used whose turn is not decided: as far as it is known, for nothing."""
        if self._early is not None:
            usage.add_early(self._early.usage.as_dict(), is_used=False)

    async def close(self) -> None:
        self.drop("call_over")
        if self._last_task is not None:
            self._last_task.cancel()
            await asyncio.gather(self._last_task, return_exceptions=True)
