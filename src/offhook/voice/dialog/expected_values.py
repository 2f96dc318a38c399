"""Finds values that take a while to say in what a step asks for, and how much the caller has said. English. Pure.

Other languages: ``asked_values.py``."""

import re
from collections.abc import Callable, Iterable, Sequence
from enum import Enum
from functools import lru_cache
from typing import Final


class ValueProgress(Enum):
    """``UNKNOWN``: no such value, or it can be whole as well as not."""

    UNKNOWN = "unknown"
    PART = "part"
    WHOLE = "whole"


# Beside them there is ``digits_4`` for a number of four digits.
VALUE_KINDS: Final = ("phone", "card", "birth_date", "address", "spelling")
_ASKED: Final = {
    "phone": (
        r"\b(?:tele)?phone numbers?\b|\b(?:mobile|cell|contact|call ?back) (?:phone )?numbers?\b|\bphone$|\b(?:your|best) number\b"
        r"|\bnumber (?:is best |where )?(?:to|you can|we can) (?:reach|call)\b"
    ),
    "card": r"\bcard (?:number|details)\b",
    "birth_date": r"\bdate of birth\b|\bbirth ?da(?:te|y)\b|\bdob\b|\bwhen (?:were you|was \w+) born\b",
    "address": (
        r"(?<!e-mail )(?<!email )(?<!mail )(?<!web )(?<!ip )\baddress\b(?! (?:the caller|them|him|her|any|issues?)\b)"
        r"|\bwhere do you live\b|\bstreet and number\b"
    ),
    "spelling": r"\bspell(?:s|ed|ing)?\b",
}
_ASKED_PATTERNS: Final = {kind: re.compile(pattern, re.MULTILINE) for kind, pattern in _ASKED.items()}
_NAMED_LENGTHS: Final = ("three", "four", "five", "six", "seven", "eight", "nine", "ten")
_LENGTH: Final = re.compile(rf"\b(\d{{1,2}}|{'|'.join(_NAMED_LENGTHS)})[ -]digits?\b")
_LAST_DIGITS: Final = re.compile(r"\b(?:last|first|final) (?:\d|[a-z]+) (?:digits|numbers)\b")
# Behind "yes" there is more to come.
_OPEN_QUESTION: Final = re.compile(
    r"\b(?:what|how|when|where|which|who|whose|why)\b|\b(?:tell|give) (?:me|us)\b|\b(?:can|could|may) (?:i|we) (?:have|get|take)\b"
)
_ZIP: Final = re.compile(r"\bzip ?code\b")
_ZIP_DIGITS: Final = 5

_UNITS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_TEENS: Final = (
    *("ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
_TENS: Final = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_SPOKEN: Final = {
    **{word: str(number) for number, word in enumerate(_UNITS)},
    **{word: str(number) for number, word in enumerate(_TEENS, 10)},
    **{word: str(number) for number, word in zip(range(20, 100, 10), _TENS, strict=True)},
    "oh": "0",
    "o": "0",
    "hundred": "00",
    "thousand": "000",
}
_REPEATS: Final = {"double": 2, "triple": 3}
# What is said between the groups of a number.
_BETWEEN: Final = frozenset({"and", "then", "dash", "hyphen", "space", "um", "uh", "area", "code"})
_MONTHS: Final = frozenset(
    {
        "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
        "december",
    }
)  # fmt: skip
_ORDINALS: Final = frozenset(
    {
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
        "twelfth", "thirteenth", "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth",
        "twentieth", "thirtieth",
    }
)  # fmt: skip
YEAR: Final = re.compile(r"(?:19|20)\d\d")
_STREETS: Final = frozenset(
    {
        "street", "st", "avenue", "ave", "road", "rd", "lane", "ln", "drive", "dr", "boulevard", "blvd", "court", "ct",
        "place", "pl", "way", "terrace", "circle", "square", "highway", "parkway", "alley", "broadway", "close",
    }
)  # fmt: skip
# What comes before the number of a house.
_LEAD_IN: Final = frozenset(
    {
        "it", "it's", "its", "is", "the", "my", "address", "home", "street", "i", "i'm", "live", "at", "on", "sure",
        "yes", "yeah", "okay", "um", "uh", "well", "so", "number", "that's", "that", "would", "be", "we're", "we",
    }
)  # fmt: skip
_UNITS_OF_HOUSES: Final = frozenset({"apartment", "apt", "suite", "unit", "floor", "number", "zip", "code"})
MAX_STREET_WORDS: Final = 2
_TOKEN: Final = re.compile(r"\d+(?=(?:st|nd|rd|th)\b)|\d+|[a-z]+(?:'[a-z]+)?")
# A number of several digits follows these words, and a street after its number.
_NUMBERED: Final = frozenset({"number", "code", "zip", "phone", "account", "address", "id", "pin", "live", "at", "is"})
_DIGIT_WORDS: Final = frozenset(
    {
        "zero", "oh", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
        "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty", "thirty", "forty",
        "fifty", "sixty", "seventy", "eighty", "ninety", "hundred", "thousand", "double", "triple",
    }
)  # fmt: skip
MIN_DIGITS: Final = 3
MAX_DIGITS: Final = 10
_PHONE_DIGITS: Final = 10
# Without the 1 of North America, numbers that begin with a country code have up to 12, and those with a 0 some 11.
_LONG_PHONE_DIGITS: Final = 12
_CARD_DIGITS: Final = 16
_AMEX_DIGITS: Final = 15
DATE_DIGITS: Final = 8
# Fewer may be all of a date with a year of two digits.
SHORT_DATE_DIGITS: Final = 6


def asked_kinds(text: str) -> tuple[str, ...]:
    """Returns what a question or the prompt of a step asks for."""
    text = text.lower().replace("_", " ").replace("\u2019", "'")
    kinds = [kind for kind, pattern in _ASKED_PATTERNS.items() if pattern.search(text)]
    if _LAST_DIGITS.search(text):
        kinds = [kind for kind in kinds if kind not in ("phone", "card")]
    lengths = [found if found.isdigit() else str(_NAMED_LENGTHS.index(found) + 3) for found in _LENGTH.findall(text)]
    if _ZIP.search(text):
        lengths.append(str(_ZIP_DIGITS))
    return (*kinds, *(f"digits_{length}" for length in dict.fromkeys(lengths)))


@lru_cache(maxsize=256)
def is_closed_question(sentence: str) -> bool:
    """Returns whether "yes" or "no" is all that a sentence asks for."""
    lowered = sentence.lower().rstrip()
    return lowered.endswith("?") and not _OPEN_QUESTION.search(lowered) and not asked_kinds(lowered)


def measure_progress(text: str, kinds: Iterable[str]) -> ValueProgress:
    """Returns how much of a value of one of these kinds the caller has said."""
    found = {_measure(text, kind) for kind in kinds} - {ValueProgress.UNKNOWN}
    return found.pop() if len(found) == 1 else ValueProgress.UNKNOWN


def _measure(text: str, kind: str) -> ValueProgress:
    lowered = text.lower().replace("\u2019", "'")
    words = _TOKEN.findall(lowered)
    if not words:
        return ValueProgress.UNKNOWN
    if kind.startswith("digits_"):
        return _measure_digits(words, int(kind.removeprefix("digits_")))
    if kind == "phone":
        return _measure_phone(words, has_plus="+" in text or "plus" in words)
    measure = _MEASURES.get(kind)
    if measure is None:
        return ValueProgress.UNKNOWN
    # "12 Main Street," goes on, and "555-" at the end of an interim text may be whole
    goes_on = kind == "address" and lowered.rstrip().endswith((",", "-", "...", "\u2026"))
    progress = measure(words)
    return ValueProgress.PART if goes_on and progress is ValueProgress.WHOLE else progress


def _is_number(word: str) -> bool:
    return word.isdigit() or word in _SPOKEN


def _last_number(words: Sequence[str]) -> str:
    """Returns the digits with which a text ends, also when the next group has only been announced."""
    run: list[str] = []
    for word in reversed(words):
        if not (_is_number(word) or word in _REPEATS or word in _BETWEEN):
            break
        run.insert(0, word)
    digits, repeat, is_after_tens = "", 1, False
    for word in run:
        if word in _REPEATS:
            repeat = _REPEATS[word]
            continue
        spoken = word if word.isdigit() else _SPOKEN.get(word, "")
        is_unit = is_after_tens and len(spoken) == 1 and spoken != "0"
        digits = digits[:-1] + spoken if is_unit else digits + spoken * repeat
        repeat, is_after_tens = 1, word in _TENS
    return digits


def _measure_digits(words: Sequence[str], length: int) -> ValueProgress:
    digits = _last_number(words)
    if not digits:
        return ValueProgress.UNKNOWN
    return whole_or_part(len(digits), length, is_open=not _is_number(words[-1]))


def whole_or_part(digits: int, length: int, *, is_open: bool) -> ValueProgress:
    """Returns how much of a number of ``length`` digits has been said; ``is_open``: a word after it
    announces more."""
    return ValueProgress.WHOLE if digits >= length and not is_open else ValueProgress.PART


def card_length(digits: str) -> int:
    """Returns how many digits a card's number has that begins with these."""
    return _AMEX_DIGITS if digits.startswith(("34", "37")) else _CARD_DIGITS


def _measure_phone(words: Sequence[str], *, has_plus: bool) -> ValueProgress:
    digits = _last_number(words)
    if digits.startswith("0") and len(digits) == _PHONE_DIGITS:
        return ValueProgress.UNKNOWN  # whole in Australia and France, not in Great Britain
    if digits.startswith(("0", "1")):
        return _measure_digits(words, _PHONE_DIGITS + 1)
    return _measure_digits(words, _LONG_PHONE_DIGITS if has_plus else _PHONE_DIGITS)


def _measure_card(words: Sequence[str]) -> ValueProgress:
    return _measure_digits(words, card_length(_last_number(words)))


def _measure_birth_date(words: Sequence[str]) -> ValueProgress:
    month_at = max((at for at, word in enumerate(words) if word in _MONTHS), default=None)
    digits = _last_number(words)
    if month_at is not None:
        year = _last_number(words[month_at + 1 :])
        if YEAR.fullmatch(year[-4:]) and not words[-1].endswith("ty") and words[-1] != "thousand":
            return ValueProgress.WHOLE
        if YEAR.match(year[-4:]):
            return ValueProgress.UNKNOWN  # "nineteen eighty" may become "nineteen eighty five"
    elif len(digits) >= DATE_DIGITS:
        return ValueProgress.WHOLE
    elif len(digits) >= SHORT_DATE_DIGITS:
        return ValueProgress.UNKNOWN
    is_date = bool(digits) or words[-1] in _MONTHS or words[-1] in _ORDINALS
    goes_on = month_at is not None and words[-1] in ("of", "the", "in")
    return ValueProgress.PART if is_date or goes_on else ValueProgress.UNKNOWN


def _measure_address(words: Sequence[str]) -> ValueProgress:
    number_at = next((at for at, word in enumerate(words) if _is_number(word)), None)
    street_at = next((at for at, word in enumerate(words) if at and word in _STREETS), None)
    if number_at is None or words[-1] in _UNITS_OF_HOUSES:
        return ValueProgress.PART if words[-1] in _UNITS_OF_HOUSES and street_at else ValueProgress.UNKNOWN
    if street_at is not None and number_at != street_at and words[street_at - 1] not in _LEAD_IN:
        return ValueProgress.WHOLE
    if not _LEAD_IN.issuperset(words[:number_at]):
        return ValueProgress.UNKNOWN
    name = [word for word in words[number_at:] if not _is_number(word)]
    return ValueProgress.PART if len(name) <= MAX_STREET_WORDS else ValueProgress.UNKNOWN


def _measure_spelling(words: Sequence[str]) -> ValueProgress:
    letters = ""
    begins_at = len(words)
    while begins_at and len(words[begins_at - 1]) == 1 and words[begins_at - 1].isalpha():
        begins_at -= 1
        is_double = begins_at and words[begins_at - 1] in _REPEATS
        letters = words[begins_at] * (_REPEATS[words[begins_at - 1]] if is_double else 1) + letters
        begins_at -= bool(is_double)
    if not letters:
        is_announced = words[-1] in _REPEATS or words[-2:-1] in (["as"], ["for"]) or words[-3:-1] == ["as", "in"]
        has_letter = any(len(word) == 1 and word.isalpha() for word in words[-4:])
        return ValueProgress.PART if is_announced and has_letter else ValueProgress.UNKNOWN
    # "Smith, S M I T H"
    return ValueProgress.WHOLE if letters in words[:begins_at] and len(letters) > 1 else ValueProgress.PART


def ends_in_number(text: str) -> bool:
    """Returns whether a text ends within a number that is said digit by digit, or within a name that is spelled."""
    words = re.findall(r"[\w']+", text.lower())
    if len(words) > 2 and all(len(word) == 1 and word.isalpha() for word in words[-2:]):
        return True  # a name that is spelled
    count = 0
    while count < len(words) and (words[-1 - count] in _DIGIT_WORDS or words[-1 - count].isdigit()):
        count += 1
    if not count:
        return False
    digits = sum(len(word) if word.isdigit() else 1 for word in words[-count:])
    before = set(words[: len(words) - count])
    return MIN_DIGITS <= digits < MAX_DIGITS or (digits < MIN_DIGITS and bool(_NUMBERED & before))


_MEASURES: Final[dict[str, Callable[[Sequence[str]], ValueProgress]]] = {
    "card": _measure_card,
    "birth_date": _measure_birth_date,
    "address": _measure_address,
    "spelling": _measure_spelling,
}
