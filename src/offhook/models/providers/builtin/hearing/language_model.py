"""Builds the language model of a step: whole sentences as callers say them, with the agent's own words boosted. Pure."""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from offhook.models.ports import Expectation
from offhook.models.providers.builtin.hearing.grammar import words_of
from offhook.models.providers.builtin.hearing.sized_cache import SizedCache

START: Final = "<s>"
END: Final = "</s>"
# How often a sentence counts: one of general telephone talk, a phrase of this step, one of the agent's prompts.
GENERAL_WEIGHT: Final = 1.0
PHRASE_WEIGHT: Final = 4.0
PROMPT_WEIGHT: Final = 0.3
# Share of the recognizer's own word frequencies in a word's frequency; the rest is how often our sentences have it.
COMMON_SHARE: Final = 0.5
# Of what a word's known successors may have in all: the rest is left for words that never followed it.
MAX_KNOWN_SHARE: Final = 0.98
MIN_PROBABILITY: Final = 1e-9
MAX_SENTENCE_WORDS: Final = 30
MAX_SENTENCES: Final = 1500
MAX_SENTENCE_CHARS: Final = 1000
# Of the agent. All callers share the recognizer, which would learn odd words of one organization for seconds.
MAX_OWN_WORDS: Final = 3000
# In an agent's sentences with all their variants: a model has no more trigrams than words.
MAX_WORDS_IN_ALL: Final = 50_000
# Room for the models of a hundred steps.
MAX_KEPT_CHARS: Final = 64_000_000

# Who says "on Tuesday" may say "on Friday": a sentence counts for each member of these.
_ALIKE: Final = (
    ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"),
    ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    ("morning", "afternoon", "evening"),
)
_MEMBERS: Final = {word: group for group in _ALIKE for word in group}

Words = tuple[str, ...]
Counts = dict[Words, float]
Probabilities = dict[str, float]


@dataclass(frozen=True, slots=True)
class LanguageModel:
    """Trigrams in ARPA format, their words and a name: equal expectations give equal models."""

    name: str
    arpa: str
    words: tuple[str, ...]


@cache
def _telephone_sentences() -> tuple[Words, ...]:
    text = (Path(__file__).with_name("telephone_sentences.txt")).read_text("utf-8")
    return tuple(tuple(words_of(line)) for line in text.splitlines() if line.strip())


class CommonWords:
    """The recognizer's commonest words with their probabilities."""

    def __init__(self, probabilities: Mapping[str, float]) -> None:
        total = sum(probabilities.values()) or 1.0
        self.shares = {word: value / total for word, value in probabilities.items()}


_kept: Final = SizedCache[tuple[Expectation, CommonWords, frozenset[str]], LanguageModel](MAX_KEPT_CHARS)


def build_language_model(expectation: Expectation, common: CommonWords, unknown: frozenset[str]) -> LanguageModel:
    """Returns the model of one step, cached or built in about 0.1 s. ``unknown``: words without a known pronunciation."""
    key = (expectation, common, unknown)
    model = _kept.find(key)
    if model is None:
        model = _build(expectation, common, unknown)
        own = sum(map(len, (*expectation.phrases, *expectation.sentences)))
        _kept.keep(key, model, own + len(model.arpa))
    return model


def _build(expectation: Expectation, common: CommonWords, unknown: frozenset[str]) -> LanguageModel:
    counts = _count_trigrams(_training_sentences(expectation), unknown)
    words = sorted(({word for gram in counts for word in gram} | common.shares.keys()) - unknown - {START, END})
    trigrams = _Trigrams(counts, words, common.shares)
    arpa = "\n".join(trigrams.arpa_lines()) + "\n"
    return LanguageModel(hashlib.sha256(arpa.encode()).hexdigest()[:16], arpa, tuple(words))


def vocabulary(expectation: Expectation) -> frozenset[str]:
    """Returns the words of the sentences from which a model is built."""
    return frozenset(word for sentence, _ in _training_sentences(expectation) for word in sentence)


def _training_sentences(expectation: Expectation) -> Iterator[tuple[Words, float]]:
    for words in _telephone_sentences():
        yield from _variants(words, GENERAL_WEIGHT)
    own: set[str] = set()
    count = 0
    for weight, texts in ((PHRASE_WEIGHT, expectation.phrases), (PROMPT_WEIGHT, expectation.sentences)):
        for text in texts[:MAX_SENTENCES]:
            words = tuple(words_of(text[:MAX_SENTENCE_CHARS])[:MAX_SENTENCE_WORDS])
            own.update(words)
            variants = list(_variants(words, weight))
            count += len(words) * len(variants)
            if len(own) > MAX_OWN_WORDS or count > MAX_WORDS_IN_ALL:
                return
            yield from variants


def _variants(words: Words, weight: float) -> Iterator[tuple[Words, float]]:
    """Yields the sentence with every other day, number or part of the day in its place; the weight is shared."""
    groups = {_MEMBERS[word] for word in words if word in _MEMBERS}
    size = max((len(group) for group in groups), default=1)
    for step in range(size):
        yield tuple(_rotated(word, step) for word in words), weight / size


def _rotated(word: str, step: int) -> str:
    group = _MEMBERS.get(word)
    return word if group is None else group[(group.index(word) + step) % len(group)]


def _count_trigrams(sentences: Iterable[tuple[Words, float]], unknown: frozenset[str]) -> Counts:
    """Counts trigrams; a sentence begins with two starts."""
    counts: Counts = defaultdict(float)
    for sentence, weight in sentences:
        if not sentence or not unknown.isdisjoint(sentence):
            continue
        padded = (START, START, *sentence, END)
        for at in range(2, len(padded)):
            counts[padded[at - 2 : at + 1]] += weight
    return counts


class _Trigrams:
    """Interpolated by Witten and Bell: a history that was followed by many different words trusts itself less."""

    def __init__(self, counts: Counts, words: Sequence[str], common: Mapping[str, float]) -> None:
        singles: Probabilities = defaultdict(float)
        pairs: dict[str, Probabilities] = defaultdict(lambda: defaultdict(float))
        triples: dict[tuple[str, str], Probabilities] = defaultdict(lambda: defaultdict(float))
        for (first, second, third), count in counts.items():
            singles[third] += count
            pairs[second][third] += count
            if second != START:
                triples[first, second][third] += count
        total = sum(singles.values()) or 1.0
        self._words = words
        self._one = {
            word: (1 - COMMON_SHARE) * singles[word] / total + COMMON_SHARE * common.get(word, MIN_PROBABILITY)
            for word in (*words, END)
        }
        self._two = {last: _interpolate(found, self._one) for last, found in pairs.items()}
        self._left_two = {last: _left_over(known, self._one) for last, known in self._two.items()}
        self._three: dict[tuple[str, str], Probabilities] = {}
        self._left_three: dict[tuple[str, str], float] = {}
        for history, found in triples.items():
            shorter = self._two[history[1]]
            self._three[history] = _interpolate(found, shorter)
            self._left_three[history] = _left_over(self._three[history], shorter)

    def arpa_lines(self) -> Iterator[str]:
        sizes = (len(self._words) + 2, *(sum(map(len, grams.values())) for grams in (self._two, self._three)))
        yield "\\data\\"
        yield from (f"ngram {order}={size}" for order, size in enumerate(sizes, 1))
        yield "\n\\1-grams:"
        yield f"-99.0 {START} {_log(self._left_two.get(START, 1.0))}"
        yield f"{_log(self._one[END])} {END} 0.0"
        yield from (f"{_log(self._one[word])} {word} {_log(self._left_two.get(word, 1.0))}" for word in self._words)
        yield "\n\\2-grams:"
        for last, known in sorted(self._two.items()):
            for word, value in sorted(known.items()):
                yield f"{_log(value)} {last} {word} {_log(self._left_three.get((last, word), 1.0))}"
        yield "\n\\3-grams:"
        for (first, second), known in sorted(self._three.items()):
            yield from (f"{_log(value)} {first} {second} {word}" for word, value in sorted(known.items()))
        yield "\n\\end\\"


def _interpolate(found: Mapping[str, float], shorter: Mapping[str, float]) -> Probabilities:
    seen, kinds = sum(found.values()), len(found)
    known = {word: (count + kinds * shorter[word]) / (seen + kinds) for word, count in found.items()}
    share = sum(known.values())
    return known if share <= MAX_KNOWN_SHARE else {word: p * MAX_KNOWN_SHARE / share for word, p in known.items()}


def _left_over(known: Mapping[str, float], shorter: Mapping[str, float]) -> float:
    """Returns the weight by which the shorter history's probabilities count for words that never followed."""
    return (1 - sum(known.values())) / max(1 - sum(shorter[word] for word in known), 1e-4)


def _log(value: float) -> str:
    return f"{math.log10(max(value, MIN_PROBABILITY)):.4f}"
