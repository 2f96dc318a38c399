"""Puts commas into what a recognizer wrote without punctuation, as the browser's and the offline one do. Pure.

A logistic regression over the words around each gap, trained by ``scripts/punctuation/train.py``.
"""

import math
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

import numpy as np

from offhook.models.providers.builtin.english.spoken_values import WEEKDAYS

WEIGHTS: Final = Path(__file__).with_name("punctuation.npz")
# A boundary is set where it is this likely: chosen on the corpora without their punctuation.
MIN_PROBABILITY: Final = 0.6
_MIN_SCORE: Final = math.log(MIN_PROBABILITY / (1 - MIN_PROBABILITY))
# Shorter utterances are one clause.
MIN_WORDS: Final = 4
_WORD: Final = re.compile(r"[^\s,.;!?…—]+")
_HAS_PUNCTUATION: Final = re.compile(r"[,.;!?…—](?=\s|$)|\s-\s")
_NO_AND_CLAUSE: Final = re.compile(
    r"^(\W*(?:(?:no|nope|nah)\s)*(?:no|nope|nah))\s+(?=(?:it|i|we|he|she|they|this)\b)", re.IGNORECASE
)
_TOLD: Final = frozenset({"me", "us", "him", "her", "them", "you"})
_SUBJECTS: Final = frozenset({"i", "we", "he", "she", "they", "my", "our"})
_REPORTS: Final = frozenset(
    {
        "say",
        "says",
        "said",
        "saying",
        "tell",
        "tells",
        "told",
        "telling",
        "think",
        "thinks",
        "thought",
        "know",
        "knows",
        "hope",
        "insists",
        "reckons",
    }
)
_START: Final = "<s>"
_END: Final = "</s>"


@lru_cache(maxsize=512)
def punctuate(text: str) -> str:
    """Returns a text with commas between its clauses; where it has punctuation, or is short, only behind a no with which it
    begins: "no it can wait" has nearly the words of "it can't wait"."""
    return _NO_AND_CLAUSE.sub(r"\1, ", _punctuate_clauses(text))


def _punctuate_clauses(text: str) -> str:
    if _HAS_PUNCTUATION.search(text):
        return text
    words = list(_WORD.finditer(text))
    if len(words) < MIN_WORDS:
        return text
    spoken = [word.group().lower().replace("\u2019", "'") for word in words]
    weights, bias = _load_weights()
    parts, start = [], 0
    for at in range(len(words) - 1):
        score = bias + sum(weights.get(feature, 0.0) for feature in gap_features(spoken, at))
        if score >= _MIN_SCORE and not _leads_on(spoken[: at + 1], spoken[at + 1]):
            parts.append(text[start : words[at].end()])
            start = words[at + 1].start()
    return ", ".join([*parts, text[start:]])


def _leads_on(words: list[str], following: str) -> bool:
    """Returns True for what a clause follows that belongs to it: "my husband tells me", and "Monday" before "I'm away"."""
    if len(words) == 1 and words[0] in WEEKDAYS:
        return following.partition("'")[0] in _SUBJECTS
    said = words[-2:-1] if words[-1] in _TOLD else words[-1:]
    return bool(said) and said[0] in _REPORTS


def gap_features(words: list[str], at: int) -> list[str]:
    """Returns the features of the gap behind ``words[at]``: the words around it, and its distance from both ends."""
    around = [
        words[index] if 0 <= index < len(words) else (_START if index < 0 else _END) for index in range(at - 2, at + 4)
    ]
    a, b, c, d, e, f = around
    return [
        f"c:{c}",
        f"d:{d}",
        f"b:{b}",
        f"e:{e}",
        f"cd:{c} {d}",
        f"bc:{b} {c}",
        f"de:{d} {e}",
        f"abc:{a} {b} {c}",
        f"bcd:{b} {c} {d}",
        f"cde:{c} {d} {e}",
        f"def:{d} {e} {f}",
        f"p:{min(at, 5)}",
        f"r:{min(len(words) - 2 - at, 5)}",
    ]


@cache
def _load_weights() -> tuple[dict[str, float], float]:
    """Returns the weight of each feature, and the bias; read in 10 ms with the first utterance that needs them."""
    with np.load(WEIGHTS) as stored:
        features = bytes(stored["features"]).decode().split("\n")
        return dict(zip(features, stored["weights"].astype(float).tolist(), strict=True)), float(stored["bias"])
