"""The end of a recognizer's queue that the call reads."""

import asyncio
from collections.abc import AsyncIterator

from offhook.models.ports import ModelError, SttEvent

SttEventQueue = asyncio.Queue[SttEvent | ModelError | None]


async def read_stt_events(queue: SttEventQueue) -> AsyncIterator[SttEvent]:
    """Yields what the recognizer puts into its queue, until None; raises a ``ModelError`` that stands in it."""
    while (event := await queue.get()) is not None:
        if isinstance(event, ModelError):
            raise event
        yield event
