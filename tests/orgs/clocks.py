"""A clock that stands until it is moved."""

from datetime import datetime, timedelta


class StoppedClock:
    def __init__(self, at: datetime) -> None:
        self._at = at

    def now(self) -> datetime:
        return self._at

    def move(self, by: timedelta) -> None:
        self._at += by
