"""Validates the fields of an account against those that its carrier declares. Pure."""

from collections.abc import Mapping
from typing import Any, Final

from offhook.kit.json_values import JsonObject
from offhook.telephony.errors import ConfigurationInvalid
from offhook.telephony.ports import ConfigField, ConfigSpec

MASKED: Final = "********"
_VISIBLE: Final = 4
_MAX_TEXT: Final = 8192
_SECRETS: Final = frozenset({"secret", "multiline_secret"})
# Fields that every carrier has: the rate and the concurrency of campaigns, and an unmanaged caller number.
_LIMITS: Final = {"calls_per_second": (float, 0.01, 1000.0), "max_concurrent_calls": (int, 1, 100_000)}
FROM_NUMBER: Final = "from_number"


def mask_secret(secret: str) -> str:
    """Returns the mask followed by the last characters; for a short secret, the mask alone."""
    return MASKED + (secret[-_VISIBLE:] if len(secret) > 2 * _VISIBLE else "")


def split_secrets(spec: ConfigSpec, fields: Mapping[str, str]) -> tuple[JsonObject, dict[str, str]]:
    """Returns the plain fields of an account and its secrets."""
    secret_names = {field.name for field in spec.fields if field.kind in _SECRETS}
    plain: JsonObject = {name: value for name, value in fields.items() if name not in secret_names}
    return plain, {name: value for name, value in fields.items() if name in secret_names}


def shared_fields(spec: ConfigSpec, config: Mapping[str, Any]) -> JsonObject:
    """Returns the fields of the platform's account that also apply to its sub-accounts: no credentials."""
    own = {field.name for field in spec.fields if field.kind in _SECRETS} | {spec.account_field}
    return {name: value for name, value in config.items() if name not in own}


def field_problem(name: str, message: str, kind: str = "value_error") -> JsonObject:
    return {"loc": ["body", "config", name], "msg": message, "type": kind}


def read_fields(
    spec: ConfigSpec, raw: Mapping[str, Any], stored: Mapping[str, str]
) -> tuple[JsonObject, dict[str, str]]:
    """Returns the plain fields and the secrets. A secret that is missing or sent as its mask keeps its stored value.

    Raises ConfigurationInvalid (422), which names every invalid field and repeats no value.
    """
    config: JsonObject = {}
    secrets: dict[str, str] = {}
    problems: list[JsonObject] = []
    for field in spec.fields:
        value = raw.get(field.name)
        if field.kind in _SECRETS:
            _read_secret(field, value, stored, secrets, problems)
        elif field.kind == "boolean":
            if isinstance(value, bool):
                config[field.name] = value
            elif value is not None:
                problems.append(field_problem(field.name, "This field must be true or false.", "bool_type"))
        else:
            _read_text(field, value, config, problems)
    for name, limit in _LIMITS.items():
        _read_number(name, raw.get(name), limit, config, problems)
    if raw.get(FROM_NUMBER):
        config[FROM_NUMBER] = str(raw[FROM_NUMBER])[:32]
    known = {field.name for field in spec.fields} | set(_LIMITS) | {"provider", FROM_NUMBER}
    problems += [
        field_problem(name, "This carrier does not have this field.", "extra_forbidden") for name in raw.keys() - known
    ]
    if problems:
        raise ConfigurationInvalid(detail=problems)
    return config, secrets


def _read_secret(
    field: ConfigField,
    value: object,
    stored: Mapping[str, str],
    secrets: dict[str, str],
    problems: list[JsonObject],
) -> None:
    kept = stored.get(field.name)
    if value is None or (kept is not None and value == mask_secret(kept)):
        if kept is not None:
            secrets[field.name] = kept
        elif field.is_required:
            problems.append(field_problem(field.name, "This field is required.", "missing"))
    elif not isinstance(value, str) or len(value) > _MAX_TEXT:
        problems.append(field_problem(field.name, "This field must be a string.", "string_type"))
    elif MASKED in value:
        problems.append(
            field_problem(field.name, "This masked value does not match the stored secret. Enter the secret itself.")
        )
    elif value.strip():
        secrets[field.name] = value.strip()
    elif field.is_required:
        problems.append(field_problem(field.name, "This field is required.", "missing"))


def _read_text(field: ConfigField, value: object, config: JsonObject, problems: list[JsonObject]) -> None:
    if isinstance(value, str) and value.strip() and len(value) <= _MAX_TEXT:
        config[field.name] = value.strip()
    elif value is not None and not isinstance(value, str):
        problems.append(field_problem(field.name, "This field must be a string.", "string_type"))
    elif isinstance(value, str) and len(value) > _MAX_TEXT:
        problems.append(
            field_problem(field.name, f"This field is limited to {_MAX_TEXT} characters.", "string_too_long")
        )
    elif field.is_required:
        problems.append(field_problem(field.name, "This field is required.", "missing"))


def _read_number(
    name: str,
    value: object,
    limit: tuple[type, float, float],
    config: JsonObject,
    problems: list[JsonObject],
) -> None:
    if value is None:
        return
    kind, low, high = limit
    if (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and (kind is float or isinstance(value, int))
        and low <= value <= high
    ):
        config[name] = value
    else:
        problems.append(field_problem(name, f"This field must be a number from {low:g} to {high:g}."))
