"""Signals to the process that holds a call, from any process that a carrier's callback reached, over LISTEN and
NOTIFY."""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final

from offhook.kit.database.database import Database
from offhook.kit.database.postgres_listener import PostgresListener
from offhook.telephony.signal_statements import CHANNEL

# Kinds of signals: for a transfer by its id, for a call by its run.
TRANSFER: Final = "transfer"
MACHINE: Final = "machine"
CALL_OVER: Final = "over"
Handler = Callable[[str], None]


class CallSignals:
    """Calls the handlers registered in this process. The first subscription opens its connection."""

    def __init__(self, db: Database) -> None:
        self._handlers: dict[tuple[str, str], set[Handler]] = defaultdict(set)
        self._listener = PostgresListener(db, CHANNEL, self._on_payload, self._notify_all, name="call-signals")

    @contextmanager
    def subscribe(self, kind: str, key: object, handler: Handler) -> Iterator[None]:
        """Calls ``handler`` with each signal. An empty text means that signals may have been missed: check the
        database."""
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
        """Waits until signals of other processes arrive, so that none is lost between asking and listening."""
        await self._listener.wait_until_ready()

    async def close(self) -> None:
        await self._listener.close()

    def _notify_all(self) -> None:
        for name in list(self._handlers):
            self._notify_handlers(name, "")

    def _on_payload(self, payload: str) -> None:
        with suppress(ValueError):
            kind, key, message = json.loads(payload)
            self._notify_handlers((kind, key), message)

    def _notify_handlers(self, name: tuple[str, str], message: str) -> None:
        for handler in list(self._handlers.get(name, ())):
            handler(message)
