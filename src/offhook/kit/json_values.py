"""Types for open JSON, and cleaning for JSON that models and other servers send. Pure.

``JsonValue`` is pydantic's recursive alias, so the same name serves annotations, schemas and mypy. Use these types for JSON
whose fields this code does not define; give everything else a model, a dataclass or a TypedDict.
"""

import json
import math
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias, overload

from pydantic import JsonValue

JsonObject: TypeAlias = dict[str, JsonValue]
# For parameters that are only read: unlike dict and list these accept values of a narrower type, such as dict[str, str].
ReadableJson: TypeAlias = "Mapping[str, ReadableJson] | Sequence[ReadableJson] | str | int | float | bool | None"
ReadableJsonObject: TypeAlias = Mapping[str, ReadableJson]

# The JSON writer stops at 250 levels; no real response is nested deeper than this.
MAX_DEPTH: Final = 100
# Characters that are letters and symbols by category but show nothing: fillers of Hangul and the empty Braille pattern.
_FILLERS: Final = frozenset("\u115f\u1160\u2800\u3164\uffa0")
_INVISIBLE: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf"})


@overload
def sanitize_json(value: Mapping[str, object], *, depth: int = 0) -> JsonObject: ...
@overload
def sanitize_json(value: object, *, depth: int = 0) -> JsonValue: ...
def sanitize_json(value: object, *, depth: int = 0) -> JsonValue:
    """Returns a copy without NUL characters and lone surrogates, with None for NaN and infinities, and nothing but JSON.

    Raises ValueError when the value is nested deeper than 100 levels.
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


def parse_json(text: str | bytes) -> Any:
    """Parses JSON that another server sent. Raises ValueError also when it is nested deeper than 100 levels: the
    library raises RecursionError for it, or does so later, when the value is written again."""
    try:
        value = json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    brackets = (b"[", b"{") if isinstance(text, bytes) else ("[", "{")
    if sum(map(text.count, brackets)) > MAX_DEPTH and _is_too_deep(value):  # type: ignore[arg-type]
        raise ValueError("nested too deeply")
    return value


def _is_too_deep(value: Any) -> bool:
    level = [value]
    for _ in range(MAX_DEPTH):
        level = [
            child
            for part in level
            for child in (part.values() if isinstance(part, dict) else part)
            if isinstance(child, dict | list)
        ]
        if not level:
            return False
    return True


def as_json_object(value: object) -> JsonObject:
    """Returns the value if it is a JSON object, an empty object otherwise."""
    return value if isinstance(value, dict) else {}


def as_json_list(value: object) -> list[JsonValue]:
    """Returns the value if it is a JSON array, an empty list otherwise."""
    return value if isinstance(value, list) else []


def nonblank_text(value: object) -> str | None:
    """Returns the text without surrounding whitespace, or None if the value is not text or is blank."""
    return value.strip() if isinstance(value, str) and value.strip() else None


def is_blank(text: str) -> bool:
    """Returns whether the text shows nothing: empty, or only white space, zero-width spaces, BOMs and soft hyphens."""
    return all(char in _FILLERS or unicodedata.category(char) in _INVISIBLE for char in text)


def sanitize_text(text: str) -> str:
    """Returns the text in a form that UTF-8 and PostgreSQL accept."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


__all__ = [
    "JsonObject",
    "JsonValue",
    "ReadableJson",
    "ReadableJsonObject",
    "as_json_list",
    "as_json_object",
    "is_blank",
    "nonblank_text",
    "parse_json",
    "sanitize_json",
    "sanitize_text",
]
