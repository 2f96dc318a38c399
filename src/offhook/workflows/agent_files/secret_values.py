"""Takes secrets out of what leaves in a file. Pure."""

import re
from collections.abc import Mapping
from typing import Any, Final

# Names of fields and headers whose text is a secret, compared without case and punctuation.
_SECRET_NAME: Final = re.compile(r"(apikey|accesskey|secret|password|token|authorization|cookie|signature|privatekey)$")

_QUERY_PARAMETER: Final = re.compile(r"([?&])([^=&#\s]+)=([^&#\s]+)")


def without_secrets(value: Any, place: str = "") -> tuple[Any, list[str]]:
    """Returns the JSON value without secrets, and the places (``headers.Authorization``) of those that it had.

    Of a list of ``{"key": …, "value": …}`` the row stays with an empty value, so that a form shows what to fill in.
    """
    omitted: list[str] = []
    if isinstance(value, Mapping):
        if is_secret_row(value):
            return {**value, "value": ""}, [_join(place, str(value["key"]))]
        kept: dict[str, Any] = {}
        for key, inner in value.items():
            where = _join(place, str(key))
            if is_secret_name(str(key)) and isinstance(inner, str) and inner.strip():
                omitted.append(where)
                continue
            kept[str(key)], more = without_secrets(inner, where)
            omitted += more
        return kept, omitted
    if isinstance(value, list):
        parts = [without_secrets(inner, place) for inner in value]
        return [inner for inner, _ in parts], [where for _, places in parts for where in places]
    if isinstance(value, str):
        return _without_secret_parameters(value, place)
    return value, omitted


def is_secret_name(name: str) -> bool:
    return _SECRET_NAME.search(re.sub(r"[^a-z0-9]", "", name.lower())) is not None


def is_secret_row(value: Mapping[str, Any]) -> bool:
    key, text = value.get("key"), value.get("value")
    return isinstance(key, str) and isinstance(text, str) and bool(text.strip()) and is_secret_name(key)


def _without_secret_parameters(text: str, place: str) -> tuple[str, list[str]]:
    omitted: list[str] = []

    def drop(match: re.Match[str]) -> str:
        lead, name, secret = match.groups()
        if not is_secret_name(name) or secret.startswith("{{"):
            return match[0]
        omitted.append(_join(place, name))
        return f"{lead}{name}="

    if "://" not in text:
        return text, omitted
    return _QUERY_PARAMETER.sub(drop, text), omitted


def _join(place: str, name: str) -> str:
    return f"{place}.{name}" if place else name
