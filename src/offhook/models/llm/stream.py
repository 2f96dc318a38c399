"""Enforces timeouts for a vendor's stream (first token, next token) and closes it when its consumer stops."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from offhook.kit.egress import EgressError
from offhook.models.llm import llm_errors
from offhook.models.llm.chunk_shares import take_shared_chunk
from offhook.models.ports import ModelError

# No answer has as many.
MAX_CHUNKS: Final = 50_000
# As fast as any model writes. Organizations choose servers, and each chunk takes the time of all calls.
MAX_CHUNKS_PER_S: Final = 1000
MAX_BURST_CHUNKS: Final = 2000

# Converts an SDK's exception to ModelError; None when the SDK did not raise it.
Translate = Callable[[Exception], ModelError | None]


@dataclass(frozen=True, slots=True)
class LlmTimeouts:
    """Seconds until a connection is open, until the first token and between two tokens."""

    connect_s: float = 3.0
    first_token_s: float = 10.0
    between_tokens_s: float = 5.0


async def stream_with_timeouts(
    open_stream: Callable[[], Awaitable[Any]],
    limits: LlmTimeouts,
    of: Translate,
    is_preamble: Callable[[Any], bool] = lambda _: False,
) -> AsyncGenerator[Any, None]:
    """Yields the chunks of a stream, which has ``close``, as they come. Closing it closes the request at the vendor. Raises ModelError.

    The time to the first token runs on through chunks for which ``is_preamble`` is true: they come before the model answers.
    """
    first_by = asyncio.get_running_loop().time() + limits.first_token_s
    async with guard_vendor_call(of, "first token", limits.first_token_s, first_by):
        stream = await open_stream()
    try:
        chunks = aiter(_pace_chunks(aiter(stream)))
        chunk = None
        while chunk is None or is_preamble(chunk):
            async with guard_vendor_call(of, "first token", limits.first_token_s, first_by):
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            yield chunk
        while True:
            async with guard_vendor_call(of, "next token", limits.between_tokens_s):
                chunk = await anext(chunks, None)
            if chunk is None:
                return
            yield chunk
    finally:
        await stream.close()


async def _pace_chunks(chunks: AsyncIterator[Any]) -> AsyncGenerator[Any, None]:
    """Reads no faster than a model writes, no more than the organization's share, and not for ever."""
    loop = asyncio.get_running_loop()
    started_at, count = loop.time(), 0
    async for chunk in chunks:
        count += 1
        if count > MAX_CHUNKS:
            raise ModelError(
                "llm_answer_too_long", f"The model's answer has more than {MAX_CHUNKS:,} chunks.", retryable=False
            )
        early_s = (count - MAX_BURST_CHUNKS) / MAX_CHUNKS_PER_S - (loop.time() - started_at)
        wait_s = max(early_s, take_shared_chunk())
        if wait_s > 0:
            await asyncio.sleep(wait_s)
        yield chunk


@asynccontextmanager
async def guard_vendor_call(of: Translate, what: str, limit_s: float, by: float | None = None) -> AsyncIterator[None]:
    """Guards calls to a vendor: every failure inside becomes a ModelError; cancellation passes through."""
    deadline = asyncio.get_running_loop().time() + limit_s if by is None else by
    try:
        async with asyncio.timeout_at(deadline):
            yield
    except ModelError:
        raise
    except TimeoutError:
        raise llm_errors.timeout_error(what, limit_s) from None
    except EgressError as error:
        raise llm_errors.connection_error(error) from error
    except Exception as error:  # vendor boundary: SDKs raise many errors for a broken stream
        raise of(error) or llm_errors.malformed_answer_error(error) from error
