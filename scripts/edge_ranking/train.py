"""Trains which edge of a node an answer means where no rule decides, from what ``collect.py`` wrote.

    uv run --active --with scipy python scripts/edge_ranking/train.py decisions.jsonl

Writes ``weights.json`` of ``offhook.models.providers.builtin.ranking`` and prints, for answers that the rules asked about
again, how often an edge of at least some probability is the right one. Each such answer is judged by weights that were
trained without its agent. The result depends on the decisions alone.
"""

import asyncio
import json
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from offhook.knowledge.offline.model import OfflineModel
from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin import phrases
from offhook.models.providers.builtin.acts.classifier import ActOdds
from offhook.models.providers.builtin.edge_values import is_scale
from offhook.models.providers.builtin.english.utterance import parse_utterance
from offhook.models.providers.builtin.meaning import SentenceMeaning
from offhook.models.providers.builtin.ranking.features import (
    EDGE_FEATURES,
    NONE_FEATURES,
    TurnFeatures,
    turn_features,
)
from offhook.models.providers.builtin.ranking.ranker import WEIGHTS

REGULARIZATION = 3.0
# Answers that the rules asked about again are those for which the ranker is there.
WEIGHT_OF_MISS = 6.0
THRESHOLDS = (0.5, 0.6, 0.7, 0.8, 0.9)


Numbers = npt.NDArray[np.float64]


class Example(NamedTuple):
    """An answer; ``right`` are the places of the edges that it may take, one behind the last stands for none."""

    slug: str
    decision: dict[str, Any]
    features: TurnFeatures
    right: frozenset[int]
    is_miss: bool


def letters(text: str) -> str:
    return re.sub(r"[^a-z0-9]", "", text.lower())


def right_edges(talk: dict[str, Any], at: int) -> set[int]:
    """Returns what a decision may have been: what was decided where all went well, and whatever leads where it should."""
    decision = talk["decisions"][at]
    tools = [edge["tool"] for edge in decision["edges"]]
    is_last = at == len(talk["decisions"]) - 1 and letters(decision["heard"]) == letters(talk["turns"][-1])
    right: set[int] = set()
    if not talk["faults"]:
        if decision["call"] is None:
            right.add(len(tools))
        elif decision["call"] in tools:
            right.add(tools.index(decision["call"]))
        else:
            return set()
    if is_last:
        leads = {place for place, target in enumerate(decision["targets"]) if target in talk["node"]}
        right |= {place for place in leads if decision["targets"][place] != decision["node"]}
        right |= {len(tools)} if decision["node"] in talk["node"] else set()
    return right


def edge_hints(decision: dict[str, Any]) -> tuple[EdgeHint, ...]:
    return tuple(EdgeHint(**{**edge, "examples": tuple(edge["examples"])}) for edge in decision["edges"])


def read_examples(talks: list[dict[str, Any]], meaning: SentenceMeaning) -> Iterator[Example]:
    for talk in talks:
        for at, decision in enumerate(talk["decisions"]):
            hints, right = edge_hints(decision), right_edges(talk, at)
            if not right or not hints or is_scale(hints):
                continue
            acts = [frozenset(own) for own in decision["acts"]]
            features = turn_features(
                parse_utterance(decision["heard"]), hints, acts, ActOdds(decision["odds"]), meaning
            )
            is_miss = decision["call"] is None and phrases.is_reprompt(decision["text"])
            yield Example(talk["slug"], decision, features, frozenset(right), is_miss)


class LearnedMeaning(SentenceMeaning):
    """Vectors of as many sentences as are compared, once they are asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.vectors: dict[str, npt.NDArray[np.float32]] = {}
        self.missing: dict[str, None] = {}

    def similarity(self, one: str, other: str) -> float:
        unknown = [text for text in (one, other) if text.strip() and text not in self.vectors]
        self.missing |= dict.fromkeys(unknown)
        if unknown or not one.strip() or not other.strip():
            return 0.0
        return max(0.0, float(self.vectors[one] @ self.vectors[other]))


async def read_learned(talks: list[dict[str, Any]]) -> list[Example]:
    """Returns the examples, once every sentence that is compared for them is embedded."""
    model = OfflineModel(Path(tempfile.gettempdir()) / "offhook-edge-ranking")
    await model.load()
    meaning = LearnedMeaning()
    try:
        while True:
            examples = list(read_examples(talks, meaning))
            if not meaning.missing:
                return examples
            wanted = list(meaning.missing)
            meaning.missing = {}
            meaning.vectors.update(zip(wanted, await model.embed_sentences(wanted), strict=True))
    finally:
        await model.aclose()


class Trainer:
    """Fits one set of weights for all edges, and one for none of them."""

    def __init__(self, examples: list[Example]) -> None:
        self._examples = examples
        self.rows = np.concatenate([example.features.edges for example in examples]).astype(float)
        self.none = np.array([example.features.none for example in examples], dtype=float)
        self.of = np.repeat(np.arange(len(examples)), [len(example.features.edges) for example in examples])
        starts = np.cumsum([0, *(len(example.features.edges) for example in examples)])
        self.starts = starts[:-1]
        self.good = np.zeros(len(self.rows))
        self.good_none = np.zeros(len(examples))
        for at, example in enumerate(examples):
            for place in example.right:
                if place < len(example.features.edges):
                    self.good[starts[at] + place] = 1
                else:
                    self.good_none[at] = 1
        self.weight = np.array([WEIGHT_OF_MISS if example.is_miss else 1.0 for example in examples])
        self.mean, self.deviation = self.rows.mean(axis=0), self.rows.std(axis=0) + 1e-6

    def fit(self, used: Numbers) -> Numbers:
        """Returns the weights of the edges' features, then those of none, trained by the examples that are used."""
        rows, weight = (self.rows - self.mean) / self.deviation, self.weight * used
        width = rows.shape[1]

        def loss(weights: Numbers) -> tuple[float, Numbers]:
            scores, none = rows @ weights[:width], self.none @ weights[width:]
            most = np.maximum(np.maximum.reduceat(scores, self.starts), none)
            odds, odds_none = np.exp(scores - most[self.of]), np.exp(none - most)
            count = len(none)
            whole = np.bincount(self.of, odds, count) + odds_none
            good = np.bincount(self.of, odds * self.good, count) + odds_none * self.good_none + 1e-12
            by_edge = odds / whole[self.of] - odds * self.good / good[self.of]
            by_none = odds_none / whole - odds_none * self.good_none / good
            slope = np.concatenate([rows.T @ (weight[self.of] * by_edge), self.none.T @ (weight * by_none)])
            value = -(weight * np.log(good / whole)).sum() + 0.5 * REGULARIZATION * (weights @ weights)
            return value, slope + REGULARIZATION * weights

        start = np.zeros(width + self.none.shape[1])
        fitted = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
        # as of features that are not scaled
        of_edges = fitted[:width] / self.deviation
        of_none = fitted[width:].copy()
        of_none[NONE_FEATURES.index("always")] += self.mean @ of_edges
        return np.array([*of_edges, *of_none])

    def probabilities(self, weights: Numbers, at: int) -> Numbers:
        features, width = self._examples[at].features, len(EDGE_FEATURES)
        scores = np.append(features.edges @ weights[:width], features.none @ weights[width:])
        odds = np.exp(scores - scores.max())
        return np.array(odds / odds.sum())


def measure(examples: list[Example], trainer: Trainer) -> None:
    slugs = np.array([example.slug for example in examples])
    counts = {(threshold, is_final): [0, 0] for threshold in THRESHOLDS for is_final in (False, True)}
    for slug in sorted(set(slugs)):
        weights = trainer.fit((slugs != slug).astype(float))
        for at in np.flatnonzero(slugs == slug):
            example = examples[at]
            odds = trainer.probabilities(weights, int(at))
            best = int(odds.argmax())
            if not example.is_miss or best == len(odds) - 1:
                continue
            edge = example.decision["edges"][best]
            for threshold in THRESHOLDS:
                if odds[best] >= threshold:
                    counts[threshold, edge["is_final"]][best in example.right] += 1
            if "-v" in sys.argv and odds[best] >= THRESHOLDS[1]:
                mark = "right" if best in example.right else "WRONG"
                print(f"{mark} {odds[best]:.2f} {slug} {example.decision['heard']!r} -> {edge['label']}")
    for (threshold, is_final), (wrong, right) in counts.items():
        print(f"at {threshold:.1f}, {'ends the call' if is_final else 'leads on':14}: {right} right, {wrong} wrong")


def main() -> None:
    talks = [json.loads(line) for line in Path(sys.argv[1]).read_text().splitlines()]
    examples = asyncio.run(read_learned(talks))
    print(f"{len(examples)} answers, {sum(example.is_miss for example in examples)} of them asked about again")
    trainer = Trainer(examples)
    measure(examples, trainer)
    weights = [round(float(weight), 4) for weight in trainer.fit(np.ones(len(examples)))]
    width = len(EDGE_FEATURES)
    of_edges = dict(zip(EDGE_FEATURES, weights[:width], strict=True))
    of_none = dict(zip(NONE_FEATURES, weights[width:], strict=True))
    WEIGHTS.write_text(json.dumps({"edge": of_edges, "none": of_none}, indent=2) + "\n")


if __name__ == "__main__":
    main()
