"""The offline agent for scenarios: it compares sentences in the calling thread, so that every run is the same."""

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from offhook.knowledge.offline.edge_reader import OfflineEdgeReader
from offhook.knowledge.offline.model import OfflineModel
from offhook.models.edge_reading import AnswerToRead, EdgeOdds
from offhook.models.providers.builtin import readings
from offhook.models.providers.builtin.acts.classifier import ActClassifier, shipped_classifier
from offhook.models.providers.builtin.llm import BuiltinLlm
from offhook.models.providers.builtin.meaning import MAX_KEPT
from offhook.models.sentence_encoder import SentenceVectors
from offhook.scenarios.engine.suite import MakeLlm


def build_offline_model(folder: Path) -> MakeLlm:
    """Returns what makes the offline agent of a conversation, comparing by meaning where its model is installed.

    Every conversation has its own: what one agent has compared must not change the next one. ``folder`` keeps the
    model. Blocks while it is prepared; the calling thread must not have a running loop.
    """
    model = OfflineModel(folder)
    if not model.is_installed():
        return BuiltinLlm
    asyncio.run(model.load())
    reader = OfflineEdgeReader(folder)
    asyncio.run(reader.load())
    classifier = shipped_classifier()

    async def load_classifier() -> ActClassifier:
        return classifier

    read = SameThreadReader(reader)
    return partial(BuiltinLlm, SameThreadEncoder(model), load_classifier=load_classifier, read_edges=read)


class SameThreadEncoder:
    """Implements EmbedSentences without threads, and remembers. One sentence at a time: a vector must not depend on
    its neighbors."""

    def __init__(self, model: OfflineModel) -> None:
        self._model = model
        self._vectors: OrderedDict[str, SentenceVectors] = OrderedDict()

    async def __call__(self, sentences: Sequence[str]) -> SentenceVectors:
        return np.concatenate([self._vector_of(sentence) for sentence in sentences])

    def _vector_of(self, sentence: str) -> SentenceVectors:
        vector = self._vectors.get(sentence)
        if vector is None:
            vector = self._vectors[sentence] = self._model.embed_here(sentence)
            if len(self._vectors) > MAX_KEPT:
                self._vectors.popitem(last=False)
        return vector


class SameThreadReader:
    """Implements ReadEdges without threads, and remembers."""

    def __init__(self, reader: OfflineEdgeReader) -> None:
        self._reader = reader
        self._odds: OrderedDict[AnswerToRead, EdgeOdds] = OrderedDict()

    async def __call__(self, answer: AnswerToRead) -> EdgeOdds:
        odds = self._odds.get(answer)
        if odds is None:
            odds = self._odds[answer] = self._reader.read_here(answer)
            if len(self._odds) > readings.MAX_KEPT:
                self._odds.popitem(last=False)
        return odds
