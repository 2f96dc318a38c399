"""Limits how many text chats are answered at once: each holds a connection to a model server, and the connections of a
process are shared with all calls."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from offhook.chat.errors import TooManyChatAnswers

# A model answers in a second or two, so this is far more than testers need. Calls keep the rest of 2,000 connections.
MAX_OF_ONE: Final = 100
MAX_IN_ALL: Final = 1200
# An organization gets one in this many free places, so that dozens that hold all they can leave some to the next one.
SHARE_OF_FREE: Final = 10
RETRY_AFTER_S: Final = 5


class AnswerPlaces:
    """The places for answers of one process."""

    def __init__(self, *, of_one: int = MAX_OF_ONE, in_all: int = MAX_IN_ALL) -> None:
        self._of_one = of_one
        self._in_all = in_all
        self._held: Counter[int] = Counter()

    @contextmanager
    def hold(self, organization_id: int) -> Iterator[None]:
        """Holds a place for one answer. Raises TooManyChatAnswers (429)."""
        free = self._in_all - self._held.total()
        if free <= 0 or self._held[organization_id] >= max(1, min(self._of_one, free // SHARE_OF_FREE)):
            raise TooManyChatAnswers(headers={"Retry-After": str(RETRY_AFTER_S)})
        self._held[organization_id] += 1
        try:
            yield
        finally:
            self._held[organization_id] -= 1
            if not self._held[organization_id]:
                del self._held[organization_id]
