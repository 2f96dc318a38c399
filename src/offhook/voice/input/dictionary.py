"""A workflow's vocabulary: words that recognition should expect, and how the voice pronounces them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

MAX_TERMS: Final = 200
MAX_TERM_LENGTH: Final = 100


@dataclass(frozen=True, slots=True)
class SpeechDictionary:
    """``terms`` go to speech recognition; ``spoken`` maps written words to what the voice reads."""

    terms: tuple[str, ...] = ()
    spoken: Mapping[str, str] = field(default_factory=dict)

    def apply_pronunciations(self, text: str) -> str:
        """Returns the text for the voice, with whole words replaced in any case."""
        if not self.spoken:
            return text
        # Longest first, so that "Offhook Pro" goes before "Offhook". The re module caches compiled patterns.
        words = "|".join(re.escape(word) for word in sorted(self.spoken, key=len, reverse=True))
        pattern = re.compile(rf"(?<!\w)(?:{words})(?!\w)", re.IGNORECASE)
        # "i" is found in the other two letters i of Turkish too, which are folded differently
        return pattern.sub(lambda match: self.spoken.get(match.group().casefold(), match.group()), text)


EMPTY_DICTIONARY: Final = SpeechDictionary()


def parse_dictionary(value: Any) -> SpeechDictionary:
    """Parses ``word`` or ``word = how it is spoken``, separated by commas or new lines, up to the limits."""
    if not isinstance(value, str):
        return EMPTY_DICTIONARY
    terms: dict[str, None] = {}
    spoken: dict[str, str] = {}
    for entry in re.split(r"[,\n]", value):
        term, _, pronunciation = (part.strip()[:MAX_TERM_LENGTH] for part in entry.partition("="))
        if not term or len(terms) >= MAX_TERMS:
            continue
        terms[term] = None
        if pronunciation:
            spoken[term.casefold()] = pronunciation
    return SpeechDictionary(tuple(terms), spoken) if terms else EMPTY_DICTIONARY
