"""The port of embedding models: the offline one, or a vendor's."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

# (texts, dimensions), every row of length one.
Vectors: TypeAlias = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class EmbeddingModel:
    """Vectors of different models are not comparable; ``base_url`` is empty for a vendor's own address."""

    provider: str
    model: str
    base_url: str = ""


class TextEmbedder(Protocol):
    @property
    def model(self) -> EmbeddingModel: ...

    @property
    def batch_size(self) -> int:
        """Returns the optimal number of texts per request."""
        ...

    async def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """Embeds passages at low priority, leaving the cores to calls. Raises EmbeddingFailed."""
        ...

    async def embed_query(self, text: str) -> Vectors:
        """Embeds one question quickly. Raises EmbeddingFailed."""
        ...


def normalize_vectors(rows: Any) -> Vectors:
    """Returns rows of numbers as vectors of length one."""
    vectors = np.asarray(rows, dtype=np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    result: Vectors = vectors / np.maximum(lengths, 1e-12)
    return result
