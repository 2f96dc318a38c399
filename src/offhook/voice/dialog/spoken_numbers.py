"""Numbers, months and days as callers say them in languages other than English, read from ``spoken_values.json``. Pure.

The numbers up to 99 are those of num2words 0.5.14 and, for Hindi, of CLDR's rules (``rbnf/hi.xml``); the months are
CLDR's. Forms that are only spoken ("zwo", "meia", "septante"), digits of English in Hindi, and all other words are ours.
"""

import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Final

# A value is at the end of what was said.
MAX_CHARS: Final = 600
_UNSPACED: Final = frozenset({"zh", "ja"})
# Vowel signs of Devanagari are no letters to Python.
_TOKEN: Final = re.compile("\\d+|(?:[^\\W\\d_]|[\u0900-\u0903\u093a-\u0963])+")
# Accents, Arabic vowels and hamzas, and the dot below letters of Hindi are written or not, as the recognizer likes.
_MARKS: Final = re.compile("[\u0300-\u036f\u0640\u064b-\u065f\u0670\u093c]")
_ALIKE: Final = str.maketrans({"\u0629": "\u0647", "\u0649": "\u064a", "\u0901": "\u0902"})


def is_unspaced(language: str) -> bool:
    return language in _UNSPACED


class Part(Enum):
    """What a word or phrase of a caller is."""

    DIGITS = "digits"
    NUMBER = "number"
    HUNDRED = "hundred"
    THOUSAND = "thousand"
    REPEAT = "repeat"
    BETWEEN = "between"
    MONTH = "month"
    ORDINAL = "ordinal"
    CLOSING = "closing"
    DATE_END = "date_end"
    WORD = "word"


SPOKEN_NUMBER: Final = frozenset({Part.DIGITS, Part.NUMBER, Part.HUNDRED, Part.THOUSAND})
_IN_NUMBER: Final = SPOKEN_NUMBER | {Part.REPEAT, Part.BETWEEN}


@dataclass(frozen=True, slots=True)
class Piece:
    """``value``: of a number word, and how often what follows a "double" is repeated."""

    part: Part
    text: str
    value: int = 0


def fold(text: str) -> str:
    """Returns a text in lower case without what recognizers write in several ways: accents, digits of other scripts."""
    plain = unicodedata.normalize("NFC", _MARKS.sub("", unicodedata.normalize("NFKD", text.casefold())))
    plain = plain.translate(_ALIKE)
    return "".join(str(unicodedata.digit(each)) if each.isdecimal() and not each.isascii() else each for each in plain)


class SpokenNumbers:
    """The number words of one language."""

    def __init__(self, language: str, words: Mapping[str, Any]) -> None:
        self.language, self.words = language, words
        self._is_unspaced = is_unspaced(language)
        self._prefix = str(words.get("prefix", ""))
        compounds = "|".join(map(re.escape, words.get("compounds", ())))
        self._compounds = re.compile(f"({compounds})") if compounds else None

    @cached_property
    def _phrases(self) -> dict[tuple[str, ...], tuple[Part, int]]:
        found: dict[tuple[str, ...], tuple[Part, int]] = {}
        for part, phrase, value in _entries(self.words):
            found[tuple(self._split(fold(phrase)))] = (part, value)
        return found

    @cached_property
    def _sizes(self) -> dict[str, list[int]]:
        """Returns how long the phrases are that begin with a word, longest first."""
        sizes: dict[str, set[int]] = {}
        for phrase in self._phrases:
            sizes.setdefault(phrase[0], set()).add(len(phrase))
        return {word: sorted(found, reverse=True) for word, found in sizes.items()}

    def read(self, text: str) -> list[Piece]:
        """Returns the last words of a text, with phrases such as "treinta y cinco" as one."""
        tokens, pieces, at = list(self._split(fold(text[-MAX_CHARS:]))), list[Piece](), 0
        while at < len(tokens):
            sizes = self._sizes.get(tokens[at], ())
            size = next((size for size in sizes if tuple(tokens[at : at + size]) in self._phrases), 0)
            words = tokens[at : at + (size or 1)]
            part, value = self._phrases[tuple(words)] if size else (Part.WORD, 0)
            pieces.append(Piece(Part.DIGITS if words[0].isdigit() else part, " ".join(words), value))
            at += len(words)
        return pieces

    def _split(self, folded: str) -> Iterator[str]:
        for token in _TOKEN.findall(folded):
            if token.isdigit():
                yield token
            elif self._is_unspaced:
                yield from token
            elif self._compounds is not None:
                yield from filter(None, map(self._without_prefix, self._compounds.split(token)))
            else:
                yield from self._split_prefix(token)

    def _without_prefix(self, token: str) -> str:
        # "hundertundeins"
        return token.removeprefix(self._prefix) if token != self._prefix else token

    def _split_prefix(self, token: str) -> Iterable[str]:
        """Returns the Arabic "and" as a word of its own, where the rest is a word of numbers."""
        rest = token.removeprefix(self._prefix)
        if rest and rest != token and rest in self._single_words and token not in self._single_words:
            return self._prefix, rest
        return (token,)

    @cached_property
    def _single_words(self) -> frozenset[str]:
        return frozenset(word for _, phrase, _ in _entries(self.words) for word in fold(phrase).split())


def last_number(pieces: Sequence[Piece], *, with_ordinals: bool = False) -> str:
    """Returns the digits with which a text ends, also when the next group has only been announced."""
    parts = _IN_NUMBER | {Part.ORDINAL} if with_ordinals else _IN_NUMBER
    begins_at = len(pieces)
    while begins_at and pieces[begins_at - 1].part in parts:
        begins_at -= 1
    return "".join(_groups(pieces[begins_at:]))


def _groups(run: Sequence[Piece]) -> Iterator[str]:
    """Yields the digits of a run of number words, one group for each number: 7, 2, 1985."""
    current: int | None = None
    repeat = 1
    for piece in run:
        if piece.part is Part.BETWEEN:
            continue
        if piece.part is Part.REPEAT:
            repeat = piece.value
            continue
        joined = None if current is None or piece.part is Part.DIGITS else _join(current, piece)
        if joined is not None:
            current = joined
            continue
        if current is not None:
            yield str(current)
        current = None
        if piece.part is Part.DIGITS:
            yield piece.text * (repeat if len(piece.text) == 1 else 1)
        elif repeat > 1:
            yield str(piece.value) * repeat
        else:
            current = piece.value
        repeat = 1
    if current is not None:
        yield str(current)


def _join(current: int, piece: Piece) -> int | None:
    """Returns the number that goes on with a word: 700 and 25, 19 and hundred, 2 and thousand; None for a new one."""
    rest = current % 1000
    if piece.part is Part.THOUSAND:
        return current * 1000 if 1 <= current <= 99 and piece.value == 1000 else None
    if piece.part is Part.HUNDRED:
        if 1 <= current <= 99:
            return current * 100
        return current - rest + rest * 100 if current >= 1000 and 1 <= rest <= 9 else None
    if not piece.value or current < 100:
        return None
    room = 1000 if rest == 0 and current >= 1000 else 100 if current % 100 == 0 else 0
    return current + piece.value if piece.value < room else None


def _entries(words: Mapping[str, Any]) -> Iterator[tuple[Part, str, int]]:
    """Yields every phrase of a language with what it is; later ones win."""
    for part, name in ((Part.BETWEEN, "between"), (Part.CLOSING, "closing"), (Part.DATE_END, "date_end")):
        yield from ((part, phrase, 0) for phrase in words.get(name, ()))
    for value, phrases in enumerate(words["ordinals"], 1):
        yield from ((Part.ORDINAL, phrase, value) for phrase in phrases.split("|"))
    for phrases in words["months"]:
        yield from ((Part.MONTH, phrase, 0) for phrase in phrases.split("|"))
    for value, phrases in enumerate(words["numbers"]):
        yield from ((Part.NUMBER, phrase, value) for phrase in phrases.split("|"))
    for value, phrases in enumerate(words["hundreds"], 1):
        yield from ((Part.NUMBER, phrase, value * 100) for phrase in phrases.split("|"))
    yield from ((Part.HUNDRED, phrase, 100) for phrase in words["hundred"])
    for phrase in words["thousand"]:
        word, _, times = phrase.partition("=")
        yield Part.THOUSAND, word, int(times or 1) * 1000
    yield from ((Part.REPEAT, phrase, times) for phrase, times in words["repeats"].items())


@cache
def numbers_of(language: str) -> SpokenNumbers | None:
    """Returns the number words of a language without region; None for English and where there are none."""
    words = words_of_values().get(language)
    return SpokenNumbers(language, words) if words is not None else None


@cache
def words_of_values() -> dict[str, dict[str, Any]]:
    """Returns the words for values that callers and agents use, by language; see the data file."""
    loaded: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "spoken_values.json").read_text("utf-8"))
    return loaded
