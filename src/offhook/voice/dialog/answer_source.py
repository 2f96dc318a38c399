"""The source of a conversation's answers: the language models, or a model that speaks itself."""

from collections.abc import AsyncGenerator
from typing import Protocol

from offhook.models.ports import LlmEvent, LlmRequest, SpokenPiece


class AnswerSource(Protocol):
    """Answers one request at a time."""

    def stream(self, request: LlmRequest) -> AsyncGenerator[LlmEvent | SpokenPiece, None]:
        """Yields text or speech in the line's codec, and tool calls. Raises :class:`AllModelsFailed`."""
        ...
