"""Tells by a small trained model what a caller's words do: agree, agree with a condition, decline, leave, ask. English."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from offhook.models.providers.builtin.acts.features import text_features

CallerAct: TypeAlias = Literal[
    "yes",
    "yes_but",
    "no",
    "change",
    "leave",
    "later",
    "person",
    "question",
    "wait",
    "unclear",
    "request",
    "answer",
]
SentenceVector: TypeAlias = npt.NDArray[np.float32]
WEIGHTS: Final = Path(__file__).with_name("weights.npz")
_NOTHING_ASKED: Final = "hello"


@dataclass(frozen=True, slots=True)
class ActOdds:
    """The probability of each act, all together 1; empty where no model is installed."""

    by_act: Mapping[str, float]

    def of(self, *acts: CallerAct) -> float:
        """Returns the probability of one of the acts."""
        return sum(self.by_act.get(act, 0.0) for act in acts)

    @property
    def likeliest(self) -> str | None:
        return max(self.by_act, key=lambda act: self.by_act[act], default=None)

    @property
    def certainty(self) -> float:
        """The probability of the likeliest act, 0 where no model is installed."""
        return max(self.by_act.values(), default=0.0)

    @property
    def lead(self) -> float:
        """How much more probable the likeliest act is than the next one."""
        first, second = sorted((0.0, 0.0, *self.by_act.values()))[-1:-3:-1]
        return first - second

    def __bool__(self) -> bool:
        return bool(self.by_act)


UNKNOWN_ACTS: Final = ActOdds({})


class ActClassifier:
    """A linear model over a sentence's vectors and its words, trained by ``scripts/caller_acts/train.py``."""

    def __init__(self, path: Path = WEIGHTS) -> None:
        with np.load(path) as stored:
            self._acts = tuple(str(act) for act in stored["acts"])
            self._of_vectors = stored["of_vectors"].astype(np.float32)
            self._of_words = stored["of_words"].astype(np.float32)
            self._bias = stored["bias"].astype(np.float32)
            self._columns = {str(feature): at for at, feature in enumerate(stored["features"])}

    def odds(self, said: str, vectors: Sequence[SentenceVector]) -> ActOdds:
        """Returns what a sentence does. ``vectors``: those of ``compared_texts``, each of length one."""
        scores = self._bias + np.concatenate(vectors) @ self._of_vectors
        found = sorted({self._columns[feature] for feature in text_features(said) if feature in self._columns})
        if found:
            # as in training: the words of each sentence have as much weight, however long it is
            scores = scores + self._of_words[found].sum(axis=0) / np.sqrt(len(found))
        odds = np.exp(scores - scores.max())
        return ActOdds(dict(zip(self._acts, (odds / odds.sum()).tolist(), strict=True)))


LoadClassifier: TypeAlias = Callable[[], Awaitable[ActClassifier]]


def compared_texts(asked: str, said: str) -> tuple[str, str, str]:
    """Returns the texts whose vectors tell what ``said`` does when ``asked`` was the question."""
    return said, asked or _NOTHING_ASKED, f"{asked} {said}".strip()


@cache
def shipped_classifier() -> ActClassifier:
    """Returns the classifier of the package: 8 MB once it is loaded, with the first turn that needs it."""
    return ActClassifier()


async def load_shipped_classifier() -> ActClassifier:
    """Implements LoadClassifier beside calls: reading the file takes a tenth of a second."""
    return await asyncio.to_thread(shipped_classifier)
