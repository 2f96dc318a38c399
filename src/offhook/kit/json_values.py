"""JSON of strangers (models, other servers) as values that can be stored, sent on and shown. Pure."""

import math
import unicodedata
from collections.abc import Mapping
from typing import Any, Final

# What answers are written with follows no deeper than 250 levels; nobody means more than this.
MAX_DEPTH: Final = 100
# Letters and symbols by their category that show nothing all the same: fillers of Hangul and the empty Braille pattern.
_FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_INVISIBLE: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})


def sanitize_json(value: Any, *, depth: int = 0) -> Any:
    """A copy without NUL characters and lone surrogates, with None for NaN and infinities, and nothing but JSON.

    Raises ValueError when it is nested deeper than 100 levels.
    """
    if depth > MAX_DEPTH:
        raise ValueError("nested too deeply")
    if isinstance(value, Mapping):
        return {sanitize_text(str(key)): sanitize_json(item, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [sanitize_json(item, depth=depth + 1) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return sanitize_text(str(value))


def nonblank_text(value: Any) -> str | None:
    """The text without the blanks around it; None for what is no text or holds nothing."""
    return value.strip() if isinstance(value, str) and value.strip() else None


def is_blank(text: str) -> bool:
    """Returns whether the text shows nothing: empty, or only white space, zero-width spaces, byte-order marks, soft hyphens."""
    return all(char in _FILLERS or unicodedata.category(char) in _INVISIBLE for char in text)


def sanitize_text(text: str) -> str:
    """The text as UTF-8 and PostgreSQL take it."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
