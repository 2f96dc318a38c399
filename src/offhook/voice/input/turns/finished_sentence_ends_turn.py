"""Waits after a sentence that sounds unfinished ("my number is", "and um"); ends the turn soon after a finished one."""

import re
from dataclasses import dataclass
from typing import Final

from offhook.voice.input.turns.rule import CallerTurnState

# English function words that do not end a complete statement.
_OPEN: Final = frozenset(
    {
        "a", "an", "the", "and", "or", "but", "so", "because", "if", "when", "then", "that", "which", "who", "to", "of",
        "for", "from", "with", "at", "in", "on", "by", "about", "into", "than", "as", "my", "your", "his", "her", "our",
        "their", "its", "i", "you", "he", "she", "it's", "i'm", "we're", "is", "are", "was", "were", "am", "be",
        "um", "uh", "erm", "er", "uhm", "hmm", "like", "well", "please", "would", "could", "should", "can", "will",
        "want", "need", "maybe", "actually", "number", "name", "address",
    }
)  # fmt: skip
_LAST_WORD: Final = re.compile(r"([\w'\u2019]+)[^\w]*$")


def is_unfinished(text: str) -> bool:
    """Returns whether more is likely to come, judging by the last word and by a final comma, dash or ellipsis."""
    text = text.strip()
    if text.endswith("?"):
        return False
    if text.endswith((",", "\u2026", "...", "-", "\u2013", "\u2014", ":")):
        return True
    last = _LAST_WORD.search(text)
    return last is not None and last.group(1).lower().replace("\u2019", "'") in _OPEN and len(text.split()) > 1


@dataclass(frozen=True, slots=True)
class FinishedSentenceEndsTurn:
    """``silence_s`` applies after a finished sentence (or the vendor's endpoint, if any), ``unfinished_s``
    otherwise."""

    silence_s: float
    unfinished_s: float

    def is_over(self, state: CallerTurnState) -> bool:
        if not state.text or state.is_speaking:
            return False
        if is_unfinished(f"{state.text} {state.partial}"):
            return state.silence_s >= self.unfinished_s
        return state.has_endpoint or state.silence_s >= self.silence_s
