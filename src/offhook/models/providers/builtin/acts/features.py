"""The words by which the classifier of acts knows a sentence. Pure; the same in training and in a call."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

_WORD: Final = re.compile(r"[a-z]+(?:'[a-z]+)?|\d")
_CLAUSE: Final = re.compile(r"[.?!;,]+")
_EDGE_WORDS: Final = 3


def text_features(text: str) -> set[str]:
    """Returns a text's words, pairs and triples of them, and those that begin and end it."""
    lowered = text.lower().replace("\u2019", "'")
    return set(_features(lowered))


def _features(text: str) -> Iterator[str]:
    words = ["9" if word.isdigit() else word for word in _WORD.findall(text)]
    yield from words
    framed = ["^", *words, "$"]
    yield from (" ".join(pair) for pair in pairwise(framed))
    yield from (" ".join(framed[at : at + 3]) for at in range(len(framed) - 2))
    yield from (f"<{word}" for word in words[:_EDGE_WORDS])
    yield from (f"{word}>" for word in words[-_EDGE_WORDS:])
    if text.rstrip().endswith("?"):
        yield "?$"
    elif "?" in text:
        yield "?"
    clauses = [clause for clause in _CLAUSE.split(text) if clause.strip()]
    if clauses:
        yield f"|{' '.join(_WORD.findall(clauses[-1])[:2])}"
    yield f"#{min(len(words), 12) // 3}"
