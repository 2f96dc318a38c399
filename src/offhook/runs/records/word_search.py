"""Search for words in texts that only their readers can decrypt: words of a text, and queries over tokens of them. Pure."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from offhook.kit.unicode_forms import normalize_text

# Words with what joins them: "o'brien", "e-mail", "3.50", "ann@example.com".
_COMPOUND: Final = re.compile(r"\w+(?:[-'.@/:+]\w+)*")
_APOSTROPHE: Final = "\N{RIGHT SINGLE QUOTATION MARK}"
_WORD: Final = re.compile(r"\w+")
_QUERY_PART: Final = re.compile(r'(-?)(?:"([^"]*)"?|(\S+))')
# Longer ones are no words that somebody looks for.
_MAX_WORD_CHARS: Final = 200

# Where something begins and ends in a text, in characters.
WordPlace = tuple[int, int]


def split_words(text: str) -> list[str]:
    """Returns the words of a text in order, in lower case; what is joined ("e-mail") as its parts."""
    return _WORD.findall(_normalize(text))


def list_index_words(text: str) -> set[str]:
    """Returns the words that a text is found by: all parts, and what is joined as a whole too."""
    normalized = _normalize(text)
    found = {*_COMPOUND.findall(normalized), *_WORD.findall(normalized)}
    return {word for word in found if len(word) <= _MAX_WORD_CHARS}


def _normalize(text: str) -> str:
    return normalize_text("NFC", text).replace(_APOSTROPHE, "'").lower()


@dataclass(frozen=True, slots=True)
class Term:
    """One word or, with several, a phrase, which a text must have, or must not have."""

    words: tuple[str, ...]
    is_negative: bool

    @property
    def is_phrase(self) -> bool:
        return len(self.words) > 1

    @property
    def parts(self) -> tuple[str, ...]:
        """Returns its words, with what is joined ("e-mail") as its parts."""
        return tuple(part for word in self.words for part in _WORD.findall(word))

    def is_in(self, words: set[str], sequence: Sequence[str]) -> bool:
        if not self.is_phrase:
            return self.words[0] in words
        return any(self.positions_in(sequence))

    def positions_in(self, sequence: Sequence[str]) -> Iterator[range]:
        """Yields where these words, of :func:`split_words`, are in a row."""
        parts = self.parts
        for at in range(len(sequence) - len(parts) + 1):
            if tuple(sequence[at : at + len(parts)]) == parts:
                yield range(at, at + len(parts))


@dataclass(frozen=True, slots=True)
class WordQuery:
    """Alternatives, of which one must hold; each is a list of terms that must all hold. Without alternatives, every text
    matches."""

    alternatives: tuple[tuple[Term, ...], ...]

    @property
    def has_phrases(self) -> bool:
        """Returns whether the order of words matters, which tokens do not show."""
        return any(term.is_phrase for terms in self.alternatives for term in terms)

    def matches(self, text: str) -> bool:
        words, sequence = list_index_words(text), split_words(text)
        return not self.alternatives or any(
            all(term.is_in(words, sequence) is not term.is_negative for term in terms) for terms in self.alternatives
        )

    def list_wanted_terms(self) -> list[Term]:
        """Returns what a text that matches has, or has of one alternative."""
        return [term for terms in self.alternatives for term in terms if not term.is_negative]

    def format_tsquery(self, hash_word: Callable[[str], str], marker: str) -> str:
        """Returns the query for PostgreSQL over tokens, of texts with this lexeme. It finds all that match, and with
        phrases more."""
        alternatives = []
        for terms in self.alternatives:
            parts = list(_format_terms(terms, hash_word))
            if not parts:
                return f"'{marker}'"
            alternatives.append(f"({' & '.join(parts)})")
        return f"'{marker}' & ({' | '.join(alternatives)})" if alternatives else f"'{marker}'"


def _format_terms(terms: Iterable[Term], hash_word: Callable[[str], str]) -> Iterator[str]:
    for term in terms:
        if not term.is_negative:
            yield from (f"'{hash_word(word)}'" for word in term.words)
        elif not term.is_phrase:
            yield f"!'{hash_word(term.words[0])}'"


def find_places(text: str, terms: Iterable[Term]) -> dict[Term, list[WordPlace]]:
    """Returns where each of these terms that is in ``text``, of composed characters, is there."""
    found = list(_WORD.finditer(text.replace(_APOSTROPHE, "'")))
    sequence = [match[0].lower() for match in found]
    places = {
        term: [(found[at.start].start(), found[at.stop - 1].end()) for at in term.positions_in(sequence)]
        for term in terms
    }
    return {term: among for term, among in places.items() if among}


def parse_query(text: str) -> WordQuery:
    """Parses a query as PostgreSQL's websearch_to_tsquery reads it: ``"in quotes"`` for a phrase, ``or`` between
    alternatives, ``-word`` for what must not be there. Nothing is invalid."""
    alternatives: list[list[Term]] = [[]]
    parts = _QUERY_PART.findall(text)
    is_after_term = False
    for number, (minus, phrase, word) in enumerate(parts, 1):
        # At the beginning, at the end and after another one it is a word.
        is_operator = word.lower() == "or" and not minus and is_after_term and number < len(parts)
        is_after_term = not is_operator
        if is_operator:
            alternatives.append([])
            continue
        words = tuple(_COMPOUND.findall(_normalize(word or phrase)))
        if words:
            alternatives[-1].append(Term(words, bool(minus)))
    return WordQuery(tuple(tuple(terms) for terms in alternatives if terms))
