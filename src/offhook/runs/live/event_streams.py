"""Who listens to which run: one LISTEN connection a process wakes the readers of live event streams."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any

from offhook.kit.database.database import Database
from offhook.kit.database.outage import retry_until_database_returns
from offhook.kit.database.postgres_listener import PostgresListener
from offhook.runs import repository
from offhook.runs.records import event_queries
from offhook.voice.events import VoiceEvent

_MAX_LIVE = 100  # live-only events kept for a listener that is slow; they are worth nothing when old
_BATCH = 500
_OUTAGE_TIMEOUT_S = 60.0
KEEP_ALIVE_S = 15.0


class RunStreamListener:
    """One reader of one run. ``wait`` returns when there may be news; ``take_live`` gives what is not stored."""

    def __init__(self) -> None:
        self._has_events = asyncio.Event()
        self._live: list[VoiceEvent] = []
        self._has_stored = False

    def mark_stored(self) -> None:
        self._has_stored = True
        self._has_events.set()

    def add_live_event(self, event: VoiceEvent) -> None:
        if len(self._live) < _MAX_LIVE:
            self._live.append(event)
        self._has_events.set()

    async def wait_for_events(self, timeout_s: float) -> bool:
        """True for news, False when the time is over without any."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._has_events.wait()
        had_news = self._has_events.is_set()
        self._has_events.clear()
        return had_news

    def take_stored(self) -> bool:
        """Whether something was stored since the last time."""
        had, self._has_stored = self._has_stored, False
        return had

    def take_live(self) -> list[VoiceEvent]:
        live, self._live = self._live, []
        return live


class RunStreams:
    """The listeners of this process, and its connection that hears of runs in other processes."""

    def __init__(self, db: Database) -> None:
        self._listeners: dict[int, set[RunStreamListener]] = defaultdict(set)
        self._postgres_listener = PostgresListener(
            db, event_queries.CHANNEL, self._on_notification, self._wake_all, name="run-streams"
        )

    @contextmanager
    def listen(self, run_id: int) -> Iterator[RunStreamListener]:
        listener = RunStreamListener()
        self._listeners[run_id].add(listener)
        self._postgres_listener.start()
        try:
            yield listener
        finally:
            self._listeners[run_id].discard(listener)
            if not self._listeners[run_id]:
                del self._listeners[run_id]

    async def wait_until_ready(self) -> None:
        """Wait until news of other processes come in, so that nothing falls between reading and listening."""
        await self._postgres_listener.wait_until_ready()

    def on_live(self, run_id: int, event: VoiceEvent) -> None:
        """A live-only event of a run that this process carries."""
        for listener in self._listeners.get(run_id, ()):
            listener.add_live_event(event)

    async def close(self) -> None:
        """End the connection; open streams end with their requests."""
        await self._postgres_listener.close()

    def _wake_all(self) -> None:
        for run_id in list(self._listeners):
            self._wake_listeners(run_id)

    def _on_notification(self, payload: str) -> None:
        for part in payload.split(","):
            if part.isdigit():
                self._wake_listeners(int(part))

    def _wake_listeners(self, run_id: int) -> None:
        for listener in self._listeners.get(run_id, ()):
            listener.mark_stored()


async def follow_run(
    streams: RunStreams,
    db: Database,
    organization_id: int,
    run_id: int,
    *,
    after: int,
    keep_alive_s: float = KEEP_ALIVE_S,
) -> AsyncIterator[list[dict[str, Any]] | VoiceEvent | None]:
    """The stored events after number ``after`` in batches, then new ones as they come; ends with the run.

    Yields lists of stored events, single live-only events, and None when there was nothing for ``keep_alive_s``.
    """
    with streams.listen(run_id) as listener:
        await streams.wait_until_ready()
        while True:
            read = partial(_read_batch, db, organization_id, run_id, after)
            is_over, batch = await retry_until_database_returns(read, patience_s=_OUTAGE_TIMEOUT_S, what="event stream")
            for event in listener.take_live():
                yield event
            if batch:
                after = batch[-1]["seq"]
                yield batch
            if len(batch) == _BATCH:
                continue
            if is_over:
                return
            while not (has_news := await listener.wait_for_events(keep_alive_s)) or not listener.take_stored():
                for event in listener.take_live():
                    yield event
                if not has_news:
                    yield None
                    break


async def _read_batch(db: Database, organization_id: int, run_id: int, after: int) -> tuple[bool, list[dict[str, Any]]]:
    """(whether the run is over, the next stored events)."""
    async with db.transaction() as session:
        # The state first: what is written before a run is over is seen by the second query.
        is_over = await repository.is_over(session, organization_id, run_id)
        return is_over, await event_queries.read_events(session, organization_id, run_id, after=after, limit=_BATCH)
