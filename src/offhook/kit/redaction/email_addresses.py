"""Finds e-mail addresses, written or spoken ("ann dot lee at example dot com"). Pure."""

import re
from typing import Final

# All repetitions are bounded, so that a long text without addresses takes linear time. Names of mailboxes and parts of
# domains have at most 64 characters.
_WRITTEN: Final = re.compile(
    r"[A-Za-z0-9][A-Za-z0-9._%+'-]{0,127}\s?@\s?[A-Za-z0-9][A-Za-z0-9-]*(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,24}"
)
_ENDS: Final = (
    "com|org|net|edu|gov|mil|io|co|us|uk|ca|de|fr|eu|nl|ch|at|es|it|se|no|dk|fi|pl|ie|be|pt|au|nz|in|jp|br|mx|info|biz|me|tv|ai|"
    "app|dev|example|test"
)
_SIGN: Final = r"(?:dot|underscore|dash|hyphen|minus|plus|period|point)"
_SPOKEN: Final = re.compile(
    rf"\b(?:(?:[a-z0-9] ){{2,63}}[a-z0-9]|[a-z0-9][a-z0-9'-]{{0,63}})(?: {_SIGN} (?:(?:[a-z0-9] ){{2,63}}[a-z0-9]|[a-z0-9]{{1,64}})){{0,9}}"
    r"(?: at | ?@ ?)[a-z0-9-]{1,64}(?: (?!dot )[a-z0-9-]{1,64}){0,2}(?:(?: dot | ?\. ?)[a-z0-9-]{1,64}){0,3}"
    rf"(?: dot | ?\. ?)(?:{_ENDS})\b",
    re.IGNORECASE,
)


def find_email_addresses(text: str) -> list[tuple[int, int]]:
    """Returns the places of addresses."""
    found = [match.span() for match in _WRITTEN.finditer(text)]
    if " at " in text.lower() or "@" in text:
        for match in _SPOKEN.finditer(text):
            if all(match.end() <= start or match.start() >= end for start, end in found):
                found.append(match.span())
    return found
