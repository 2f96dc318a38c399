"""JSON that the database accepts, of what models and callers say."""

import json
import math
from collections.abc import Mapping
from typing import Any

from offhook.kit.json_values import JsonObject


def encode_event_data(data: Mapping[str, Any]) -> str:
    """Encodes JSON that PostgreSQL accepts: without NUL characters, lone surrogates, NaN and non-JSON values."""
    try:
        encoded = json.dumps(data, ensure_ascii=False, allow_nan=False)
        encoded.encode()
    except (ValueError, TypeError):
        return json.dumps(_clean_value(data), ensure_ascii=False)
    if "\\u0000" in encoded:
        return json.dumps(_clean_value(data), ensure_ascii=False)
    return encoded


def to_storable_json(value: Mapping[str, object]) -> JsonObject:
    """Copies plain JSON into a form that JSONB accepts: models and callers may send anything, even NUL characters."""
    copy: JsonObject = json.loads(encode_event_data(value))
    return copy


def _clean_value(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {_clean_text(str(key)): _clean_value(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_clean_value(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int):
        return value
    return _clean_text(str(value))


def _clean_text(value: str) -> str:
    return value.replace("\0", "").encode("utf-8", "replace").decode()
