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


def kind_of(name: str, described: str) -> str | None:
    """Returns the vocabulary of a value, by its name first and then by its description."""
    for text in (name.replace("_", " "), described):
        for kind, pattern in _KINDS:
            if pattern.search(text):
                return kind
    return None
