"""The formats of a model configuration: services with separate keys, masks, and the flat keys of version 1. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from offhook.models.errors import KeyMasked
from offhook.models.vendors import KINDS

VISIBLE_KEY_CHARS: Final = 4
MASK: Final = "*"
# A value that looks like a mask but does not match the stored key: a mistake, not a key.
_LOOKS_MASKED: Final = "***"
FLAT_FIELDS: Final[Mapping[str, tuple[str, str]]] = {
    "llm_provider": ("llm", "provider"),
    "llm_model": ("llm", "model"),
    "llm_temperature": ("llm", "temperature"),
    "llm_api_key": ("llm", "api_key"),
    "tts_provider": ("tts", "provider"),
    "tts_voice": ("tts", "voice_id"),
    "tts_model": ("tts", "model"),
    "tts_api_key": ("tts", "api_key"),
    "stt_provider": ("stt", "provider"),
    "stt_model": ("stt", "model"),
    "stt_language": ("stt", "language"),
    "stt_api_key": ("stt", "api_key"),
}
FLAT_KEY_PATTERN: Final = re.compile(r"_api_key$")


def iter_services(configuration: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields every service of a version-2 configuration with the name of its place: ``llm``, ``fallbacks.llm.0``."""
    for kind in KINDS:
        if isinstance(service := configuration.get(kind), dict):
            yield kind, service
    for place in ("realtime", "embeddings"):
        if isinstance(service := configuration.get(place), dict):
            yield place, service
    fallbacks = configuration.get("fallbacks")
    for kind in KINDS:
        listed = fallbacks.get(kind) if isinstance(fallbacks, dict) else None
        for index, service in enumerate(listed if isinstance(listed, list) else ()):
            yield f"fallbacks.{kind}.{index}", service


def copy_json(value: Any) -> Any:
    """Returns a deep copy of plain JSON."""
    if isinstance(value, dict):
        return {name: copy_json(item) for name, item in value.items()}
    return [copy_json(item) for item in value] if isinstance(value, list) else value


def with_keys(configuration: Mapping[str, Any], keys: Mapping[str, str]) -> dict[str, Any]:
    """Returns the configuration with the keys back in their places."""
    result: dict[str, Any] = copy_json(dict(configuration))
    for place, service in iter_services(result):
        if place in keys:
            service["api_key"] = keys[place]
    return result


def without_keys(configuration: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """Returns the configuration without keys, and the keys by place."""
    result: dict[str, Any] = copy_json(dict(configuration))
    keys = {place: key for place, service in iter_services(result) if (key := service.pop("api_key", None))}
    return result, keys


def mask_keys(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the configuration for display: only the last characters of each key are visible."""
    result: dict[str, Any] = copy_json(dict(configuration))
    for _, service in iter_services(result):
        if service.get("api_key"):
            service["api_key"] = mask_key(service["api_key"])
    return result


def mask_key(key: str) -> str:
    """Masks a key: ``sk-abcd1234`` → ``*******1234``; a short key is hidden in full."""
    shown = key[-VISIBLE_KEY_CHARS:] if len(key) > VISIBLE_KEY_CHARS else ""
    return MASK * (len(key) - len(shown)) + shown


def keep_keys(sent: Mapping[str, Any], stored: Mapping[str, Any]) -> dict[str, Any]:
    """Returns ``sent`` with stored keys where it has their mask or omits the key; ``null`` and ``""`` remove a key.

    A stored key is kept only for its own provider and address, so that a user who cannot read it cannot have it sent
    elsewhere. Raises KeyMasked (422) when a mask matches no stored key.
    """
    result: dict[str, Any] = copy_json(dict(sent))
    for place, service in iter_services(result):
        if "api_key" not in service:
            service["api_key"] = _stored_key(place, service, stored, None)
        elif service["api_key"] and _LOOKS_MASKED in service["api_key"]:
            service["api_key"] = _stored_key(place, service, stored, service["api_key"])
            if service["api_key"] is None:
                raise KeyMasked(
                    f"{place}.api_key is masked and does not match the key stored for this provider. Send the full key."
                )
        if not service["api_key"]:
            del service["api_key"]
    return result


def _stored_key(place: str, service: Mapping[str, Any], stored: Mapping[str, Any], given: str | None) -> str | None:
    found = [
        (other_place != place, entry["api_key"])
        for other_place, entry in iter_services(dict(stored))
        if other_place.split(".")[-2:-1] == place.split(".")[-2:-1]
        and (other_place == place or "." in place)
        and all(entry.get(name) == service.get(name) for name in ("provider", "base_url"))
        and entry.get("api_key")
        and (given is None or mask_key(entry["api_key"]) == given)
    ]
    return min(found)[1] if found else None


def upgrade_flat(flat: Mapping[str, Any]) -> dict[str, Any]:
    """Converts version 1 (flat keys) to version 2 and drops empty values and keys that no service has."""
    result: dict[str, Any] = {}
    for name, (kind, field) in FLAT_FIELDS.items():
        if flat.get(name) not in (None, ""):
            result.setdefault(kind, {})[field] = flat[name]
    return result


def migration_changes(flat: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Lists the changes of :func:`upgrade_flat` key by key, secrets masked: ``{path, from, to}``."""
    result = []
    for name, value in flat.items():
        kind, field = FLAT_FIELDS.get(name, (None, None))
        shown = mask_key(str(value)) if FLAT_KEY_PATTERN.search(name) and value else value
        has_place = kind is not None and value not in (None, "")
        result.append(
            {"path": f"{kind}.{field}" if has_place else name, "from": shown, "to": shown if has_place else None}
        )
    return result
