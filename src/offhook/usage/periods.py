"""Days and months as an organization's clocks show them, as moments in UTC. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

BUCKET_LENGTH = timedelta(minutes=15)


@dataclass(frozen=True, slots=True)
class TimeRange:
    """From ``start`` up to and without ``end``, both in UTC."""

    start: datetime
    end: datetime


def load_time_zone(name: str) -> ZoneInfo:
    """The time zone of this name; UTC when this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def month_of(moment: datetime, where: ZoneInfo) -> TimeRange:
    """The calendar month of ``moment`` by the clocks of ``where``."""
    first = moment.astimezone(where).date().replace(day=1)
    following = (first + timedelta(days=32)).replace(day=1)
    return TimeRange(day_start(first, where), day_start(following, where))


def last_days(moment: datetime, count: int, where: ZoneInfo) -> list[date]:
    """The last ``count`` days by the clocks of ``where``, oldest first; the day of ``moment`` is the last one."""
    today = moment.astimezone(where).date()
    return [today - timedelta(days=back) for back in range(count - 1, -1, -1)]


def day_boundaries(days: Sequence[date], where: ZoneInfo) -> list[datetime]:
    """Where each of these following days begins, and where the last one ends: one more than there are days."""
    return [day_start(day, where) for day in (*days, days[-1] + timedelta(days=1))]


def day_start(day: date, where: ZoneInfo) -> datetime:
    """When a day begins, in UTC: on days whose midnight the clocks leave out, when they go on."""
    return datetime.combine(day, time(), where).astimezone(UTC)


def bucket_of(moment: datetime) -> datetime:
    """The quarter of an hour that a moment is in, in UTC."""
    at = moment.astimezone(UTC)
    return at.replace(minute=at.minute - at.minute % 15, second=0, microsecond=0)
