"""Finds the names of a list in texts, however they are written or spelled. Pure."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from offhook.kit.redaction.everyday_words import EVERYDAY_WORDS
from offhook.kit.unicode_forms import normalize_text

_WORD: Final = re.compile(r"(?:[^\W\d_][\u0300-\u036f]*)+")
# Between the words of a name; no more than two of them, so that names do not reach over a sentence.
_JOINT: Final = re.compile(r"[\s\u00a0.,_'\u2019\u2010-\u2015-]{0,3}")
# Between the parts of one word: "Anna-Marie", "O'Brien".
_INNER: Final = re.compile(r"['\u2019\u2010-\u2015-]")
_MAX_WORDS: Final = 10
_LETTERS: Final = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "æ": "ae", "œ": "oe", "þ": "th", "\u0131": "i"}
)
_DIGRAPHS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "å": "aa", "ø": "oe"})
_AS_IN: Final = re.compile(r"[\s,]*(?:as in|for|like|is for)\s+[^\W\d_]+", re.IGNORECASE)
_SPELLED_JOINT: Final = re.compile(r"(?:[\s.,-]|\bcapital\b|\bthen\b|\band\b|\buh\b)*", re.IGNORECASE)
_DOUBLE: Final = re.compile(r"double[\s-]+(?=[^\W\d_]\b)", re.IGNORECASE)
_SENTENCE_START: Final = re.compile(r"[.!?\n][\s\"'\u201c(]*$")
_BEFORE_TIME: Final = re.compile(r"\b(?:in|on|by|until|till|since|next|last|this|early|late|mid|of)\s+$", re.IGNORECASE)
_AFTER_TIME: Final = re.compile(r"\s+(?:[0-9]|the\b|first|second|third|\w+th\b)", re.IGNORECASE)
# How far before a word is looked.
_NEAR: Final = 24
_MIN_SPELLED: Final = 3


@dataclass(frozen=True, slots=True)
class SpelledWord:
    """Letters said one by one; ``places`` has the start and end of each, two letters of "double L" in one."""

    letters: str
    places: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        return self.places[0][0]

    @property
    def end(self) -> int:
        return self.places[-1][1]


class NameList:
    """Names, of which each is found as a whole: without regard to case and accents, with any hyphens, spelled, and with
    the last name first. One that is also an everyday word ("Will") counts only where its case tells."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        # The letters of each name, with the places where a space may be.
        self._keys: dict[str, list[frozenset[int]]] = {}
        self._prefixes: set[str] = set()
        self._spelled: set[str] = set()
        self._spelled_prefixes: set[str] = set()
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Adds a name of one or more words."""
        parts = [word[0] for word in _WORD.finditer(name)]
        if not parts:
            return
        orders = [parts] if len(parts) == 1 else [parts, [parts[-1], *parts[:-1]]]
        for order in orders:
            for forms in zip(*(_fold_twice(part) for part in order), strict=True):
                self._add_key(forms)

    def find(self, text: str) -> list[tuple[int, int]]:
        """Returns the places of names, in order and without overlaps."""
        if not self._keys:
            return []
        words = list(_WORD.finditer(text))
        found: list[tuple[int, int]] = []
        index = 0
        while index < len(words):
            place = self._match(text, words, index)
            if place is None:
                index += 1
                continue
            found.append(place)
            while index < len(words) and words[index].start() < place[1]:
                index += 1
        for spelled in read_spelled_words(text):
            found += [place for place in self._match_spelled(spelled) if not _overlaps(place, found)]
        return sorted(found)

    def _add_key(self, forms: Sequence[str]) -> None:
        key, spaces = "".join(forms), set[int]()
        for form in forms[:-1]:
            spaces.add(max(spaces, default=0) + len(form))
        if (places := frozenset(spaces)) not in self._keys.setdefault(key, []):
            self._keys[key].append(places)
        self._prefixes.update(key[:length] for length in range(1, len(key) + 1))
        for part in (key, *forms):
            if len(part) >= _MIN_SPELLED and part not in self._spelled:
                self._spelled.add(part)
                self._spelled_prefixes.update(part[:length] for length in range(1, len(part) + 1))

    def _match(self, text: str, words: Sequence[re.Match[str]], index: int) -> tuple[int, int] | None:
        """Returns the longest name that begins at a word."""
        states: list[tuple[str, frozenset[int]]] = [("", frozenset())]
        best: tuple[int, int] | None = None
        for at in range(index, min(index + _MAX_WORDS, len(words))):
            word = words[at]
            gap = text[words[at - 1].end() : word.start()] if at > index else ""
            if at > index and not _JOINT.fullmatch(gap):
                break
            is_space = at > index and not _INNER.fullmatch(gap)
            forms = _fold_both(word[0])
            going_on = [
                (letters + form, spaces | {len(letters)} if is_space else spaces)
                for letters, spaces in states
                for form in forms
                if letters + form in self._prefixes
            ]
            states = going_on or self._match_plural(word, states)
            for letters, spaces in states:
                is_whole = any(spaces <= allowed for allowed in self._keys.get(letters, ()))
                if is_whole and (at > index or _is_name_here(text, word, letters)):
                    best = (words[index].start(), word.end() if going_on else word.end() - 1)
            if not states:
                break
        return best

    def _match_plural(
        self, word: re.Match[str], states: Sequence[tuple[str, frozenset[int]]]
    ) -> list[tuple[str, frozenset[int]]]:
        """Recognizers write "Annas" for "Anna's"."""
        if not word[0][0].isupper() or not word[0].endswith("s"):
            return []
        forms = _fold_both(word[0][:-1])
        return [
            (letters + form, spaces) for letters, spaces in states for form in forms if letters + form in self._keys
        ]

    def _match_spelled(self, spelled: SpelledWord) -> list[tuple[int, int]]:
        found: list[tuple[int, int]] = []
        begin = 0
        while begin < len(spelled.letters):
            end, longest = begin + 1, 0
            while end <= len(spelled.letters) and spelled.letters[begin:end] in self._spelled_prefixes:
                longest = end if spelled.letters[begin:end] in self._spelled else longest
                end += 1
            if longest:
                found.append((spelled.places[begin][0], spelled.places[longest - 1][1]))
            begin = max(longest, begin + 1)
        return found


def read_spelled_words(text: str) -> list[SpelledWord]:
    """Returns groups of three letters or more that are said one by one: "S-M-I-T-H", "s as in sam, m, i, double t"."""
    found: list[SpelledWord] = []
    letters: list[str] = []
    places: list[tuple[int, int]] = []

    def close() -> None:
        if len(letters) >= _MIN_SPELLED:
            found.append(SpelledWord("".join(letters), tuple(places)))
        letters.clear()
        places.clear()

    end = -1
    for word in _WORD.finditer(text):
        if word.start() < end:
            continue
        folded = _fold(word[0])
        is_rest = word.start() > 0 and text[word.start() - 1] in "'\u2019"
        is_letter = (
            len(folded) == 1
            and not is_rest
            and text[word.end() : word.end() + 2].lower() not in {"'m", "'d", "'l", "'v"}
        )
        double = _DOUBLE.match(text, word.start())
        if double is not None:
            if places and not _SPELLED_JOINT.fullmatch(text, places[-1][1], double.start()):
                close()
            letters += [_fold(text[double.end()])] * 2
            end = double.end() + 1
            places += [(double.start(), end)] * 2
        elif is_letter:
            if places and not _SPELLED_JOINT.fullmatch(text, places[-1][1], word.start()):
                close()
            explained = _AS_IN.match(text, word.end())
            end = explained.end() if explained else word.end()
            letters.append(folded)
            places.append((word.start(), end))
    close()
    return found


def find_words(text: str, start: int = 0) -> Iterable[re.Match[str]]:
    """Yields the words of a text: letters with their accents."""
    return _WORD.finditer(text, start)


def is_everyday_word(word: str) -> bool:
    return _fold(word) in EVERYDAY_WORDS


def _is_name_here(text: str, word: re.Match[str], letters: str) -> bool:
    """Returns whether one word is a name where it stands."""
    if len(letters) > 2 and letters not in EVERYDAY_WORDS:
        return True
    if not word[0][0].isupper() or text.isupper():
        return False
    if letters not in EVERYDAY_WORDS:
        return True
    if text[word.end() : word.end() + 2] in {"'s", "\u2019s"}:
        return True
    before = text[max(0, word.start() - _NEAR) : word.start()]
    is_first = _SENTENCE_START.search(before) is not None or (word.start() < _NEAR and not _WORD.search(before))
    is_time = _BEFORE_TIME.search(before) or _AFTER_TIME.match(text, word.end())
    return not is_first and is_time is None


def _fold(word: str) -> str:
    letters = normalize_text("NFKD", word.casefold().translate(_LETTERS))
    return "".join(letter for letter in letters if not unicodedata.combining(letter))


def _fold_twice(word: str) -> tuple[str, str]:
    """ "müller" is written "muller" or "mueller"."""
    composed = normalize_text("NFC", word.casefold())
    return _fold(composed), _fold(composed.translate(_DIGRAPHS))


def _fold_both(word: str) -> set[str]:
    return set(_fold_twice(word))


def _overlaps(place: tuple[int, int], others: Iterable[tuple[int, int]]) -> bool:
    return any(place[0] < end and place[1] > start for start, end in others)
