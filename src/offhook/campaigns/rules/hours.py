"""Calling hours: weekly slots in the campaign's time zone and, if configured, in the callee's own.

Where clocks change, the narrower reading wins: a slot begins at the later and ends at the earlier of the two instants
that a repeated or skipped time may mean.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final, Literal, get_args
from zoneinfo import ZoneInfo

from offhook.kit.time_zones import find_zone

Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
WEEKDAYS: Final = get_args(Weekday)
DAY: Final = timedelta(days=1)
# A weekly plan opens within a week, unless holidays cover it: beyond this it counts as never.
HORIZON_DAYS: Final = 400
_MAX_HOPS: Final = 2000
UNKNOWN_ZONE: Final = "unknown_zone"
OUTSIDE_HOURS: Final = "outside_calling_hours"
OUTSIDE_CALLEE_HOURS: Final = "outside_callee_hours"


@dataclass(frozen=True, slots=True)
class WeeklySlot:
    """A slot in minutes since local midnight; ``day`` 0 is Monday. ``end`` up to ``start`` is on the next day."""

    day: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CallingSchedule:
    """Weekly calling hours. ``holidays`` are local dates without calls, also in a slot that
    began the evening before.
    """

    zone: str
    slots: tuple[WeeklySlot, ...]
    holidays: frozenset[date] = frozenset()
    in_callee_zone: bool = False
    _hash: int = field(init=False, repr=False, compare=False, default=0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_hash", hash((self.zone, self.slots, self.holidays, self.in_callee_zone)))

    def __hash__(self) -> int:
        """Returns a precomputed hash: a window looks up its cache for every day."""
        return self._hash


@dataclass(frozen=True, slots=True)
class CallingWindow:
    """A window's state. ``until``: when an open one closes or a closed one opens (None: never, as far as we see)."""

    is_open: bool
    until: datetime | None
    reason: str | None = None


ALWAYS: Final = CallingWindow(True, None)


def parse_calling_hours(stored: Mapping[str, Any] | None) -> CallingSchedule | None:
    """Reads ``campaigns.calling_hours`` as stored, which was validated when saved; None: at any time."""
    if stored is None:
        return None
    return CallingSchedule(
        zone=stored["timezone"],
        slots=tuple(
            WeeklySlot(WEEKDAYS.index(s["day"]), _parse_minutes(s["start"]), _parse_minutes(s["end"]))
            for s in stored["slots"]
        ),
        holidays=frozenset(date.fromisoformat(day) for day in stored.get("holidays") or ()),
        in_callee_zone=bool(stored.get("in_callee_zone")),
    )


def is_zone(name: str) -> bool:
    """Returns True for an IANA time zone that is available here."""
    return find_zone(name) is not None


def calling_window(hours: CallingSchedule | None, now: datetime, callee_zones: Sequence[str] = ()) -> CallingWindow:
    """Returns the state of the calling window at ``now`` (aware), and until when it holds.

    ``callee_zones`` are all possible zones of the number. With ``in_callee_zone``, calling hours must be open in all of
    them; without a known zone they count as closed.
    """
    if hours is None:
        return ALWAYS
    if hours.in_callee_zone and not callee_zones:
        return CallingWindow(False, None, UNKNOWN_ZONE)
    zones = [hours.zone, *(callee_zones if hours.in_callee_zone else ())]
    if not all(is_zone(zone) for zone in zones):
        return CallingWindow(False, None, UNKNOWN_ZONE)
    found = [_window_in_zone(hours, now, zone) for zone in zones]
    if all(one.is_open for one in found):
        return CallingWindow(True, min((one.until for one in found if one.until is not None), default=None))
    reason = OUTSIDE_HOURS if not found[0].is_open else OUTSIDE_CALLEE_HOURS
    return CallingWindow(False, _next_common_opening(hours, now, zones), reason)


def _next_common_opening(hours: CallingSchedule, now: datetime, zones: Sequence[str]) -> datetime | None:
    at = now
    for _ in range(_MAX_HOPS):
        closed = [one for one in (_window_in_zone(hours, at, zone) for zone in zones) if not one.is_open]
        if not closed:
            return at
        opens = [one.until for one in closed]
        if None in opens:
            return None
        at = max(one for one in opens if one is not None)
        if at - now > timedelta(days=HORIZON_DAYS):
            return None
    return None


def _window_in_zone(hours: CallingSchedule, now: datetime, zone: str) -> CallingWindow:
    today = now.astimezone(ZoneInfo(zone)).date()
    until = None
    for ahead in range(-1, HORIZON_DAYS):
        for start, end in _open_spans(hours, zone, today + ahead * DAY):
            if until is not None and start > until:
                return CallingWindow(True, until)
            if start <= (until or now) < end:
                until = end
            elif until is None and start > now:
                return CallingWindow(False, start)
        if until is not None and ahead > 8:
            return CallingWindow(True, until)  # a plan without a gap
    return CallingWindow(until is not None, until)


@lru_cache(maxsize=4096)
def _open_spans(hours: CallingSchedule, zone: str, day: date) -> tuple[tuple[datetime, datetime], ...]:
    """Returns the open spans of one local date in UTC, merged and in order."""
    if day in hours.holidays:
        return ()
    spans = []
    for start, end in _open_minutes(hours.slots, day.weekday()):
        opens, closes = max(_utc_instants(day, start, zone)), min(_utc_instants(day, end, zone))
        if opens < closes:
            spans.append((opens, closes))
    return tuple(_merge_spans(spans))


def _open_minutes(slots: Iterable[WeeklySlot], weekday: int) -> Iterator[tuple[int, int]]:
    """Yields the open minutes of this weekday; a slot that crosses midnight is two pieces."""
    for slot in slots:
        crosses = slot.end <= slot.start
        if slot.day == weekday:
            yield slot.start, 24 * 60 if crosses else slot.end
        if crosses and (slot.day + 1) % 7 == weekday and slot.end > 0:
            yield 0, slot.end


def _utc_instants(day: date, minutes: int, zone: str) -> tuple[datetime, datetime]:
    on, minutes = (day + DAY, 0) if minutes == 24 * 60 else (day, minutes)
    local = datetime.combine(on, time(minutes // 60, minutes % 60), ZoneInfo(zone))
    return local.replace(fold=0).astimezone(UTC), local.replace(fold=1).astimezone(UTC)


def _merge_spans(spans: list[tuple[datetime, datetime]]) -> Iterator[tuple[datetime, datetime]]:
    spans.sort()
    current: tuple[datetime, datetime] | None = None
    for start, end in spans:
        if current is None or start > current[1]:
            if current is not None:
                yield current
            current = (start, end)
        else:
            current = (current[0], max(current[1], end))
    if current is not None:
        yield current


def _parse_minutes(text: str) -> int:
    hour, _, minute = text.partition(":")
    return int(hour) * 60 + int(minute)
