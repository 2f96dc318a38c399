"""Ranks the edges of a node by a small trained model, and says how probable each of them, or none, is meant. English."""

import json
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np

from offhook.models.providers.builtin.ranking.features import EDGE_FEATURES, NONE_FEATURES, TurnFeatures

WEIGHTS: Final = Path(__file__).with_name("weights.json")


class EdgeRanker:
    """A multinomial logistic model whose weights all edges share, trained by ``scripts/edge_ranking/train.py``."""

    def __init__(self, path: Path = WEIGHTS) -> None:
        stored = json.loads(path.read_text())
        self._of_edges = np.array([stored["edge"][name] for name in EDGE_FEATURES], dtype=np.float32)
        self._of_none = np.array([stored["none"][name] for name in NONE_FEATURES], dtype=np.float32)

    def probabilities(self, features: TurnFeatures) -> list[float]:
        """Returns the probability of each edge in their order, and at the end that of none of them; together 1."""
        scores = np.append(features.edges @ self._of_edges, features.none @ self._of_none)
        odds = np.exp(scores - scores.max())
        return [float(one) for one in odds / odds.sum()]


@cache
def shipped_ranker() -> EdgeRanker:
    """Returns the ranker of the package."""
    return EdgeRanker()
