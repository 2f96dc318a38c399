"""Values in spoken English: digits, numbers, days, times, names, email addresses. Pure."""

import re
from functools import lru_cache
from typing import Final

from offhook.models.providers.builtin.english.words import POLITE, word_set, word_tokens

DIGITS: Final = {
    "zero": "0", "oh": "0", "o": "0", "one": "1", "two": "2", "three": "3", "four": "4", "for": "4", "five": "5",
    "six": "6", "seven": "7", "eight": "8", "nine": "9",
}  # fmt: skip
_TEENS: Final = {
    "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "sixteen": 16,
    "seventeen": 17, "eighteen": 18, "nineteen": 19,
}  # fmt: skip
_TENS: Final = {
    "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
_UNITS: Final = {word: int(digit) for word, digit in DIGITS.items() if word not in ("oh", "o", "for")}
_ORDINALS: Final = {
    "first": 1, "second": 2, "third": 3, "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9,
    "tenth": 10, "eleventh": 11, "twelfth": 12, "twentieth": 20, "thirtieth": 30,
}  # fmt: skip
WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip
_RELATIVE: Final = ("today", "tomorrow", "tonight", "weekend")
_DAY_PARTS: Final = ("morning", "afternoon", "evening", "noon", "midday", "midnight", "lunchtime")
# "Two nights", "three weeks ago": an amount of something, not the number that was asked for.
_COUNTED: Final = re.compile(
    r"\b(?:\d{1,2}|a|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|(?:twenty|thirty|forty|fifty)(?: five)?) "
    r"(?:more |other |whole |full )?(?:nights?|days?|weeks?|months?|years?|hours?|minutes?|times?|people|persons?|kids|children|of (?:us|them)|thumbs?|stars? hotel|more things?|things?|questions?|items?|pairs?)\b"
)
# Money, a time or a date: no digits of a number of something.
_AMOUNTS: Final = re.compile(
    r"[$€£] ?\d[\d,.]*|\b\d[\d,.]* ?(?:bucks|dollars?|euros?|pounds?|cents|percent|%|a\.?m\b|p\.?m\b)|\b\d{1,2}:\d\d(?: ?[ap]\.?m\b)?|"
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december) (?:the )?\d{1,2}(?:st|nd|rd|th)?\b|"
    r"\b\d{1,2}(?:st|nd|rd|th)\b",
    re.IGNORECASE,
)
_BETWEEN_DIGITS: Final = word_set("then dash hyphen um uh")
_MIN_RUN: Final = 4


def all_digits(text: str) -> str:
    """Returns all spoken digits in order: "four two, double seven" → "4277", "forty two" → "42".

    Of several runs of digits it is the last one that is long enough for a number of something: "two lamps, order 4712".
    """
    runs = _digit_runs(_COUNTED.sub(" ", " ".join(word_tokens(_AMOUNTS.sub(" ", text)))))
    long = [run for run in runs if len(run) >= _MIN_RUN]
    return long[-1] if long else "".join(runs)


def _digit_runs(text: str) -> list[str]:
    """Returns the digits of a text, those next to each other as one."""
    runs: list[str] = []
    last_at = -2
    repeat = 1
    words = [word for word in word_tokens(text) if word not in _BETWEEN_DIGITS]
    for index, word in enumerate(words):
        spoken = _digits_of(words, index)
        if word in ("double", "triple"):
            repeat = 2 if word == "double" else 3
            last_at = index if index - last_at <= 1 else last_at
            continue
        if spoken:
            if runs and runs[-1] == spoken and len(spoken) >= _MIN_RUN:
                continue
            if runs and index - last_at <= 1:
                runs[-1] += spoken * repeat
            else:
                runs.append(spoken * repeat)
            last_at = index
        repeat = 1
    return runs


def _digits_of(words: list[str], index: int) -> str:
    word = words[index]
    if word[0].isdigit():
        return re.sub(r"\D", "", word)
    if word == "for":
        # "status for 9905" is no digit; "two for seven" and "for two seven one" are
        is_first = index == 0 and len(words) > 2 and all(near in _UNITS for near in words[1:])
        is_between = index > 0 and words[index - 1] in _UNITS and (words[index + 1 : index + 2] or ["one"])[0] in _UNITS
        return "4" if is_first or is_between else ""
    if word in ("oh", "o"):
        # only next to other digits: it is a word too
        around = [words[at] for at in (index - 1, index + 1) if 0 <= at < len(words)]
        return DIGITS[word] if any(near in _UNITS or near[0].isdigit() for near in around) else ""
    if word in _UNITS:
        return DIGITS[word]
    if word in _TEENS:
        return str(_TEENS[word])
    if word in _TENS:
        follows = words[index + 1] if index + 1 < len(words) else ""
        tens = str(_TENS[word])
        return tens[0] if _UNITS.get(follows, 0) > 0 else tens
    return ""


def first_number(text: str) -> float | None:
    """Returns the first number: "eight out of ten" → 8, "four point five" → 4.5, "two hundred and ten" → 210."""
    # "one eighty, two hundred in the summer"
    words = word_tokens(re.split(r"(?<=[a-z])(?<!thousand), (?=[a-z]+ hundred)", text.lower())[0])
    for start, word in enumerate(words):
        if word[0].isdigit():
            value = float(word.replace(":", "."))
            scale = {"hundred": 100, "thousand": 1000}.get(words[start + 1] if start + 1 < len(words) else "", 1)
            return value * scale
        if _starts_number(words, start):
            return _spoken_number(words, start)
    return None


def all_numbers(text: str) -> list[float]:
    """Returns every number in a text, each word or figure by itself: "seven, no, eight" → 7, 8."""
    words = _COUNTED.sub(" ", " ".join(word_tokens(text))).split()
    return [
        value
        for at, word in enumerate(words)
        if (word[0].isdigit() or _starts_number(words, at))
        and (value := first_number(" ".join(words[at : at + 1]))) is not None
    ]


def _starts_number(words: list[str], at: int) -> bool:
    word = words[at]
    if word == "a":
        return at + 1 < len(words) and words[at + 1] in ("hundred", "thousand")
    return word in _UNITS or word in _TEENS or word in _TENS


def _spoken_number(words: list[str], start: int) -> float:
    total, current = 0, 0
    if words[start] in _UNITS and words[start + 1 : start + 2] and words[start + 1] in _TENS:
        # "one twenty" of dollars
        return _UNITS[words[start]] * 100 + _spoken_number(words, start + 1)
    last_size = 1000
    for at in range(start, len(words)):
        word = words[at]
        value = _UNITS.get(word, _TEENS.get(word, _TENS.get(word)))
        size = 1 if word in _UNITS else 2 if word in _TEENS else 10
        if value is not None and size < last_size:
            current, last_size = current + value, 1 if size == 2 else size
        elif word == "hundred":
            current, last_size = max(current, 1) * 100, 1000
        elif word == "thousand":
            total, current, last_size = total + max(current, 1) * 1000, 0, 1000
        elif word == "point" and at + 1 < len(words) and words[at + 1] in _UNITS:
            return total + current + _UNITS[words[at + 1]] / 10
        elif not (word in ("and", "a") and current + total >= 100) and not (word == "a" and at == start):
            break
    return float(total + current)


# "next week on Friday", "Friday of next week"
_WEEK_BEFORE: Final = re.compile(r"\b(?P<week>(?:next|this) week)(?: on)?$")
_WEEK_AFTER: Final = re.compile(r"^(?:of )?(?P<week>(?:next|this) week)\b")

_WEEKS_FROM: Final = re.compile(
    rf"\b(?:a|one|two|three) weeks? (?:from|after|on) (?:today|tomorrow|now|(?:next |this )?(?:{'|'.join(WEEKDAYS)}))$"
)


def _weeks_from(words: list[str]) -> re.Match[str] | None:
    """Returns the match of "a week from Friday" at the end of some words, of which it has five at most."""
    return _WEEKS_FROM.search(" ".join(words))


def _names_weekday(words: list[str]) -> bool:
    """Returns whether these words end with a weekday, as before "next week" or "of next week"."""
    named = words[:-1] if words and words[-1] == "of" else words
    return bool(named) and named[-1].removesuffix("s") in WEEKDAYS and "not" not in named


@lru_cache(maxsize=4096)
def day_phrase(text: str) -> str | None:
    """Returns the last day mentioned, as one would repeat it: "Tuesday", "next Friday", "Friday next week", "tomorrow", "June 5"."""
    words = word_tokens(text)
    for at in range(len(words) - 1, -1, -1):
        word = words[at]
        before = words[at - 1] if at else ""
        singular = word.removesuffix("s")
        if singular in WEEKDAYS:
            if before == "not":
                continue
            name = singular.capitalize()
            if span := _weeks_from(words[max(0, at - 4) : at + 1]):
                return f"{span.group().removesuffix(word)}{name}"
            if before in ("next", "this"):
                return f"{before} {name}"
            week = _WEEK_BEFORE.search(" ".join(words[:at])) or _WEEK_AFTER.match(" ".join(words[at + 1 :]))
            return f"{name} {week['week']}" if week else name
        if word in MONTHS and (date := _date_phrase(words, at)):
            return date
        if span := _weeks_from(words[max(0, at - 4) : at + 1]):
            return span.group()
        if word in _RELATIVE:
            return f"the {word}" if word == "weekend" else word
        if word == "week" and before in ("next", "this") and not _names_weekday(words[max(0, at - 3) : at - 1]):
            return f"{before} week"
    if re.search(r"\bany ?(day|time)\b", " ".join(words)):
        return "any day"
    return _day_of_month(text)


def _day_of_month(text: str) -> str | None:
    """Returns "the fifteenth" for "on the fifteenth" and "the 15th of the month"."""
    said = " ".join(text.lower().split())
    if re.search(r"\b(?:the )?end of (?:the|this|next) month\b", said):
        return "the end of the month"
    match = _MONTH_DAY.search(said)
    return None if match is None else f"the {match['on'] or match['of']}"


def _before_month(words: list[str]) -> int | None:
    """Returns the day in "the twenty first of", "the third of"."""
    words = words[:-1] if words[-1:] == ["of"] else words
    if not words or words[-1] not in _ORDINALS:
        return None
    tens = _TENS.get(words[-2], 0) if len(words) > 1 and _ORDINALS[words[-1]] < 10 else 0
    return tens + _ORDINALS[words[-1]]


def _date_phrase(words: list[str], month_at: int) -> str | None:
    month = words[month_at].capitalize()
    if (before := _before_month(words[:month_at])) is not None:
        return f"{month} {before}"
    after = [word for word in words[month_at + 1 : month_at + 4] if word != "the"]
    if len(after) > 1 and after[0] in _TENS and _ORDINALS.get(after[1], 10) < 10:
        return f"{month} {_TENS[after[0]] + _ORDINALS[after[1]]}"
    near = [words[at] for at in (month_at + 1, month_at + 2, month_at - 1, month_at - 2) if 0 <= at < len(words)]
    for word in near:
        if word in _ORDINALS:
            return f"{month} {_ORDINALS[word]}"
        if word.isdigit() and 1 <= int(word) <= 31:
            return f"{month} {int(word)}"
    value = first_number(" ".join(words[month_at + 1 : month_at + 3]))
    if value is not None and 1 <= value <= 31:
        return f"{month} {int(value)}"
    return month if month != "May" else None


NTH: Final = rf"(?:\d{{1,2}}(?:st|nd|rd|th)|(?:(?:twenty|thirty)[ -])?(?:{'|'.join(_ORDINALS)}|{'|'.join(f'{teen}th' for teen in ('thirteen', 'fourteen', 'fifteen', 'sixteen', 'seventeen', 'eighteen', 'nineteen'))}))"
_MONTH_DAY: Final = re.compile(
    rf"\bon the (?P<on>{NTH})\b(?! (?:one|floor|time|visit|day|try|of all|page|step))|\bthe (?P<of>{NTH}) of (?:the|this|next) month\b"
)
_DATE: Final = re.compile(
    rf"\b(?:{NTH}|\d{{1,2}}) (?:of )?(?:{'|'.join(MONTHS)})\b|\b(?:{'|'.join(MONTHS)}) (?:the )?(?:{NTH}|\d{{1,2}})\b"
    r"|\bon the \d{1,2}\b(?! oclock)|\bthe \d{1,2} of\b"
    r"|\b(?:get|gets|am|is) (?:off|out|done)(?: of)?(?: work| school)? (?:at|by|around) \w+\b"
)
_HOUR: Final = rf"(?:\d{{1,2}}(?:[:.]\d\d)?|{'|'.join([*list(_UNITS)[1:], 'ten', 'eleven', 'twelve'])})"
_MINUTE: Final = rf"(?:fifteen|thirty|forty five|oh \w+|{'|'.join(_TENS)})"
_PART: Final = r"(?:in the (?:morning|afternoon|evening)|at night|am|pm)"
_TIMES: Final = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b(?:half|quarter|ten|twenty|five) (?:past|to|after) {_HOUR}(?: {_PART})?\b",
        rf"\bhalf {_HOUR}(?: {_PART})?\b",
        rf"\b{_HOUR} {_MINUTE}(?: {_PART})?\b",
        rf"\b{_HOUR} oclock(?: {_PART})?\b",
        rf"\b{_HOUR} {_PART}\b",
        r"\b\d{1,2}[:.]\d\d\b",
        rf"(?<=\bat ){_HOUR}\b|(?<=\baround ){_HOUR}\b(?! (?:hundred|thousand|dollars|bucks|people|years|months|weeks|days|hours|minutes|percent))",
    )
)
_LONE_HOUR: Final = re.compile(rf"\b{_HOUR}\b")


@lru_cache(maxsize=4096)
def time_of_day(text: str, *, may_be_lone: bool = True) -> str | None:
    """Returns a time as one would repeat it: "eleven o'clock", "half past ten", "3 pm", "in the morning".

    ``may_be_lone``: a single number from one to twelve is an hour.
    """
    said = _DATE.sub(" ", " ".join(word_tokens(text)))
    for pattern in _TIMES:
        if match := pattern.search(said):
            return _spoken_time(match.group())
    if may_be_lone and (match := _LONE_HOUR.search(said)):
        hour = first_number(match.group())
        if hour is not None and 1 <= hour <= 24:
            return _spoken_time(match.group())
    for part in _DAY_PARTS:
        if re.search(rf"\b{part}\b", said):
            return part if part in ("noon", "midday", "midnight", "lunchtime") else f"in the {part}"
    return None


def clock_time(text: str) -> str | None:
    """Returns a time that is neither part of a day nor a lone number."""
    found = time_of_day(text, may_be_lone=False)
    return None if found is None or found.startswith("in the") else found


def _spoken_time(found: str) -> str:
    if re.fullmatch(r"[a-z]+|\d{1,2}", found):
        return f"{found} o'clock"
    return found.replace("oclock", "o'clock")


_EMAIL: Final = re.compile(r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+")
_SPOKEN_EMAIL: Final = re.compile(
    r"((?:[a-z0-9]+ (?:dot |underscore |dash )?){1,4})at ((?:[a-z0-9]+ )+?dot [a-z]{2,}(?: dot [a-z]{2,})?)\b"
)


def email_address(text: str) -> str | None:
    """Returns an email address, written or spoken ("alex at example dot com")."""
    if match := _EMAIL.search(text):
        return match.group().lower().rstrip(".")
    said = " ".join(word for word in word_tokens(text) if word not in POLITE)
    said = re.sub(r"^(?:(?:my|the|email|address|it|is|yes|sure) )+", "", said)
    if match := _SPOKEN_EMAIL.search(said):
        both = f"{match.group(1)}@{match.group(2)}"
        for word, sign in ((" dot ", "."), (" underscore ", "_"), (" dash ", "-")):
            both = both.replace(word, sign)
        return both.replace(" ", "")
    return None
