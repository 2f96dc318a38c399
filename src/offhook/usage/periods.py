"""Days and months in an organization's time zone, as moments in UTC. Pure."""

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


def start_of_day(now: datetime) -> datetime:
    """Returns the start of the day in UTC that a daily limit counts from."""
    return datetime.combine(now.astimezone(UTC).date(), time(), UTC)


def load_time_zone(name: str) -> ZoneInfo:
    """Returns the time zone of this name; UTC if this machine does not know it."""
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def included_month(moment: datetime) -> TimeRange:
    """Returns the month in UTC whose included minutes a moment uses: in an organization's own time zone, which it can change
    at any time, one month could begin twice."""
    return month_of(moment, ZoneInfo("UTC"))


def month_of(moment: datetime, where: ZoneInfo) -> TimeRange:
    """Returns the calendar month of ``moment`` in the time zone ``where``."""
    first = moment.astimezone(where).date().replace(day=1)
    following = (first + timedelta(days=32)).replace(day=1)
    return TimeRange(day_start(first, where), day_start(following, where))


def last_days(moment: datetime, count: int, where: ZoneInfo) -> list[date]:
    """Returns the last ``count`` days in the time zone ``where``, oldest first, ending with the day of ``moment``."""
    today = moment.astimezone(where).date()
    return [today - timedelta(days=back) for back in range(count - 1, -1, -1)]


def day_boundaries(days: Sequence[date], where: ZoneInfo) -> list[datetime]:
    """Returns the start of each of these consecutive days and the end of the last one: one more than there are days."""
    return [day_start(day, where) for day in (*days, days[-1] + timedelta(days=1))]


def day_start(day: date, where: ZoneInfo) -> datetime:
    """Returns the start of a day in UTC; when the clocks skip midnight, the moment they resume."""
    return datetime.combine(day, time(), where).astimezone(UTC)


def bucket_of(moment: datetime) -> datetime:
    """Returns the quarter of an hour that contains a moment, in UTC."""
    at = moment.astimezone(UTC)
    return at.replace(minute=at.minute - at.minute % 15, second=0, microsecond=0)
