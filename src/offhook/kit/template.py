"""Template variables of prompts, greetings and conditions: ``{{ name }}``, ``{{ name | default }}``. Pure."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, Final

from offhook.kit.time_zones import find_zone

_SLOT: Final = re.compile(r"\{\{([^{}|]+)(?:\|([^{}]*))?\}\}")
_CLOCK: Final = re.compile(r"(current_time|current_weekday)(?:_(.+))?")
WEEKDAY: Final = "current_weekday"
_CLOCK_FORMATS: Final = {"current_time": "%Y-%m-%d %H:%M:%S %Z", WEEKDAY: "%A"}
# Takes ``current_time`` or ``current_weekday`` and the moment, in its time zone.
ClockFormat = Callable[[str, datetime], str]
# Prefixes by which a value may be addressed even when the context is flat.
_FLAT_PREFIXES: Final = ("initial_context.", "gathered_context.")
# Of all values in one template: it can name a long value as often as it has characters.
MAX_FILLED_CHARS: Final = 500_000


def plain_clock(name: str, moment: datetime) -> str:
    """Formats the clock for programs, the same in every call: "Monday" and "2026-01-05 12:00:00 UTC"."""
    return moment.strftime(_CLOCK_FORMATS[name])


def _present() -> datetime:
    return datetime.now(UTC)


_wall_clock: ContextVar[Callable[[], datetime]] = ContextVar("wall_clock", default=_present)


@contextmanager
def use_wall_clock(now: Callable[[], datetime]) -> Iterator[None]:
    """Lets templates that are rendered in this block show another time."""
    token = _wall_clock.set(now)
    try:
        yield
    finally:
        _wall_clock.reset(token)


@dataclass(frozen=True, slots=True)
class TemplateVariable:
    """One ``{{ … }}`` of a text; ``default`` is None when there is none."""

    path: str
    default: str | None

    @property
    def is_built_in(self) -> bool:
        return _CLOCK.fullmatch(self.path) is not None


def find_variables(text: str) -> Iterator[TemplateVariable]:
    """Returns every variable of a text, in order, including repeated ones."""
    for slot in _SLOT.finditer(text):
        yield _parse_variable(slot)


@dataclass(slots=True)
class _Room:
    """The characters that values may still fill."""

    left: int

    def fit(self, text: str) -> str:
        fitting = text[: self.left]
        self.left -= len(fitting)
        return fitting


def render_template(
    text: str,
    context: Mapping[str, Any],
    *,
    now: datetime | None = None,
    max_filled: int = MAX_FILLED_CHARS,
    clock: ClockFormat = plain_clock,
) -> str:
    """Fills a template from a context. Never raises: a missing value becomes its default, or nothing. Values beyond
    ``max_filled`` characters in all are cut.

    ``current_time``, ``current_weekday`` and ``current_time_<IANA zone>`` are built in (``now`` is aware, default the
    present, shown by ``clock``); a zone named in any of them is inherited by the bare ones. ``None`` and ``""`` use the default, objects
    and lists become JSON. A written ``\\n`` becomes a line break.
    """
    return _fill_text(text, context, now, _Room(max_filled), clock)


def _fill_text(
    text: str, context: Mapping[str, Any], now: datetime | None, room: _Room, clock: ClockFormat = plain_clock
) -> str:
    moment = now or _wall_clock.get()()
    clocks = (_CLOCK.fullmatch(variable.path) for variable in find_variables(text))
    zones = (find_zone(clock[2].strip()) for clock in clocks if clock is not None and clock[2])
    inherited = next((zone for zone in zones if zone is not None), None)

    def replace_slot(slot: re.Match[str]) -> str:
        if not room.left:
            return ""
        variable = _parse_variable(slot)
        value = lookup_path(context, variable.path)
        if value is None or value == "":
            value = _clock_value(variable.path, moment, inherited, clock)
        if value is None or value == "":
            return variable.default or ""
        return room.fit(_as_text(value))

    return _SLOT.sub(replace_slot, text.replace("\\n", "\n"))


def render_json(template: Any, context: Mapping[str, Any]) -> Any:
    """Fills the variables of a JSON template; a text that is a single variable becomes the value with its type, or
    nothing where it does not fit into ``MAX_FILLED_CHARS``.

    Raises ValueError for a template that is nested more than 30 deep.
    """
    return _fill_json(template, context, _Room(MAX_FILLED_CHARS), depth=0)


def _fill_json(template: Any, context: Mapping[str, Any], room: _Room, *, depth: int) -> Any:
    if depth > 30:
        raise ValueError("nested too deeply")
    if isinstance(template, Mapping):
        return {key: _fill_json(item, context, room, depth=depth + 1) for key, item in template.items()}
    if isinstance(template, list):
        return [_fill_json(item, context, room, depth=depth + 1) for item in template]
    if not isinstance(template, str):
        return template
    whole = _SLOT.fullmatch(template.strip()) if room.left else None
    found = lookup_path(context, whole[1].strip()) if whole is not None else None
    if found is None or found == "":
        return _fill_text(template, context, None, room)
    text = _as_text(found)
    fitting = room.fit(text)
    if isinstance(found, str):
        return fitting
    return found if fitting == text else None


def _parse_variable(slot: re.Match[str]) -> TemplateVariable:
    path, default = slot[1].strip(), slot[2]
    if default is None:
        return TemplateVariable(path, None)
    default = default.strip()
    word, colon, rest = default.partition(":")
    if word.strip() != "fallback":
        return TemplateVariable(path, default)
    # The older form: "fallback:text", or "fallback" alone for the variable's own name in words.
    return TemplateVariable(path, rest.strip() if colon else path.replace("_", " ").replace(".", " ").title())


def lookup_path(context: Mapping[str, Any], path: str) -> Any:
    """Returns the value at a path in a context, None if there is none; ``items.0.name`` indexes into lists."""
    candidates = [path] + [path.removeprefix(prefix) for prefix in _FLAT_PREFIXES if path.startswith(prefix)]
    for candidate in candidates:
        value = context[candidate] if candidate in context else _walk_path(context, candidate.split("."))
        if value is not None:
            return value
    return None


def _walk_path(value: Any, parts: Sequence[str]) -> Any:
    for part in parts:
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.isascii() and part.isdigit() and len(part) < 6:
            value = value[int(part)] if int(part) < len(value) else None
        else:
            return None
    return value


def _clock_value(path: str, moment: datetime, inherited: tzinfo | None, clock: ClockFormat) -> str | None:
    match = _CLOCK.fullmatch(path)
    if match is None:
        return None
    zone = (find_zone(match[2].strip()) if match[2] else inherited or UTC) or None
    return clock(match[1], moment.astimezone(zone)) if zone else None


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping | list | tuple | bool):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)
