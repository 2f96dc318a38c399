"""Edges whose own words a caller denies: "no, we don't rent" where a no means to rent. Pure."""

import re
from collections.abc import Iterator
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.edge_polarity import edge_polarity
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.polarity import polarity_of
from offhook.models.providers.builtin.english.words import content_stems, essential_tokens, word_tokens

_CLAUSE: Final = re.compile(r"[,.;!?\u2026]+|\b(?:but|and|because|so|only)\b", re.IGNORECASE)
_DENIES: Final = re.compile(
    r"\b(?:(?:am|are|is|do|does|will|would) not|(?<!did )(?<!was )(?<!were )(?<!have )(?<!has )not|no longer)\b(?! (?:sure|only|just|bad|too|so|very|that|really sure)\b)"
)
_ADVERBS: Final = frozenset({"still", "definitely", "certainly", "really", "absolutely", "sure", "surely"})
# So far reaches a "not".
_MAX_WORDS: Final = 5


def is_denied(heard: str, edge: EdgeHint) -> bool:
    """Returns True where a clause denies the words of an edge, and no other one says them."""
    denied, said = [], []
    for clause in _CLAUSE.split(heard):
        words = " ".join(word_tokens(clause))
        match = _DENIES.search(words)
        rest = words[match.end() :].split()[:_MAX_WORDS] if match is not None else []
        if match is not None and not NEGATIONS & set(content_stems(" ".join(rest))) - {"no"}:
            denied.append(set(content_stems(" ".join(rest))))
            said.append(set(content_stems(words[: match.start()])))
        else:
            said.append(set(content_stems(words)))
    if edge_polarity(edge) != "no" and any(words - NEGATIONS for words in said):
        # "I don't want to cancel, I just need a different day": of an edge with several matters, one is denied
        return False
    phrases = list(_affirmed_phrases(edge))
    is_said = any(phrase <= words for phrase in phrases for words in said)
    return not is_said and any(phrase <= words for phrase in phrases for words in denied)


def says_phrase_of(heard: str, edge: EdgeHint) -> bool:
    """Returns True where a later clause is an example of an edge, and no yes or no: "no, no, I'm still coming"."""
    written = {_without_adverbs(example) for example in edge.examples if polarity_of(example) is None}
    clauses = [_without_adverbs(clause) for clause in _CLAUSE.split(heard)[1:]]
    return any(clause in written for clause in clauses if clause)


def _without_adverbs(text: str) -> tuple[str, ...]:
    return tuple(word for word in essential_tokens(text) if word not in _ADVERBS)


def _affirmed_phrases(edge: EdgeHint) -> Iterator[set[str]]:
    for phrase in (edge.label, *edge.examples):
        stems = set(content_stems(phrase))
        if stems and not stems & NEGATIONS:
            yield stems
