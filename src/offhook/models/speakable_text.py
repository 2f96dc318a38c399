"""Text as a voice on this machine gets it: without what is not spoken, in pieces. Pure."""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

# Emphasis hugs its words and vanishes; other markup separates words.
_EMPHASIS: Final = re.compile(r"[*`]+|(?<![^\W_])_+|_+(?![^\W_])")
_MARKUP: Final = re.compile(r"[_#~|<>\[\]{}\\^]+")
_SPOKEN_CATEGORIES: Final = frozenset("LNPZM")


def speakable_text(text: str) -> str:
    """Returns the speakable part of a text, without markup, control characters and emoji; empty without words."""
    kept = (
        c if unicodedata.category(c)[0] in _SPOKEN_CATEGORIES or unicodedata.category(c) in ("Sc", "Sm") else " "
        for c in _MARKUP.sub(" ", _EMPHASIS.sub("", text))
    )
    clean = " ".join("".join(kept).split())
    return clean if any(c.isalnum() for c in clean) else ""


def split_pieces(text: str, max_chars: int) -> Iterator[str]:
    """Splits a long text at sentence ends or spaces, so that calls sharing a program take turns."""
    while len(text) > max_chars:
        window = text[:max_chars]
        ends = [match.end() for match in re.finditer(r"[.!?;:,](?=\s)", window)]
        at = ends[-1] if ends else (window.rfind(" ") if " " in window[1:] else max_chars)
        yield text[:at].strip()
        text = text[at:].strip()
    if text:
        yield text
