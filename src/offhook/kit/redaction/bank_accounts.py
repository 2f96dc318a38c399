"""Finds IBANs, written in any grouping or spoken letter by letter. Pure."""

import re
from itertools import pairwise
from typing import Final

from offhook.kit.redaction.spoken_digits import read_digit_runs

# ISO 13616: the length by country.
_LENGTHS: Final = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28, "CH": 21,
    "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18, "FO": 18, "FR": 27,
    "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22, "IL": 23, "IQ": 23, "IS": 26,
    "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20, "LU": 20, "LV": 21, "MC": 27, "MD": 24,
    "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15, "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29,
    "RO": 24, "RS": 22, "SA": 24, "SC": 31, "SE": 24, "SI": 19, "SK": 24, "SM": 27, "SV": 28, "TL": 23, "TN": 24, "TR": 26,
    "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip
_SEPARATORS: Final = frozenset(" -.,\u00a0")
_MAX_LETTERS: Final = 4
_WORD: Final = re.compile(r"[A-Za-z]+")


def find_ibans(text: str) -> list[tuple[int, int]]:
    """Returns the places of IBANs whose check digits are right."""
    letters = _read_characters(text)
    found: list[tuple[int, int]] = []
    index = 0
    while index < len(letters) - 14:
        country = letters[index][0] + letters[index + 1][0]
        length = _LENGTHS.get(country)
        end = index + length if length is not None else 0
        if length is not None and end <= len(letters) and _is_joined(text, letters[index:end]):
            iban = "".join(char for char, _, _ in letters[index:end])
            moved = iban[4:] + iban[:4]
            if iban[2:4].isdigit() and int("".join(str(int(char, 36)) for char in moved)) % 97 == 1:
                found.append((letters[index][1], letters[end - 1][2]))
                index = end
                continue
        index += 1
    return found


def _read_characters(text: str) -> list[tuple[str, int, int]]:
    """Returns the letters and digits of a text with their places; a spoken digit is one of them."""
    spoken = [digit for run in read_digit_runs(text) for digit in run if digit.is_spoken]
    characters = [(digit.char, digit.start, digit.end) for digit in spoken]
    covered = {place for digit in spoken for place in range(digit.start, digit.end)}
    characters += [
        (char.upper(), place, place + 1)
        for place, char in enumerate(text)
        if place not in covered and char.isascii() and char.isalnum()
    ]
    return sorted(characters, key=lambda one: one[1])


def _is_joined(text: str, letters: list[tuple[str, int, int]]) -> bool:
    gaps = (text[before[2] : after[1]] for before, after in pairwise(letters))
    # Longer groups of letters are words of a sentence; those of spoken digits are one place each.
    start, end = letters[0][1], letters[-1][2]
    spoken = {place for _, first, last in letters if last - first > 1 for place in range(first, last)}
    words = (word for word in _WORD.finditer(text, start, end) if word.start() not in spoken)
    is_within_word = (start > 0 and text[start - 1].isalnum()) or text[end : end + 1].isalnum()
    if is_within_word or any(len(word[0]) > _MAX_LETTERS for word in words):
        return False
    return all(len(gap) <= 2 and all(char in _SEPARATORS for char in gap) for gap in gaps)
