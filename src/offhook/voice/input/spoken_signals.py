"""Sorts short texts of a recognizer: listening sounds, fillers, commands, asides to other people, echo, or real words."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

# Letters, and the vowel signs of Arabic and Devanagari, which Python takes for no part of a word.
WORD_CHARACTERS: Final = "\\w\u064b-\u0652\u0900-\u0903\u093a-\u0963'\u2019"
_WORDS: Final = re.compile(f"[{WORD_CHARACTERS}-]+")
# Languages that are written without spaces are compared by their characters.
_UNSPACED: Final = frozenset({"zh", "ja"})
MIN_ECHO_WORDS: Final = 3
# Words beside a phrase to somebody else, "somebody is there" of "hang on, somebody is there"; more of them are said to
# the agent. In characters where there are no spaces.
MAX_BESIDE: Final = 3
MAX_BESIDE_UNSPACED: Final = 8


class SpeechSignal(Enum):
    """What a text is; the value is the reason that events give."""

    NONE = "no_words"
    FILLER = "filler"
    BACKCHANNEL = "backchannel"
    COMMAND = "command"
    ASIDE = "aside"
    ECHO = "echo"
    FRAGMENT = "fragment"
    WORDS = "words"


@dataclass(frozen=True, slots=True)
class SpokenLexicon:
    """The short words of one language; phrases are lists of lower-case words joined by spaces."""

    backchannels: frozenset[str]
    fillers: frozenset[str]
    commands: frozenset[str]
    asides: tuple[str, ...]
    vocatives: frozenset[str]
    open: frozenset[str]
    fragments: frozenset[str]
    yes_no: frozenset[str]
    beginnings: frozenset[str] = frozenset()
    aside_beginnings: frozenset[str] = frozenset()
    is_unspaced: bool = False

    @property
    def _joiner(self) -> str:
        return "" if self.is_unspaced else " "

    def split(self, text: str) -> list[str]:
        return _split_words(text, is_unspaced=self.is_unspaced)

    def _split_phrase(self, phrase: str) -> list[str]:
        return _split_phrase(phrase, is_unspaced=self.is_unspaced)

    def classify(self, text: str, *, agent_text: str = "", stop_words: Iterable[str] = ()) -> SpeechSignal:
        """Sorts a text. ``agent_text`` is what the agent was saying, ``stop_words`` always interrupt."""
        words = self.split(text)
        if not words:
            return SpeechSignal.NONE
        if any(self._contains(words, self._split_phrase(phrase)) for phrase in stop_words):
            return SpeechSignal.COMMAND
        spoken = self._without_fillers(words)
        if not spoken:
            return SpeechSignal.BACKCHANNEL if " ".join(words) in self.backchannels else SpeechSignal.FILLER
        if self._consists_of(spoken, self.backchannels):
            return SpeechSignal.BACKCHANNEL
        if self.is_aside(spoken):
            return SpeechSignal.ASIDE
        if self._consists_of(spoken, self.commands):
            return SpeechSignal.COMMAND
        if len(words) >= MIN_ECHO_WORDS and self._contains(self.split(agent_text), words):
            return SpeechSignal.ECHO
        if self._joiner.join(spoken) in self.fragments:
            return SpeechSignal.FRAGMENT
        return SpeechSignal.WORDS

    def is_aside(self, words: list[str]) -> bool:
        """Returns whether words are meant for someone other than the agent."""
        if words[0] in self.vocatives:
            return True
        # "one second, mom", and not "it is for my mom"
        if len(words) > 1 and words[-1] in self.vocatives and words[-2] not in self.open:
            return True
        # "hang on, it's the door", and not "hang on, I think you have the wrong name"
        phrases = map(self._split_phrase, self.asides)
        return any(self._is_little_more(words, phrase) and self._contains(words, phrase) for phrase in phrases)

    def _is_little_more(self, words: list[str], phrase: list[str]) -> bool:
        return len(words) <= len(phrase) + (MAX_BESIDE_UNSPACED if self.is_unspaced else MAX_BESIDE)

    def is_short_aside(self, text: str) -> bool:
        """Returns whether a text is hardly more than a request to wait, which needs no answer on a silent line."""
        words = self.split(text)
        phrases = map(self._split_phrase, self.asides)
        return any(words[: len(phrase)] == phrase and self._is_little_more(words, phrase) for phrase in phrases)

    def may_become_aside(self, text: str) -> bool:
        return self._joiner.join(self.split(text)) in self.aside_beginnings

    def may_become_more(self, text: str) -> bool:
        """Returns whether a text is the beginning of an aside or a listening sound, like "just a", or "I" of "I see"."""
        return self._joiner.join(self.split(text)) in self.beginnings

    def is_answer(self, text: str) -> bool:
        """Returns whether a text answers a yes/no question."""
        words = self.split(text)
        return bool(words) and (self._consists_of(words, self.yes_no) or words[0] in self.yes_no)

    def is_plain_answer(self, text: str) -> bool:
        """Returns whether a text is an answer to a yes/no question and nothing else."""
        words = self._without_fillers(self.split(text))
        return bool(words) and self._consists_of(words, self.yes_no)

    def is_one_of(self, text: str, phrases: Iterable[str]) -> bool:
        """Returns whether a text is one of these phrases, beside fillers. A mere "yes" or "okay" is not: anybody may be told
        that."""
        if self.classify(text) is not SpeechSignal.WORDS or self.is_answer(text):
            return False
        spoken = self._without_fillers(self.split(text))
        return any(spoken == self._without_fillers(self._split_phrase(phrase)) for phrase in phrases)

    def _without_fillers(self, words: Iterable[str]) -> list[str]:
        return [word for word in words if word not in self.fillers]

    def _consists_of(self, words: list[str], phrases: frozenset[str]) -> bool:
        """Returns whether the words are phrases of a set, one after another ("oh okay", "yeah yeah")."""
        joiner, left = self._joiner, 0
        while left < len(words):
            longest = min(len(words), left + 6)
            step = next((end for end in range(longest, left, -1) if joiner.join(words[left:end]) in phrases), None)
            if step is None:
                return False
            left = step
        return True

    def _contains(self, words: list[str], phrase: list[str]) -> bool:
        size = len(phrase)
        if not size or phrase[0] not in words:
            return False
        return any(words[at : at + size] == phrase for at in range(len(words) - size + 1))


def _split_words(text: str, *, is_unspaced: bool) -> list[str]:
    if is_unspaced:
        return [character for character in text.lower() if character.isalnum()]
    return [word.replace("\u2019", "'") for word in _WORDS.findall(text.lower())]


# Every text of a recognizer is compared with them, several times a second. The lexicons have some 70; the rest is for
# the words that agents' settings add.
_split_phrase = lru_cache(maxsize=2048)(_split_words)


@cache
def lexicon_for(language: str) -> SpokenLexicon:
    """Returns the lexicon of a language tag ("de-DE"); English where there is none."""
    code = language.partition("-")[0].lower()
    lexicons = _lexicons()
    found = lexicons.get(code) or lexicons["en"]
    lexicon = SpokenLexicon(
        backchannels=frozenset(found["backchannels"]),
        fillers=frozenset(found["fillers"]),
        commands=frozenset(found["commands"]),
        asides=tuple(found["asides"]),
        vocatives=frozenset(found["vocatives"]),
        open=frozenset(found["open"]),
        fragments=frozenset(found["fragments"]),
        yes_no=frozenset(found["yes_no"]),
        is_unspaced=code in _UNSPACED,
    )
    aside_beginnings = frozenset(_beginnings(lexicon, lexicon.asides))
    listening = frozenset(_beginnings(lexicon, lexicon.backchannels))
    return replace(lexicon, beginnings=aside_beginnings | listening, aside_beginnings=aside_beginnings)


def _beginnings(lexicon: SpokenLexicon, phrases: Iterable[str]) -> Iterator[str]:
    """Yields what phrases of several words begin with."""
    joiner = "" if lexicon.is_unspaced else " "
    for phrase in map(lexicon.split, phrases):
        yield from (joiner.join(phrase[:end]) for end in range(1, len(phrase)))


@cache
def _lexicons() -> dict[str, dict[str, list[str]]]:
    loaded: dict[str, dict[str, list[str]]] = json.loads((Path(__file__).parent / "lexicons.json").read_text("utf-8"))
    return loaded
