"""The port to the embedding model, with which the offline agent compares sentences; another room brings the model."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

# (sentences, dimensions), every row of length one.
SentenceVectors: TypeAlias = npt.NDArray[np.float32]
EmbedSentences: TypeAlias = Callable[[Sequence[str]], Awaitable[SentenceVectors]]


class SentenceEncoder:
    """Implements EmbedSentences with the function that was connected. One per process."""

    def __init__(self) -> None:
        self._embed: EmbedSentences | None = None

    def connect(self, embed: EmbedSentences) -> None:
        self._embed = embed

    async def __call__(self, sentences: Sequence[str]) -> SentenceVectors:
        """Returns the sentences' vectors; raises LookupError while no model is connected."""
        if self._embed is None:
            raise LookupError("no embedding model is connected")
        return await self._embed(sentences)
