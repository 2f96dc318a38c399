"""Reads back what a caller has told, where a prompt asks for it and its author wrote no sentence. Pure."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from offhook.models.ports import LlmMessage
from offhook.models.providers.builtin.english import names, spoken_values
from offhook.models.providers.builtin.english.utterance import parse_utterance
from offhook.models.providers.builtin.english.wording.statements import READS_BACK
from offhook.models.spoken_text import JoiningWords, join_choices, question_of

_ASKS: Final = {
    "name": re.compile(r"\bnames?\b", re.IGNORECASE),
    "phone": re.compile(r"\b(?:number|phone|telephone|mobile|reach|call you back)\b", re.IGNORECASE),
    "address": re.compile(r"\b(?:address|where|street|pick you up)\b", re.IGNORECASE),
    "amount": re.compile(r"\b(?:how much|budget|spend|borrow|amount)\b", re.IGNORECASE),
    "count": re.compile(r"\bhow many (?P<of>[a-z]+)\b", re.IGNORECASE),
    "time": re.compile(r"\b(?:time|(?<!since )when|day|hour)\b", re.IGNORECASE),
}
_ADDRESS: Final = re.compile(r"\b\d{1,5}[A-Za-z]?(?: (?!and\b|or\b|in\b|on\b|right\b|that\b)[A-Za-z][\w'.-]*){1,4}")
_ALL_OF_THEM: Final = JoiningWords(", ", "{first} and {last}", "{first}, and {last}", "")
# What is spelled out digit by digit is no time.
_DIGITS: Final = re.compile(
    rf"[,.]? ?\b(?:(?:{'|'.join(spoken_values.DIGITS)}|double|triple|\d+)\b[\s,.-]*){{3,}}", re.IGNORECASE
)
_THOUSANDS: Final = re.compile(r"\b(?:\d|\w+) ?(?:grand|k)\b", re.IGNORECASE)
MIN_PHONE_DIGITS: Final = 6
# Asks for one of a kind: what is answered can be read back as it was said.
_ASKS_KIND: Final = re.compile(
    r"\bwhich (?!day|date|time)|\bwhat (?:size|kind|type|sort|colou?r|flavou?r|model|make|brand|breed|toppings?|dish|item|product|plan|room|service)\b",
    re.IGNORECASE,
)
_NO_NAME_OF_A_KIND: Final = re.compile(
    r"\b(?:I|I'm|I'd|I'll|I've|me|my|we|our|us|you|your|it|it's|they|that's|is|are|was|were|do|does|don't|have|has|no|not|yes|sure|what|which|how|or)\b|\?",
    re.IGNORECASE,
)
_FILLERS: Final = re.compile(
    r"^(?:(?:uh|um|erm|er|oh|well|so|okay|ok|just|let's say|maybe|probably)\b[\s,.]*)+|[\s,]*\b(?:please|thanks|thank you|I think|I guess)\W*$|[.!]+$",
    re.IGNORECASE,
)
MAX_WORDS_OF_A_KIND: Final = 8


def read_back(prompt: str, messages: Sequence[LlmMessage]) -> str:
    """Returns "I have Friday, and 9 Willow Court." where a prompt asks for it; "" where there is nothing to read."""
    if READS_BACK.search(prompt) is None:
        return ""
    # a day that is named again is another one, in its place
    told: dict[str, str] = {}
    asked = ""
    for message in messages:
        if message.role == "assistant" and message.content:
            asked = question_of(message.content)
        elif message.role == "user":
            told |= dict(_values_in(asked, message.content)) or _kind_in(asked, message.content)
    return f"I have {join_choices(list(told.values()), _ALL_OF_THEM)}." if told else ""


def _values_in(asked: str, heard: str) -> Iterator[tuple[str, str]]:
    asks = {kind for kind, pattern in _ASKS.items() if pattern.search(asked)}
    if "address" in asks and (address := _ADDRESS.search(heard)):
        yield "address", address.group()
        heard = heard.replace(address.group(), "")
    spoken_digits = _DIGITS.search(heard)
    words = heard if spoken_digits is None else heard.replace(spoken_digits.group(), "")
    # "Saturday instead of Friday"
    standing = parse_utterance(words).standing
    if day := spoken_values.day_phrase(standing):
        yield "day", day
    time = spoken_values.time_of_day(standing) if "time" in asks and not asks & {"phone", "amount"} else None
    if time := time or spoken_values.clock_time(standing):
        yield "time", time
    if "amount" in asks and (amount := spoken_values.first_number(heard)) is not None:
        yield "amount", f"{amount * (1000 if _THOUSANDS.search(heard) else 1):,.0f} dollars"
    if (counted := _ASKS["count"].search(asked)) and (count := spoken_values.first_number(heard)) is not None:
        yield f"count of {counted['of']}", f"{count:g} {counted['of']}"
    if "name" in asks and (name := names.person_name(words)) is not None:
        yield "name", name
    digits = spoken_values.all_digits(heard)
    if "phone" in asks and len(digits) >= MIN_PHONE_DIGITS:
        yield "phone", _grouped(digits)
    if email := spoken_values.email_address(heard):
        yield "email", email


def _kind_in(asked: str, heard: str) -> dict[str, str]:
    """Returns "a large margherita" for "um, a large margherita, please" to "which pizza and what size?"."""
    kind = _FILLERS.sub("", _FILLERS.sub("", heard.strip()))
    is_one = _ASKS_KIND.search(asked) is not None and _NO_NAME_OF_A_KIND.search(kind) is None
    return {asked: kind} if is_one and 0 < len(kind.split()) <= MAX_WORDS_OF_A_KIND else {}


def _grouped(digits: str) -> str:
    """Returns the digits of a telephone number as they are spoken: "555 204 7781"."""
    if len(digits) != 10:
        return digits
    return f"{digits[:3]} {digits[3:6]} {digits[6:]}"
