"""Checks the data of a node against what its kind declares."""

import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from offhook.kit.json_values import is_blank
from offhook.workflows.nodes.spec import FieldProblem, NodeKind, PropertySpec


def check_data(kind: NodeKind, data: Mapping[str, Any]) -> Iterator[FieldProblem]:
    """Every problem of a node's ``data``; keys that the kind does not declare are not looked at."""
    for spec in kind.spec.properties:
        if spec.name == "prompt":
            yield from _check_prompt(kind, data)
        elif spec.name == "name":
            yield from _check_value(spec, data.get("name"), "data.name", is_required=True)
        else:
            # required is a hint for editors; the kind's own check covers a call's real needs
            yield from _check_value(spec, data.get(spec.name), f"data.{spec.name}", is_required=False)
    if kind.check is not None:
        yield from kind.check(data)


def _check_prompt(kind: NodeKind, data: Mapping[str, Any]) -> Iterator[FieldProblem]:
    prompt = data.get("prompt")
    has_fixed_sentence = _is_filled(data.get("say")) or data.get("say_type") == "audio"
    if prompt is not None and not isinstance(prompt, str):
        yield FieldProblem("data.prompt", "field_invalid", "Input should be a valid string.")
    elif not _is_filled(prompt) and not (kind.is_conversational and has_fixed_sentence):
        yield FieldProblem("data.prompt", "prompt_required", f"Prompt is required for {kind.prompt_name} nodes.")


def _is_filled(value: object) -> bool:
    return isinstance(value, str) and not is_blank(value)


def _check_value(spec: PropertySpec, value: Any, field: str, *, is_required: bool) -> Iterator[FieldProblem]:
    if value is None:
        if is_required:
            yield FieldProblem(field, "field_required", "Field required.")
        return
    message = _check_type(spec, value)
    if message is not None:
        yield FieldProblem(field, "field_invalid", message)
    elif is_required and isinstance(value, str) and is_blank(value):
        yield FieldProblem(field, "field_required", "Field required.")
    elif spec.type == "fixed_collection":
        for index, row in enumerate(value):
            yield from _check_row(spec, row, f"{field}.{index}")


def _check_row(spec: PropertySpec, row: Any, field: str) -> Iterator[FieldProblem]:
    if not isinstance(row, Mapping):
        yield FieldProblem(field, "field_invalid", "Input should be an object.")
        return
    for column in spec.properties or ():
        yield from _check_value(
            column, row.get(column.name), f"{field}.{column.name}", is_required=bool(column.required)
        )


def _check_type(spec: PropertySpec, value: Any) -> str | None:
    """Returns what is wrong with a value's type, or None."""
    if spec.type in _FURTHER_CHECKS:
        return _FURTHER_CHECKS[spec.type](spec, value)
    if spec.type in _ITEM_TYPES:
        is_list = isinstance(value, list) and all(type(item) in _ITEM_TYPES[spec.type] for item in value)
        return None if is_list else "Input should be a list of ids."
    types, message = _TYPES[spec.type]
    return None if isinstance(value, types) else message


def _check_number(spec: PropertySpec, value: Any) -> str | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < math.inf:
        return "Input should be a valid number."
    if spec.min_value is not None and value < spec.min_value:
        return f"Input should be greater than or equal to {spec.min_value:g}."
    if spec.max_value is not None and value > spec.max_value:
        return f"Input should be less than or equal to {spec.max_value:g}."
    return None


def _check_option(spec: PropertySpec, value: Any) -> str | None:
    allowed = [option.value for option in spec.options or ()]
    return None if value in allowed else f"Input should be one of: {', '.join(map(str, allowed))}."


def _check_option_list(spec: PropertySpec, value: Any) -> str | None:
    if not isinstance(value, list):
        return "Input should be a list."
    return next((message for item in value if (message := _check_option(spec, item))), None)


def _check_url(spec: PropertySpec, value: Any) -> str | None:
    if not isinstance(value, str):
        return "Input should be a valid string."
    # an address may begin with a variable, and may be empty in a disabled node
    is_right = not value.strip() or re.match(r"\s*(https?://|\{\{)", value, re.IGNORECASE)
    return None if is_right else "Input should be an address that begins with http:// or https://."


_TEXT: Final = ((str,), "Input should be a valid string.")
_TYPES: Final[dict[str, tuple[tuple[type, ...], str]]] = {
    "string": _TEXT,
    "mention_textarea": _TEXT,
    "recording_ref": _TEXT,
    "credential_ref": _TEXT,
    "boolean": ((bool,), "Input should be a valid boolean."),
    "fixed_collection": ((list,), "Input should be a list."),
    "json": ((Mapping, list), "Input should be a JSON object or list."),
}
_ITEM_TYPES: Final[dict[str, set[type]]] = {"tool_refs": {str}, "document_refs": {str, int}}
_FURTHER_CHECKS: Final[dict[str, Callable[[PropertySpec, Any], str | None]]] = {
    "url": _check_url,
    "number": _check_number,
    "options": _check_option,
    "multi_options": _check_option_list,
}
