"""A question for words without a verb: "first visit" is "is this your first visit". Pure."""

import re
from typing import Final

_PERSON: Final = (
    r"(?:customer|patient|client|member|student|tenant|guest|visitor|donor|beginner|adult|child|minor|veteran|resident|homeowner|owner|renter|buyer|seller|senior|smoker|vegetarian|"
    r"driver|player|subscriber|caller|user|walk-in|professional|veggie|vegan|pensioner|citizen|owner|supplier|employee|parent)"
)
_OF_PEOPLE: Final = re.compile(
    r"(?:still |not |already )*(?:pregnant|diabetic|married|insured|employed|available|interested|ready|at home|home|alone|safe|hurt|ill|sick|over \d+|under \d+|injured|registered|in pain|in a hurry|sure|happy|allergic)\b",
    re.IGNORECASE,
)
TO_DO: Final = re.compile(
    r"(?:cancel|reschedule|move|keep|change|renew|buy|sell|rent|book|order|return|exchange|stay|upgrade|pay|pick up|drop off|continue|speak|talk|wait|hold|come|donate|volunteer|"
    r"call back|leave a message|eat in|take out|try|sign up|join|update|extend|add|remove|send|replace|repair|fix|schedule|reserve|collect|confirm)\b",
    re.IGNORECASE,
)
_FIRST_TIME: Final = re.compile(
    r"(?:(?:it is |the |your |this is )*)(?P<nth>first|second|next|last) (?P<of>time|visit|appointment|call|order|stay|session|lesson|booking)(?P<rest>.*)",
    re.IGNORECASE,
)
_PARTICIPLE: Final = re.compile(r"(?:been|had|seen|used|tried|ordered|visited|stayed|booked|done)\b", re.IGNORECASE)


def ask_bare(words: str) -> str | None:
    """Returns the words of a question; None for clauses."""
    words = words.strip()
    if match := re.fullmatch(
        r"(?P<more>(?:any|some)(?:thing|one|body)? ?(?:else|more)\b(?: (?:to|for|about|they|we|you|that|in|on)\b.*)?)",
        words,
        re.IGNORECASE,
    ):
        return f"is there {match['more']}"
    if re.match(r"any \w+", words, re.IGNORECASE) and not re.search(r" (?:is|are|was|has|have|can)\b", words):
        return f"do you have {words}"
    if match := _FIRST_TIME.fullmatch(words):
        return f"is this your {match['nth']} {match['of']}{match['rest']}"
    if re.match(r"to \w+", words, re.IGNORECASE):
        # "whether to cancel or move it", "whether to send the technician"
        return f"would you like {words}" if " or " in words else f"should I {words[3:]}"
    if re.fullmatch(r"(?:an? )?emergency", words, re.IGNORECASE):
        return "is it an emergency"
    if _OF_PEOPLE.match(words):
        return f"are you {words}"
    if " or " in words:
        return _ask_alternatives(words)
    if re.fullmatch(rf"(?:an? )?(?:[\w-]+ )?{_PERSON}", words, re.IGNORECASE):
        return f"are you {_with_indefinite(words)}"
    return None


def _ask_alternatives(words: str) -> str | None:
    if (
        len(words.split()) > 9
        or re.match(r"(?:the|your|our|this|that|some\w*|every\w*|any\w*) ", words)
        or re.search(r"\b(?:is|are|was|were|has|have|can|will|do|does|you|they|we|it|I)\b", words)
    ):
        return None
    first, *_, last = re.split(r",? or |, ", words)
    if re.search(rf"\b{_PERSON}$", last, re.IGNORECASE) or re.search(rf"\b{_PERSON}$", first, re.IGNORECASE):
        if _PARTICIPLE.match(last):
            return f"are you {_with_indefinite(first)}, or have you {last}"
        return f"are you {_with_indefinite(words)}"
    if TO_DO.match(first) and TO_DO.match(last):
        return f"would you like to {words}"
    return f"would that be {words}"


def _with_indefinite(words: str) -> str:
    if re.match(r"(?:an?|the|your) ", words, re.IGNORECASE):
        return words
    return f"{'an' if words[0].lower() in 'aeio' else 'a'} {words}"
