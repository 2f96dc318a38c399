"""Parses the period of a report: ISO 8601, where a plain date covers the entire day."""

from datetime import UTC, date, datetime, timedelta

from offhook.campaigns.reports.report import ReportPeriod
from offhook.kit.filters.criteria import FilterInvalid


def parse_period(start: str | None, end: str | None) -> ReportPeriod:
    """Returns the period; times without a zone are UTC. Raises FilterInvalid (422), which
    names the invalid parameter.
    """
    return ReportPeriod(_parse_instant("start_date", start, is_end=False), _parse_instant("end_date", end, is_end=True))


def _parse_instant(name: str, text: str | None, *, is_end: bool) -> datetime | None:
    if not text:
        return None
    try:
        if len(text) == len("2026-01-31"):
            day = datetime.combine(date.fromisoformat(text), datetime.min.time(), UTC)
            return day + timedelta(days=1) if is_end else day
        # an unescaped plus sign in the address arrives as a space
        moment = datetime.fromisoformat(text.replace(" ", "+") if "T" in text else text)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return moment.astimezone(UTC) + timedelta(microseconds=1 if is_end else 0)
    except (ValueError, OverflowError):
        raise FilterInvalid([name], f"{name} is not an ISO 8601 time.", "datetime_parsing") from None
