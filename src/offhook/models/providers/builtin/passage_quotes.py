"""Answers from document passages by rules: the sentence with most of the question's words, or none. Pure."""

import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from offhook.models.providers.builtin.english.questions import ASKING_WORDS
from offhook.models.providers.builtin.english.words import content_stems, word_tokens

_ASKS: Final = re.compile(r"\?|\b(tell me|want to know|like to know|wondering|question|explain)\b", re.IGNORECASE)
# "Would you tell them the toilet keeps running" does not ask for anything in the documents.
_REQUESTS: Final = re.compile(
    r"^\W*(?:would|could|can|will) you (?:(?:please|just|maybe|kindly) )?(?:tell|let|ask|have|get|send|pass|leave|make|give) (?!me\b|us\b)",
    re.IGNORECASE,
)
_ENDS: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9“\"])")
_MAX_SENTENCE_CHARS: Final = 300
# The share of the question's weight that a sentence must have.
_MIN_SHARE: Final = 0.3
# A sentence that answers in other words is as near as this.
_MIN_NEARNESS: Final = 0.6
# One that shares some words, as near as this; of those that share few, as near as that.
_MIN_NEARNESS_OF_SHARED: Final = 0.25
_MIN_NEARNESS_OF_FEW: Final = 0.38
# With so many words in common, the meaning does not matter.
_SURE_SHARE: Final = 0.6
_NEARNESS_WEIGHT: Final = 0.6
# Stems that any question may have.
_SAY_NOTHING: Final = frozenset(content_stems("something anything everything nothing more much all put place back"))
# The weight of a word in the heading above a sentence, relative to a word of the sentence.
_HEADING_WEIGHT: Final = 0.6


def quote_passage(heard: str, passages: Sequence[str], nearness: Callable[[str], float] = lambda _: 0.0) -> str | None:
    """Returns the sentence that answers a question; None when it is not a question or no sentence does.

    ``nearness`` tells how near a sentence is to the question in meaning, from 0 to 1.
    """
    words = set(content_stems(heard)) - _SAY_NOTHING
    tokens = word_tokens(heard)
    is_question = bool(_ASKS.search(heard)) or (
        tokens[:1] != [] and tokens[0] in ASKING_WORDS and tokens[1:2] != ["not"] and not _REQUESTS.match(heard)
    )
    if not passages or not words or not is_question:
        return None
    found = list(dict.fromkeys(sentence for passage in passages for sentence in split_sentences(passage)))
    said = [(set(content_stems(sentence)) & words, set(content_stems(above)) & words) for sentence, above in found]
    common = Counter(word for own, above in said for word in own | above)
    weights = {word: math.log(1 + len(said) / common[word]) if common[word] else 1.0 for word in words}

    def score_sentence(own: set[str], above: set[str]) -> float:
        return sum(weights[word] for word in own) + _HEADING_WEIGHT * sum(weights[word] for word in above - own)

    shares = [score_sentence(own, above) / sum(weights.values()) for own, above in said]
    near = [nearness(sentence) for sentence, _ in found]
    best = max(
        range(len(found)),
        key=lambda index: (shares[index] + _NEARNESS_WEIGHT * near[index], -len(found[index][0]), -index),
        default=None,
    )
    if best is None or not _is_evidence(shares[best], near[best], is_compared=any(near)):
        return None
    chosen = found[best][0]
    return chosen if chosen.endswith((".", "!", "?")) else f"{chosen.rstrip(',;:')}."


def _is_evidence(share: float, near: float, *, is_compared: bool) -> bool:
    """Returns True for enough words in common, or near enough in meaning; few words count only where both agree."""
    if share >= _MIN_SHARE:
        return share >= _SURE_SHARE or near >= _MIN_NEARNESS_OF_SHARED or not is_compared
    return near >= (_MIN_NEARNESS if share == 0 else _MIN_NEARNESS_OF_FEW)


def split_sentences(passage: str) -> Iterator[tuple[str, str]]:
    """Yields every sentence with the heading above it."""
    above = before = ""
    for line in passage.split("\n"):
        is_head_of_table = "|" in line and "|" not in before
        before = line
        if is_head_of_table or _is_heading(line):
            above = line
            continue
        for sentence in _ENDS.split(line.strip().lstrip("-*• ")):
            spoken = sentence.replace("**", "").replace(" | ", ", ").strip(" |#")
            if len(spoken.split()) >= 2:
                yield spoken[:_MAX_SENTENCE_CHARS], above


def _is_heading(line: str) -> bool:
    words = line.split()
    return 0 < len(words) <= 6 and "|" not in line and not re.search(r"\d|[.!?:;,]$|^\s*[-*•]", line)
