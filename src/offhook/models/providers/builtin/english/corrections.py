"""Values that replace earlier ones: "make it eleven", "I said four, not five". Pure."""

import re
from typing import Final

from offhook.models.providers.builtin.english import spoken_values
from offhook.models.providers.builtin.english.utterance import CallerUtterance, parse_utterance
from offhook.models.providers.builtin.english.words import word_tokens

# Of a longer sentence, a single number may be anything.
_MAX_WORDS: Final = 9
_SAID: Final = re.compile(r"\bi (?:just |only )?(?:said|meant|say|mean)\b|\bmis(?:heard|understood)\b")


def changes_to_number(said: CallerUtterance, text: str) -> bool:
    """Returns True where the only number in the ``text`` of a change can be nothing but the new value."""
    if not (said.is_correction or said.wants_change) or len(spoken_values.all_numbers(text)) != 1:
        return False
    return any(spoken_values.all_numbers(part) and len(word_tokens(part)) <= _MAX_WORDS for part in text.split(", "))


def says_it_again(text: str) -> bool:
    """Returns True for "no, I said one, not four"."""
    said = " ".join(word_tokens(text))
    is_corrected = parse_utterance(text).is_correction or said.startswith("no ") or "wrong" in said
    return _SAID.search(said) is not None and is_corrected
