"""News for the process that holds a call, from whichever process the carrier's callback reached: LISTEN and NOTIFY."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.database.postgres_listener import Hearing

CHANNEL: Final = "offhook_calls"
# Kinds of news: of a transfer by its id, of a call by its run.
TRANSFER: Final = "transfer"
MACHINE: Final = "machine"
CALL_OVER: Final = "over"
Handler = Callable[[str], None]


async def tell(session: AsyncSession, kind: str, key: object, news: str = "") -> None:
    """Wake whoever waits for ``kind`` and ``key`` in any process, once this transaction is committed."""
    payload = json.dumps([kind, str(key), news])
    await session.execute(text("SELECT pg_notify(:channel, :payload)"), {"channel": CHANNEL, "payload": payload})


class Signals:
    """Who waits for what in this process, and its connection that hears of the others. Opened by the first waiter."""

    def __init__(self, db: Database) -> None:
        self._handlers: dict[tuple[str, str], set[Handler]] = defaultdict(set)
        self._hearing = Hearing(db, CHANNEL, self._on_news, self._tell_all, name="call-signals")

    @contextmanager
    def on(self, kind: str, key: object, handler: Handler) -> Iterator[None]:
        """``handler`` gets the news; an empty text means that some may have been missed: look at the database."""
        name = (kind, str(key))
        self._handlers[name].add(handler)
        self._hearing.start()
        try:
            yield
        finally:
            self._handlers[name].discard(handler)
            if not self._handlers[name]:
                del self._handlers[name]

    async def ready(self) -> None:
        """Wait until news of other processes come in, so that nothing falls between asking and listening."""
        await self._hearing.ready()

    async def close(self) -> None:
        await self._hearing.close()

    def _tell_all(self) -> None:
        for name in list(self._handlers):
            self._tell(name, "")

    def _on_news(self, payload: str) -> None:
        with suppress(ValueError):
            kind, key, news = json.loads(payload)
            self._tell((kind, key), news)

    def _tell(self, name: tuple[str, str], news: str) -> None:
        for handler in list(self._handlers.get(name, ())):
            handler(news)
