"""The choices that an agent's sentence offers, and the one that a caller's words pick of them. Pure."""

import re
from collections.abc import Sequence
from typing import Final

from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.words import content_stems, word_tokens

_HOUR_LIST: Final = re.compile(
    r"\b((?:(?:\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)"
    r"(?: o'clock| oclock| ?[ap]m)?(?:, and |, or |, | and | or )){1,}"
    r"(?:\d{1,2}(?:[:.]\d\d)?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)(?: o'clock| ?[ap]m)?)",
    re.IGNORECASE,
)
_ABOUT_TIME: Final = re.compile(r"\b(times?|o'?clock|[ap]\.?m\.?|slots?|hours?|morning|afternoon)\b", re.IGNORECASE)
_FIRST: Final = re.compile(
    r"\b(first|earliest|earlier|soonest|former|early (?:one|slot))\b(?! (?:visit|appointment|day|name|of all|week|thing))|\b(as early as|the earliest|whichever is (?:first|earliest))\b"
)
_LAST: Final = re.compile(
    r"\b(last|latest|later|latter|final|late (?:one|slot))\b(?! (?:visit|appointment|day|name|week|month|year))|\b(as late as|the latest)\b"
)
_SECOND: Final = re.compile(
    r"\bsecond (?:one|slot|time|option|of (?:those|these|them))|\bthe second\b|\bthe middle one\b"
)
_THIRD: Final = re.compile(r"\bthird (?:one|slot|time|option)|\bthe third\b")
_ANY: Final = re.compile(
    r"\b(either|any(?: of (?:them|those|these)| one| time| slot)?|anytime|whichever|whatever|you (?:choose|pick|decide)|"
    r"i do not mind|do not care|not fussed|not bothered|no preference|up to you|all (?:fine|good))\b"
)
# "I need to talk to my husband first" picks none.
_BEFORE_THAT: Final = re.compile(
    r"\b(?:to|let me|must|should|will|better) \w+ (?:\w+ ){1,5}first(?:$|(?= i will\b| she\b| he\b| they\b))"
)
# "Not Monday either."
_NOT_EITHER: Final = re.compile(r"\b(?:not|no|never|neither|nor)\b.*\beither\b")
EARLIEST_DAY: Final = "the earliest possible day"
_EARLIEST: Final = re.compile(
    r"^(?:(?:um|uh|well|just|please|oh|honestly) )*(?:as soon as (?:possible|you can|i can)|asap|(?:the |your |whatever is |whichever is )?"
    r"(?:earliest|soonest|(?:first|next|earliest|soonest) (?:available|possible|free|open|day|opening|slot|appointment)(?: (?:day|slot|opening|appointment))?)"
    r"(?: (?:you have|you have got|possible|available|you can do))*|the sooner the better|as early as possible)(?: please)?$"
)
_LONE_MONTH_DAY: Final = re.compile(rf"^(?:(?:um|uh|well|maybe|say) )*the (?P<day>{spoken_values.NTH})(?: please)?$")
_SOME_DAY: Final = re.compile(
    r"\bin (?:a|one|two|three|four|a couple of|a few) (?:days|weeks?)(?: time)?$|^(?:the |at the |by the )?end of (?:the|this|next) week$|^next month$"
)


def answered_day(text: str) -> str | None:
    """Returns the day in the answer to "which day?": also "the fifteenth", "in two weeks" and "as soon as possible",
    which name none elsewhere."""
    said = " ".join(word_tokens(text))
    if (named := spoken_values.day_phrase(text)) is not None:
        return named
    if match := _LONE_MONTH_DAY.match(said):
        return f"the {match['day']}"
    if match := _SOME_DAY.search(said):
        return match.group()
    return EARLIEST_DAY if _EARLIEST.match(said) else None


def offered_hours(sentence: str) -> tuple[int, ...]:
    """Returns the hours (0-23) of a list of times in a sentence, in its order; none when it lists no times.

    An hour without "am" or "pm" is one of a working day: from seven to eleven in the morning, else afternoon.
    """
    if not _ABOUT_TIME.search(sentence):
        return ()
    longest = max(_HOUR_LIST.findall(sentence), key=len, default="")
    parts = re.split(r", and |, or |, | and | or ", longest)
    hours = [hour for part in parts if (hour := hour_of(part)) is not None]
    return tuple(hours) if len(hours) > 1 else ()


def hour_of(time: str) -> int | None:
    """Returns the hour (0-23) of a time on the hour as :func:`spoken_values.time_of_day` gives it; else None."""
    said = " ".join(word_tokens(time))
    if re.search(r"\b(half|quarter|past|to|after|thirty|fifteen|forty)\b|[:.](?!00)\d\d", said):
        return None
    if re.search(r"\b(noon|midday)\b", said):
        return 12
    number = spoken_values.first_number(said)
    if number is None or not number.is_integer() or not 0 <= number <= 24:
        return None
    hour = int(number)
    if re.search(r"\b(pm|afternoon|evening)\b", said) and hour < 12:
        return hour + 12
    if hour < 7 and not re.search(r"\b(am|morning)\b", said):
        return hour + 12
    return hour


def hours_in_part(hours: Sequence[int], text: str) -> list[int]:
    """Returns the hours in the part of the day that a text names; all of them when it names none."""
    said = " ".join(word_tokens(text))
    if re.search(r"\b(afternoon|after lunch|pm|after (?:work|school))\b", said):
        return [hour for hour in hours if hour >= 12 and hour < 18]
    if re.search(r"\b(evening|tonight|night)\b", said):
        return [hour for hour in hours if hour >= 17]
    if re.search(r"\b(morning|before (?:lunch|noon|work)|early)\b", said):
        return [hour for hour in hours if hour < 12]
    return list(hours)


def spoken_hour(hour: int) -> str:
    """Returns an hour as one says it: 14 → "two o'clock"."""
    names = "twelve one two three four five six seven eight nine ten eleven".split()  # noqa: SIM905
    return f"{names[hour % 12]} o'clock"


# "None of those are any good to me", "I can't do any of those".
NONE_OFFERED: Final = re.compile(
    r"\b(?:none|neither|not any) of (?:those|these|them|that)\b|\bnot (?:\w+ ){0,3}(?:any|either) of (?:those|these|them)\b"
    r"|\bnone (?:work|works|suit|suits|is|are) (?!left)"
)


def pick_hour(hours: Sequence[int], text: str) -> int | None:
    """Returns the hour that words like "the later one" or "either" pick of several; None when they pick none."""
    said = " ".join(word_tokens(text))
    within = hours_in_part(hours, text)
    if not within or _BEFORE_THAT.search(said) or NONE_OFFERED.search(said):
        return None
    if len(within) == 1 and len(hours) > 1 and len(within) < len(hours):
        return within[0]
    if _SECOND.search(said) and len(within) > 1:
        return within[1]
    if _THIRD.search(said) and len(within) > 2:
        return within[2]
    if _LAST.search(said):
        return max(within)
    if _FIRST.search(said):
        return min(within)
    return within[0] if _ANY.search(said) and not _NOT_EITHER.search(said) else None


_ASIDE: Final = re.compile(r"(?:oh|well|um+|uh+|hmm|so|right|okay|ok|ah|yes|yeah)", re.IGNORECASE)
MAX_OPTION_WORDS: Final = 3
_CORRECTS: Final = re.compile(r"\b(?:no|not|wait|but|actually|instead|rather|mean|lie|sorry)\b", re.IGNORECASE)


def drop_reason(text: str, question: str) -> str:
    """Returns only the option of an answer that names it first: "nights, my wife does days" to "days or nights?"."""
    clauses = [part.strip() for part in re.split(r"[,.;!]+", text)]
    named = [part for part in clauses if part and not _ASIDE.fullmatch(part)]
    if len(named) < 2 or " or " not in question or _CORRECTS.search(text):
        return text
    if len(word_tokens(named[0])) > MAX_OPTION_WORDS or re.search(r"\d", text):
        # "there's a gate, the code is 4471"
        return text
    stems = set(content_stems(named[0]))
    return named[0] if stems and stems <= set(content_stems(question)) else text
