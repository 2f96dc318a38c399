"""Chooses among edges without examples by what the caller talks about. Pure."""

from collections.abc import Sequence
from typing import Final

from offhook.models.ports import EdgeHint
from offhook.models.providers.builtin.english.overlap import NEGATIONS
from offhook.models.providers.builtin.english.words import CONDITION_STOP, content_stems
from offhook.models.providers.builtin.meaning import SentenceMeaning

MIN_TOPIC_WORDS: Final = 2
# Chosen on the first eight of tests/data/plain_agents.
SAME_TOPIC: Final = 0.22
# Where there is an edge for everything else.
SURELY_SAME_TOPIC: Final = 0.4
MIN_LEAD: Final = 0.06
# What a label that was said word by word counts for, beside the nearness in meaning.
MAX_SHARED: Final = 0.5


def choose_topic(text: str, edges: Sequence[EdgeHint], meaning: SentenceMeaning, *, is_open: bool) -> EdgeHint | None:
    """Returns the edge whose label or condition is nearest to what is talked about; None when none or two are near.

    A negation says nothing here: "my laptop does not turn on" is about a broken device. Where an author gave examples,
    those say what callers mean, and nothing is chosen. ``is_open``: there is another edge for everything else.
    """
    topic = [word for word in content_stems(text) if word not in NEGATIONS]
    if len(topic) < MIN_TOPIC_WORDS or not edges or any(edge.examples for edge in edges):
        return None
    scores = {
        at: max(meaning.nearest(text, (edge.label, edge.condition)), _shared_topic(topic, edge))
        for at, edge in enumerate(edges)
    }
    best, *others = sorted(scores, key=lambda at: -scores[at])
    if scores[best] < (SURELY_SAME_TOPIC if is_open else SAME_TOPIC):
        return None
    return None if others and scores[best] - scores[others[0]] < MIN_LEAD else edges[best]


def _shared_topic(topic: Sequence[str], edge: EdgeHint) -> float:
    """Returns which share of the words of a label or a condition was said, at most ``MAX_SHARED``."""
    shares = [
        len(set(words) & set(topic)) / len(set(words))
        for words in (content_stems(edge.label), content_stems(edge.condition, extra_stop=CONDITION_STOP))
        if words
    ]
    return MAX_SHARED * max(shares, default=0.0)
