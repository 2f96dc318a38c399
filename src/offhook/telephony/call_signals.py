"""News for the process that holds a call, from whichever process the carrier's callback reached: LISTEN and NOTIFY."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.database.database import Database
from offhook.kit.database.postgres_listener import PostgresListener

CHANNEL: Final = "offhook_calls"
# Kinds of news: of a transfer by its id, of a call by its run.
TRANSFER: Final = "transfer"
MACHINE: Final = "machine"
CALL_OVER: Final = "over"
Handler = Callable[[str], None]


async def send_signal(session: AsyncSession, kind: str, key: object, news: str = "") -> None:
    """Wake whoever waits for ``kind`` and ``key`` in any process, once this transaction is committed."""
    payload = json.dumps([kind, str(key), news])
    await session.execute(text("SELECT pg_notify(:channel, :payload)"), {"channel": CHANNEL, "payload": payload})


class CallSignals:
    """Who waits for what in this process, and its connection that hears of the others. Opened by the first waiter."""

    def __init__(self, db: Database) -> None:
        self._handlers: dict[tuple[str, str], set[Handler]] = defaultdict(set)
        self._listener = PostgresListener(db, CHANNEL, self._on_payload, self._notify_all, name="call-signals")

    @contextmanager
    def subscribe(self, kind: str, key: object, handler: Handler) -> Iterator[None]:
        """``handler`` gets the news; an empty text means that some may have been missed: look at the database."""
        name = (kind, str(key))
        self._handlers[name].add(handler)
        self._listener.start()
        try:
            yield
        finally:
            self._handlers[name].discard(handler)
            if not self._handlers[name]:
                del self._handlers[name]

    async def wait_ready(self) -> None:
        """Wait until news of other processes come in, so that nothing falls between asking and listening."""
        await self._listener.wait_until_ready()

    async def close(self) -> None:
        await self._listener.close()

    def _notify_all(self) -> None:
        for name in list(self._handlers):
            self._notify_handlers(name, "")

    def _on_payload(self, payload: str) -> None:
        with suppress(ValueError):
            kind, key, news = json.loads(payload)
            self._notify_handlers((kind, key), news)

    def _notify_handlers(self, name: tuple[str, str], news: str) -> None:
        for handler in list(self._handlers.get(name, ())):
            handler(news)
