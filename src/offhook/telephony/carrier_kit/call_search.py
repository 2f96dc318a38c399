"""Helpers for carriers' call lists: parsing their times, and matching a lost call."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from offhook.telephony.ports import LostCallQuery

# Maximum lag of a carrier's clock behind ours.
SLACK: Final = timedelta(seconds=30)


def search_start(sought: LostCallQuery) -> datetime:
    return (sought.dialed_at - SLACK).astimezone(UTC)


def could_match(sought: LostCallQuery, written: object) -> bool:
    """Returns True if a call of this time (ISO 8601 or as in mail headers) may be the lost one. A call without a
    readable time matches."""
    at = _parse_time(written)
    return at is None or at >= search_start(sought)


def _parse_time(written: object) -> datetime | None:
    if not isinstance(written, str) or not written:
        return None
    for read in (datetime.fromisoformat, parsedate_to_datetime):
        try:
            at = read(written)
        except ValueError:
            continue
        return at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return None
