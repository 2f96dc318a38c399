"""Reads the digits of a text, written or spoken in English, with the place of each. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

UNITS: Final = {
    "zero": "0", "oh": "0", "o": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6",
    "seven": "7", "eight": "8", "nine": "9", "niner": "9",
}  # fmt: skip
TEENS: Final = {
    "ten": "10", "eleven": "11", "twelve": "12", "thirteen": "13", "fourteen": "14", "fifteen": "15", "sixteen": "16",
    "seventeen": "17", "eighteen": "18", "nineteen": "19",
}  # fmt: skip
TENS: Final = {
    "twenty": "2", "thirty": "3", "forty": "4", "fifty": "5", "sixty": "6", "seventy": "7", "eighty": "8", "ninety": "9",
    "fourty": "4",  # codespell:ignore fourty
}  # fmt: skip
_REPEATS: Final = {"double": 2, "triple": 3, "treble": 3}
# People say these within a number.
_FILLERS: Final = frozenset({"uh", "um", "er", "dash", "hyphen", "space", "then", "and", "plus", "minus"})
_TOKEN: Final = re.compile(r"[0-9]|[A-Za-z]+|\S")
_JOINTS: Final = frozenset(".,-\u2013()/+_")


@dataclass(frozen=True, slots=True)
class Digit:
    """``char`` stands at ``start`` to ``end`` in the text; several digits can stand in one place ("forty-two")."""

    char: str
    start: int
    end: int
    is_spoken: bool


def read_digit_runs(text: str, *, joins_tens: bool = True) -> list[list[Digit]]:
    """Returns the digits of a text as groups that belong together: nothing but separators and fillers is between them.

    "sixty one" is 61, or 60 and 1 without ``joins_tens``.
    """
    runs: list[list[Digit]] = []
    run: list[Digit] = []
    tokens = list(_TOKEN.finditer(text))
    index = 0
    while index < len(tokens):
        digits, taken = _read_digits(tokens, index, joins_tens)
        if digits:
            gap = text[run[-1].end : digits[0].start] if run else ""
            # two spaces, a comma, a bracket; longer with a filler
            if len(gap) > (16 if any(letter.isalpha() for letter in gap) else 4):
                runs.append(run)
                run = []
            run.extend(digits)
        elif run and tokens[index][0] not in _JOINTS and tokens[index][0].lower() not in _FILLERS:
            runs.append(run)
            run = []
        index += taken
    if run:
        runs.append(run)
    return runs


def _read_digits(tokens: Sequence[re.Match[str]], index: int, joins_tens: bool) -> tuple[list[Digit], int]:
    token = tokens[index]
    word = token[0].lower()
    if "0" <= word[0] <= "9":
        return [Digit(word, token.start(), token.end(), False)], 1
    if word in UNITS:
        return [Digit(UNITS[word], token.start(), token.end(), True)], 1
    if word in TEENS:
        return [Digit(char, token.start(), token.end(), True) for char in TEENS[word]], 1
    if word in TENS:
        return _read_tens(tokens, index, joins_tens)
    # "double double" repeats nothing, however often it is said.
    if word in _REPEATS and index + 1 < len(tokens) and tokens[index + 1][0].lower() not in _REPEATS:
        repeated, taken = _read_digits(tokens, index + 1, joins_tens)
        if len(repeated) == 1:
            return [Digit(repeated[0].char, token.start(), repeated[0].end, True)] * _REPEATS[word], 1 + taken
    return [], 1


def _read_tens(tokens: Sequence[re.Match[str]], index: int, joins_tens: bool) -> tuple[list[Digit], int]:
    token, tens = tokens[index], TENS[tokens[index][0].lower()]
    after = index + 1
    if after < len(tokens) and tokens[after][0] == "-" and tokens[after].start() == token.end():
        after += 1
    if after < len(tokens):
        unit = UNITS.get(tokens[after][0].lower(), "0")
        gap = tokens[after].start() - token.end()
        if unit != "0" and gap <= 1 and (joins_tens or after == index + 2):
            end = tokens[after].end()
            return [Digit(tens, token.start(), end, True), Digit(unit, token.start(), end, True)], after - index + 1
    return [Digit(tens, token.start(), token.end(), True), Digit("0", token.start(), token.end(), True)], 1
