"""News for the process that holds a call, from whichever process the carrier's callback reached: LISTEN and NOTIFY."""

import asyncio
import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import asyncpg
import structlog
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.db import Database
from offhook.runs.outage import DATABASE_ERRORS

CHANNEL: Final = "offhook_calls"
# Kinds of news: of a transfer by its id, of a call by its run.
TRANSFER: Final = "transfer"
MACHINE: Final = "machine"
CALL_OVER: Final = "over"
_RECONNECT_S: Final = 1.0
Handler = Callable[[str], None]
log = structlog.get_logger(__name__)


async def tell(session: AsyncSession, kind: str, key: object, news: str = "") -> None:
    """Wake whoever waits for ``kind`` and ``key`` in any process, once this transaction is committed."""
    payload = json.dumps([kind, str(key), news])
    await session.execute(text("SELECT pg_notify(:channel, :payload)"), {"channel": CHANNEL, "payload": payload})


class Signals:
    """Who waits for what in this process, and its connection that hears of the others. Opened by the first waiter."""

    def __init__(self, db: Database) -> None:
        self._db = db
        self._handlers: dict[tuple[str, str], set[Handler]] = defaultdict(set)
        self._task: asyncio.Task[None] | None = None
        self._is_listening = asyncio.Event()

    @contextmanager
    def on(self, kind: str, key: object, handler: Handler) -> Iterator[None]:
        """``handler`` gets the news; an empty text means that some may have been missed: look at the database."""
        name = (kind, str(key))
        self._handlers[name].add(handler)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._hear(), name="call-signals")
        try:
            yield
        finally:
            self._handlers[name].discard(handler)
            if not self._handlers[name]:
                del self._handlers[name]

    async def ready(self, timeout_s: float = 2.0) -> None:
        """Wait until news of other processes come in, so that nothing falls between asking and listening."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._is_listening.wait()

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task

    async def _hear(self) -> None:
        while True:
            try:
                await self._hear_until_lost()
            except DATABASE_ERRORS as error:
                log.warning("call_signals_deaf", error=type(error).__name__)
            self._is_listening.clear()
            await asyncio.sleep(_RECONNECT_S)

    async def _hear_until_lost(self) -> None:
        _, parameters = self._db.engine.dialect.create_connect_args(self._db.engine.url)
        connection = await asyncpg.connect(**parameters)
        lost = asyncio.Event()
        connection.add_termination_listener(lambda _: lost.set())
        try:
            await connection.add_listener(CHANNEL, self._on_notify)
            self._is_listening.set()
            for name in list(self._handlers):
                self._tell(name, "")
            await lost.wait()
        finally:
            connection.terminate()

    def _on_notify(self, *received: Any) -> None:
        with suppress(ValueError):
            kind, key, news = json.loads(received[3])
            self._tell((kind, key), news)

    def _tell(self, name: tuple[str, str], news: str) -> None:
        for handler in list(self._handlers.get(name, ())):
            handler(news)
