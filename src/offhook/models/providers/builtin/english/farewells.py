"""What callers say on leaving, beside what they answer: "yes, certainly, have a good day, bye". Pure."""

import re
from typing import Final

from offhook.models.providers.builtin.english.words import content_stems, essential_tokens, word_tokens

_PARTS: Final = re.compile(r"(?<=[,.;!?])\s+")
_FAREWELL: Final = re.compile(
    r"^(?:(?:and|so|okay|ok|right|alright|then|well|now|anyway|(?:many )?thanks|thank you|cheers|ta|(?:good ?)?bye|bye bye|cheerio|take care|see you|"
    r"(?:you )?have (?:yourself )?an? (?:good|nice|great|lovely|wonderful|pleasant) (?:day|one|evening|weekend|night|morning|afternoon|time)|"
    r"(?:so much|very much|a lot|again|for (?:now|calling|everything|your (?:help|time))|soon|then|now|love|dear|mate))(?: |$))+$"
)


def without_farewell(text: str) -> str:
    """Returns what is said before the caller takes leave; all of it where nothing else is said."""
    parts = _PARTS.split(text.strip())
    while len(parts) > 1 and _FAREWELL.match(" ".join(word_tokens(parts[-1]))):
        parts.pop()
    left = " ".join(parts).rstrip(",; ")
    return left if content_stems(left) or essential_tokens(left) else text
