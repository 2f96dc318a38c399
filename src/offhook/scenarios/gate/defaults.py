"""Finds defaults of variables, and fixed values of an agent, that are not those of the version before. Pure.

Scenarios that give every value do not hear a default, and in a prompt only a model reads it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from offhook.workflows.template import TemplateVariable, find_variables

# Scenarios hear these; of a text that was written anew for the model, another default is a part.
_SPOKEN: Final = frozenset({"say", "offline_say", "greeting", "transition_speech"})
_SLOT: Final = re.compile(r"\{\{\s*([^{}|]+?)\s*(?:\|[^{}]*)?\}\}")


@dataclass(frozen=True, slots=True)
class ChangedDefault:
    """A variable that stands for other words: where it is missing in a text, or, without ``kind``, everywhere.

    ``kind`` and ``id`` are the node or the edge of the text. ``now`` is empty for words that were lost.
    """

    kind: str | None
    id: str | None
    variable: str
    was: str
    now: str


def find_changed_defaults(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[ChangedDefault]:
    """Yields each default in the texts of nodes and edges that became another one or was lost. A new default is none."""
    for kind in ("node", "edge"):
        old = _texts_by_place(before, kind)
        for (item_id, path), text in _texts_by_place(after, kind).items():
            was = old.get((item_id, path), "")
            if was == text or (path[0] not in _SPOKEN and not _differ_in_defaults_only(was, text)):
                continue
            for variable, earlier in _pair_variables(text, was):
                if earlier and variable.default != earlier:
                    yield ChangedDefault(kind, item_id, variable.path, earlier, variable.default or "")


def find_changed_values(
    before: Mapping[str, Any], after: Mapping[str, Any], definition: Mapping[str, Any]
) -> Iterator[ChangedDefault]:
    """Yields each variable of an agent whose fixed text became another one or was lost, and which its texts use."""
    texts = [text for kind in ("node", "edge") for text in _texts_by_place(definition, kind).values()]
    used = {variable.path.removeprefix("initial_context.") for text in texts for variable in find_variables(text)}
    for name, was in before.items():
        now = after.get(name)
        if name in used and isinstance(was, str) and was and now != was:
            yield ChangedDefault(None, None, name, was, "" if now is None else str(now))


def _texts_by_place(definition: Mapping[str, Any], kind: str) -> dict[tuple[str, tuple[str, ...]], str]:
    """Returns the texts with variables by the id of their node or edge and their path in its data."""
    items = definition.get(f"{kind}s")
    return {
        (str(item.get("id")), path): text
        for item in (items if isinstance(items, list) else ())
        if isinstance(item, Mapping)
        for path, text in _walk_texts(item.get("data"), ())
        if "{{" in text
    }


def _walk_texts(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, str):
        if path:
            yield path, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _walk_texts(item, (*path, str(key)))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _walk_texts(item, (*path, str(at)))


def _pair_variables(text: str, was: str) -> Iterator[tuple[TemplateVariable, str | None]]:
    """Yields the variables of a text, each with the default that the same one had before."""
    earlier: dict[str, list[str | None]] = {}
    for variable in find_variables(was):
        earlier.setdefault(variable.path, []).append(variable.default)
    for variable in find_variables(text):
        defaults = earlier.get(variable.path)
        if defaults:
            yield variable, defaults.pop(0)


def _differ_in_defaults_only(was: str, text: str) -> bool:
    return _SLOT.sub(r"{{\1}}", was) == _SLOT.sub(r"{{\1}}", text)
