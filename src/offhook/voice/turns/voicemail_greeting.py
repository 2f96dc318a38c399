"""Does this sound like an answering machine? Asked for the first words of an outbound call only."""

import re

WITHIN_S = 25.0
_GREETING = re.compile(
    r"\b(leave (me |us |him |her )?(a |your )?(short |brief )?(message|name and number)|after the (tone|beep)|at the (tone|beep)"
    r"|voice ?mail( ?box)?|mailbox|(is|am|are) not available( to)?|can(no|')t (come to|take|answer)|reached the voice)\b",
    re.IGNORECASE,
)


def is_voicemail_greeting(text: str, at_s: float) -> bool:
    return at_s <= WITHIN_S and _GREETING.search(text) is not None
