"""How near two sentences are in meaning, by the offline embedding model; nothing is near when it is not installed."""

import asyncio
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import structlog

from offhook.models.edge_reading import ReadEdges
from offhook.models.providers.builtin.acts.classifier import UNKNOWN_ACTS, ActClassifier, ActOdds, LoadClassifier
from offhook.models.providers.builtin.readings import EdgeReadings
from offhook.models.sentence_encoder import EmbedSentences

# Agents of a process and what their callers said lately: 1.5 kB each.
MAX_KEPT: Final = 8192
# Sentences are embedded in one go, which blocks everything else: other agents' callers wait.
MAX_EMBEDDED: Final = 500
# Acts of what authors have written are asked for several times in each turn: 1 kB each.
MAX_KEPT_ODDS: Final = 2048
# A turn waits no longer for the model, which goes on loading for the next one.
MAX_WAIT_S: Final = 0.25
RETRY_AFTER_S: Final = 300.0
log = structlog.get_logger(__name__)


class SentenceMeaning:
    """Vectors of sentences, kept for the next turn. One per process.

    ``load_classifier`` is called once, when the first sentences are learned. ``readings`` are of ``read_edges``.
    """

    def __init__(
        self,
        embed: EmbedSentences | None = None,
        max_wait_s: float = MAX_WAIT_S,
        load_classifier: LoadClassifier | None = None,
        read_edges: ReadEdges | None = None,
    ) -> None:
        self.readings = EdgeReadings(read_edges)
        self._load_classifier = load_classifier
        self._classifier: ActClassifier | None = None
        self._embed = embed
        self._max_wait_s = max_wait_s
        self._vectors: OrderedDict[str, npt.NDArray[np.float32]] = OrderedDict()
        self._running: asyncio.Task[None] | None = None
        self._retry_at = 0.0
        self._unknown: dict[str, None] = {}
        self._odds: OrderedDict[tuple[str, ...], ActOdds] = OrderedDict()

    @property
    def tells_acts(self) -> bool:
        """True where a classifier tells what sentences do, once their vectors are learned."""
        return self._embed is not None and self._load_classifier is not None

    def deadline(self) -> float:
        """Returns until when a turn that begins now waits for the model, by the loop's time."""
        return asyncio.get_running_loop().time() + self._max_wait_s

    async def learn(self, sentences: Iterable[str], deadline: float | None = None) -> None:
        """Embeds the sentences that are not known yet. A missing, failing or slow model leaves them unknown."""
        if self._embed is None:
            return
        deadline = self.deadline() if deadline is None else deadline
        await self._wait_until(deadline)
        wanted = list(dict.fromkeys(sentence for sentence in sentences if sentence.strip()))
        self.learn_ahead(wanted)
        await self._wait_until(deadline)
        for sentence in wanted:
            if sentence in self._vectors:
                self._vectors.move_to_end(sentence)
        while len(self._vectors) > MAX_KEPT:
            self._vectors.popitem(last=False)

    def learn_ahead(self, sentences: Sequence[str]) -> None:
        """Starts to embed what a later turn compares, unless something is being embedded."""
        missing = [
            sentence for sentence in dict.fromkeys(sentences) if sentence.strip() and sentence not in self._vectors
        ]
        if self._embed is None or not missing or asyncio.get_running_loop().time() < self._retry_at:
            return
        running = self._running
        if running is None or running.done() or running.get_loop() is not asyncio.get_running_loop():
            self._running = asyncio.create_task(self._embed_missing(self._embed, missing[:MAX_EMBEDDED]))

    async def _wait_until(self, deadline: float) -> None:
        """Waits for the running embedding, if there is one."""
        running = self._running
        if running is not None and running.get_loop() is asyncio.get_running_loop():
            left = deadline - asyncio.get_running_loop().time()
            await asyncio.wait({running}, timeout=max(0.0, left))
        if running is not None and running.done():
            self._running = None

    async def _embed_missing(self, embed: EmbedSentences, missing: Sequence[str]) -> None:
        try:
            vectors = await embed(missing)
        except Exception as error:  # noqa: BLE001 - of whatever kind: ours is another room's function
            # words alone are compared: a turn never fails for want of this model
            log.info("sentences_not_embedded", error=str(error))
            self._retry_at = asyncio.get_running_loop().time() + RETRY_AFTER_S
            return
        if self._load_classifier is not None and self._classifier is None:
            self._classifier = await self._load_classifier()
        self._vectors.update(zip(missing, vectors, strict=True))

    def similarity(self, one: str, other: str) -> float:
        """Returns the cosine of two learned sentences, 0 when one is unknown or nothing alike."""
        a, b = self._vectors.get(one), self._vectors.get(other)
        if self._embed is not None and (a is None or b is None):
            self._unknown |= {sentence: None for sentence in (one, other) if sentence not in self._vectors}
        return 0.0 if a is None or b is None else max(0.0, float(a @ b))

    def vector(self, sentence: str) -> npt.NDArray[np.float32] | None:
        """Returns the vector of a learned sentence; None, and it is unknown, when it is not learned."""
        found = self._vectors.get(sentence)
        if found is None and self._embed is not None:
            self._unknown[sentence] = None
        return found

    def odds(self, said: str, texts: Sequence[str]) -> ActOdds:
        """Returns what a sentence does, by the vectors of its compared texts; nothing where one is not learned."""
        key = (said, *texts)
        found = self._odds.get(key)
        if found is not None:
            self._odds.move_to_end(key)
            return found
        vectors = [self.vector(text) for text in texts]
        known = [vector for vector in vectors if vector is not None]
        if self._classifier is None or len(known) < len(vectors):
            return UNKNOWN_ACTS
        found = self._odds[key] = self._classifier.odds(said, known)
        if len(self._odds) > MAX_KEPT_ODDS:
            self._odds.popitem(last=False)
        return found

    def pop_unknown(self) -> list[str]:
        """Returns the sentences that were compared since the last call and are not known, and forgets them."""
        unknown = [sentence for sentence in self._unknown if sentence.strip()]
        self._unknown = {}
        return unknown

    def nearest(self, sentence: str, others: Sequence[str]) -> float:
        return max((self.similarity(sentence, other) for other in others), default=0.0)


# Where words alone are compared.
UNKNOWN_MEANING: Final = SentenceMeaning()
