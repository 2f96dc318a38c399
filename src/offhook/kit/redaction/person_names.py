"""Finds the names of people in one conversation: those of a list, and those that its caller gave. Pure."""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from offhook.kit.json_values import JsonObject, JsonValue
from offhook.kit.redaction.everyday_words import CAPITALIZED_WORDS, FUNCTION_WORDS
from offhook.kit.redaction.name_list import NameList, find_words
from offhook.kit.redaction.own_names import asks_for_name, find_own_names

# An answer may come after another turn ("one moment").
_ASKED_TURNS: Final = 3
_PERSON: Final = re.compile(
    r"(?:^|\s)(?:(?:first|last|full|given|family|middle|maiden|legal|preferred|sur|caller|callers|customer|customers|patient|patients|client|"
    r"clients|contact|guest|person|your|attendee|visitor|insured|tenant|owner|spouse|child|parent) ?(?:full |first |last )?name|"
    r"surname|forename|caller|fullname|firstname|lastname)$"
)
_NO_PERSON: Final = frozenset(
    {"unknown", "none", "null", "na", "yes", "no", "true", "false", "anonymous", "caller", "customer"}
)
_REST: Final = re.compile(r" ([A-Z\u00c0-\u00de][\w'\u2019-]+)(?=[.,!?]|$)")
_MAX_WORDS: Final = 6


class PersonNameFinder:
    """Finds names of people in one conversation. A name that the caller gives as their own is found wherever it is
    said from then on."""

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._names = NameList(names)
        self._given: list[str] = []
        self._asked = 0

    def follow_turn(self, text: str, *, is_caller: bool) -> list[tuple[int, int]]:
        """Takes note of a turn and returns the places where the caller gives their name."""
        own = find_own_names(text, is_asked=self._asked > 0) if is_caller else []
        for name in own:
            given = text[name.start : name.end]
            self._learn("".join(word[0] for word in find_words(given)) if name.is_spelled else given)
        if own:
            self._learn_rest(text)
        self._asked = _ASKED_TURNS if asks_for_name(text) else max(0, self._asked - 1)
        return [(name.start, name.end) for name in own]

    def find_given(self, text: str) -> list[tuple[int, int]]:
        """Returns the places where the caller gives their name in words that are not final yet."""
        return [(name.start, name.end) for name in find_own_names(text, is_asked=self._asked > 0)]

    def find(self, text: str) -> list[tuple[int, int]]:
        """Returns the places of names of the list and of those that were given."""
        return self._names.find(text)

    def snapshot(self) -> JsonObject:
        """Returns what another process needs to go on."""
        given: list[JsonValue] = [*self._given]
        return {"given": given, "asked": self._asked}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on from the result of :meth:`snapshot`."""
        self._asked = state["asked"]
        for name in state["given"]:
            self._learn(name)

    def _learn_rest(self, text: str) -> None:
        """People say who they are twice: "Josh. Josh Allen." """
        for _, end in self._names.find(text):
            rest = _REST.match(text, end)
            if rest is not None and _plain(rest[1]) not in FUNCTION_WORDS | CAPITALIZED_WORDS:
                self._learn(rest[1])

    def _learn(self, name: str) -> None:
        """Each word counts alone, too: callers give the whole name, and are then called by the first."""
        if name in self._given:
            return
        self._given.append(name)
        words = [part for part in name.split() if _plain(part) not in FUNCTION_WORDS and len(_plain(part)) > 1]
        for part in (name, *words):
            self._names.add(part)


def is_person_name(name: str) -> bool:
    """Returns whether a variable of this name (as words) holds the name of a person."""
    return _PERSON.search(name) is not None


def may_be_person(value: str) -> bool:
    """Returns whether a value may be a person's name."""
    words = [_plain(word) for word in value.split()]
    if not 1 <= len(words) <= _MAX_WORDS or not any(word[0].isalpha() for word in words if word):
        return False
    return not any(char.isdigit() for char in value) and "@" not in value and words[0] not in _NO_PERSON


def _plain(word: str) -> str:
    return word.strip(".,'\u2019").lower()
