"""Text as people say it: the question of a text, what a caller can say, which keys they can press. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

MAX_SHORT_CHOICES: Final = 6
MAX_LONG_CHOICES: Final = 4
MAX_SHORT_WORDS: Final = 12
# More keys at once are not remembered.
MAX_KEYS: Final = 5
_DAY: Final = re.compile(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day")
_SENTENCE: Final = re.compile(r"[^.!?\n]+[.!?]*")


@dataclass(frozen=True, slots=True)
class JoiningWords:
    """How a language joins choices: patterns with ``{first}`` and ``{last}``, and ``{digits}`` and ``{choice}``.

    ``of_alike`` applies to a last choice that begins like ``alike``, a regular expression: Spanish "siete u ocho".
    """

    between: str
    of_two: str
    of_more: str
    key: str
    alike: str = ""
    of_alike: str = ""


ENGLISH: Final = JoiningWords(", ", "{first} or {last}", "{first}, or {last}", "{digits} for {choice}")


def question_of(text: str) -> str:
    """Returns the last question of a text, or the whole text."""
    questions = [part.strip() for part in _SENTENCE.findall(text) if part.strip().endswith("?")]
    return questions[-1] if questions else text.strip()


def pick_examples(examples_of_edges: Iterable[Sequence[str]]) -> list[str]:
    """Returns the first example of each edge in speakable spelling, as many as a caller can keep in mind."""
    said = list(dict.fromkeys(spoken_example(examples[0]) for examples in examples_of_edges if examples))
    words = sum(len(choice.split()) for choice in said[:MAX_SHORT_CHOICES])
    return said[: MAX_SHORT_CHOICES if words <= MAX_SHORT_WORDS else MAX_LONG_CHOICES]


def spoken_example(example: str) -> str:
    spoken = re.sub(r"\bi\b", "I", example.lower().strip(" .!?"))
    return _DAY.sub(lambda match: match.group().capitalize(), spoken)


def join_choices(choices: Sequence[str], words: JoiningWords = ENGLISH) -> str:
    """Joins choices as one says them: "nine, eleven, or two o'clock"."""
    if len(choices) <= 1:
        return "".join(choices)
    pattern = words.of_two if len(choices) == 2 else words.of_more
    if words.alike and re.match(words.alike, choices[-1], re.IGNORECASE):
        pattern = words.of_alike
    return pattern.format(first=words.between.join(choices[:-1]), last=choices[-1])


def join_keys(keys: Iterable[tuple[str | None, Sequence[str]]], words: JoiningWords = ENGLISH) -> str:
    """Joins keys with the first example of what they choose: "1 for book a table or 0 for talk to a person".

    Pairs without digits or without an example are left out.
    """
    named = [
        words.key.format(digits=digits, choice=spoken_example(examples[0]))
        for digits, examples in keys
        if digits and examples
    ]
    return join_choices(named[:MAX_KEYS], words)
