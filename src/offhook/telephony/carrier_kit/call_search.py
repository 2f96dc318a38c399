"""What carriers' lists of calls have in common: times as they write them, and which calls a lost one may be."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final

from offhook.telephony.ports import LostCallQuery

# How far a carrier's clock may be behind ours.
SLACK: Final = timedelta(seconds=30)


def search_start(sought: LostCallQuery) -> datetime:
    return (sought.dialled_at - SLACK).astimezone(UTC)


def could_match(sought: LostCallQuery, written: object) -> bool:
    """Whether a call of this time (ISO 8601 or as in mails) may be the one; one without a time that can be read may."""
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
