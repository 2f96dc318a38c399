"""The vocabulary of a value, derived from its name and description. Pure."""

import re
from typing import Final

_KINDS: Final = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        ("email", r"e-?mail"),
        (
            "digits",
            (
                r"\b(digits?|phone|telephone|mobile|zip|postcode|postal code|pin)\b|"
                r"\b(order|account|reference|invoice|booking|customer|member|confirmation|ticket|policy|card|tracking|case)"
                r"[ _]?(number|code|id|no)\b"
            ),
        ),
        ("day", r"\b(day|date|weekday)\b"),
        ("time", r"\b(time|hour|o'clock)\b"),
        ("name", r"\b(full |first |last |sur)?name\b"),
        ("number", r"\b(rating|score|rate|how many|amount|quantity|count|age|number of)\b"),
    )
)


_STREET: Final = re.compile(
    r"\b\d{1,5}[a-z]?(?: [a-z][\w'.-]*){1,3}? (?:street|st|avenue|ave|road|rd|drive|dr|lane|ln|court|ct|way|place|pl|boulevard|blvd|"
    r"terrace|circle|parkway|highway|square|trail|alley|row)\b[^.?!;]*",
    re.IGNORECASE,
)


def asks_address(name: str, described: str) -> bool:
    """Returns whether a value is the address of a place, and no email address."""
    about = f"{name.replace('_', ' ')} {described}".lower()
    return "address" in about and "mail" not in about


def asks_phone(name: str, described: str) -> bool:
    """Returns whether a value is a telephone number."""
    about = f"{name.replace('_', ' ')} {described}".lower()
    return re.search(r"\b(?:phone|telephone|mobile|cell|callback)\b", about) is not None


def street_address(text: str) -> str | None:
    """Returns a street address in the middle of a sentence: "the furnace quit, I'm at 27 Elm Street in Salem"."""
    found = _STREET.search(text)
    return None if found is None else found.group().strip(" ,")


def kind_of(name: str, described: str) -> str | None:
    """Returns the vocabulary of a value, by its name first and then by its description."""
    for text in (name.replace("_", " "), described):
        for kind, pattern in _KINDS:
            if pattern.search(text):
                return kind
    return None
