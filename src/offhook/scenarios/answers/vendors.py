"""Asks a vendor's model, and measures when each piece of its answer came."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Any, Final, cast

from offhook.models.ports import Llm, LlmRequest, ModelError
from offhook.scenarios.answers.recorded import AnswerPiece, RecordedAnswer

TIMEOUT_S: Final = 60.0
# Before each further attempt after a failure that may pass.
RETRY_AFTER_S: Final = (1.0, 4.0)
MAX_RETRY_AFTER_S: Final = 20.0


async def ask_vendor(
    llm: Llm,
    request: LlmRequest,
    *,
    pauses_s: tuple[float, ...] = RETRY_AFTER_S,
    time: Callable[[], float] | None = None,
) -> RecordedAnswer:
    """Returns the whole answer. What failed attempts took is not in its times. Raises ModelError."""
    clock = time or asyncio.get_running_loop().time
    for pause_s in (*pauses_s, None):
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await _ask_once(llm, request, clock)
        except TimeoutError:
            error = ModelError("llm_timeout", f"No complete answer in {TIMEOUT_S:g} s.", retryable=False)
        except ModelError as failed:
            error = failed
        if pause_s is None or not error.retryable:
            raise error
        await asyncio.sleep(min(max(pause_s, error.retry_after_s or 0.0), MAX_RETRY_AFTER_S))
    raise AssertionError("the last attempt returns or raises")


async def _ask_once(llm: Llm, request: LlmRequest, clock: Callable[[], float]) -> RecordedAnswer:
    began = clock()
    async with aclosing(cast(Any, llm.stream(request))) as stream:
        pieces = [AnswerPiece(round(clock() - began, 3), event) async for event in stream]
    return RecordedAnswer(tuple(pieces))
