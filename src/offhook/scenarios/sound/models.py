"""The language model of a call with sound: the offline agent, as late as a vendor's."""

import asyncio
from collections.abc import AsyncGenerator, Sequence
from typing import Final

from offhook.models.ports import Llm, LlmEvent, LlmRequest, ModelRef, PreparableLlm

# What vendors take to the first word of a short answer.
FIRST_TOKEN_S: Final = 0.35


class DelayedLlm:
    """Implements PreparableLlm: another model whose answers begin ``FIRST_TOKEN_S`` later."""

    def __init__(self, llm: Llm) -> None:
        self._llm = llm

    @property
    def model_ref(self) -> ModelRef:
        return self._llm.model_ref

    def prepare(self, sentences: Sequence[str]) -> None:
        if isinstance(self._llm, PreparableLlm):
            self._llm.prepare(sentences)

    async def stream(self, request: LlmRequest) -> AsyncGenerator[LlmEvent, None]:
        await asyncio.sleep(FIRST_TOKEN_S)
        answer = self._llm.stream(request)
        try:
            async for event in answer:
                yield event
        finally:
            if isinstance(answer, AsyncGenerator):
                await answer.aclose()
