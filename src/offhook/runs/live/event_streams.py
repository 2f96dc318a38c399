"""Live event streams of runs; one LISTEN connection per process wakes their readers."""

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from functools import partial

from offhook.kit.database.database import Database
from offhook.kit.database.outage import retry_until_database_returns
from offhook.kit.database.postgres_listener import PostgresListener
from offhook.runs import repository
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import StoredEvent
from offhook.runs.tables import Run
from offhook.voice.events import VoiceEvent

_MAX_LIVE = 100  # live-only events kept for a slow listener; old ones are useless
# What a slow reader keeps in memory.
_BATCH = 100
_OUTAGE_TIMEOUT_S = 60.0
KEEP_ALIVE_S = 15.0


class RunStreamListener:
    """One reader of one run's events; buffers live-only events until they are read."""

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
        """Waits for an event and returns whether one came in time."""
        with suppress(TimeoutError):
            async with asyncio.timeout(timeout_s):
                await self._has_events.wait()
        has_events = self._has_events.is_set()
        self._has_events.clear()
        return has_events

    def take_stored(self) -> bool:
        """Returns whether an event has been stored since the last call."""
        had, self._has_stored = self._has_stored, False
        return had

    def take_live(self) -> list[VoiceEvent]:
        live, self._live = self._live, []
        return live


class RunStreams:
    """The event streams of this process; they include events of runs in other processes."""

    def __init__(self, db: Database) -> None:
        self._db = db
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
        """Waits until other processes' notifications arrive, so that no event is lost between reading and listening."""
        await self._postgres_listener.wait_until_ready()

    async def follow_run(
        self, organization_id: int, run_id: int, *, after: int, keep_alive_s: float = KEEP_ALIVE_S
    ) -> AsyncIterator[list[StoredEvent] | VoiceEvent | None]:
        """Yields the stored events after number ``after`` in batches, then new ones as they come; ends with the run.

        Yields lists of stored events, single live-only events, and None when nothing came for ``keep_alive_s``.
        """
        with self.listen(run_id) as listener:
            await self.wait_until_ready()
            while True:
                read = partial(self._read_batch, organization_id, run_id, after)
                is_over, batch = await retry_until_database_returns(
                    read, timeout_s=_OUTAGE_TIMEOUT_S, what="event stream"
                )
                for event in listener.take_live():
                    yield event
                if batch:
                    after = batch[-1]["seq"]
                    yield batch
                if len(batch) == _BATCH:
                    continue
                if is_over:
                    return
                while not (has_events := await listener.wait_for_events(keep_alive_s)) or not listener.take_stored():
                    for event in listener.take_live():
                        yield event
                    if not has_events:
                        yield None
                        break

    async def find_run(self, organization_id: int, run_id: int) -> Run | None:
        """Returns the run's current state."""
        async with self._db.transaction() as session:
            return await repository.by_id(session, organization_id, run_id)

    async def _read_batch(self, organization_id: int, run_id: int, after: int) -> tuple[bool, list[StoredEvent]]:
        """Returns whether the run is over, and its next batch of stored events."""
        # Hundreds may follow one call: each of its events wakes all of them.
        async with self._db.transaction(organization_id) as session:
            # Read the state first: the second query then sees everything written before the run was over.
            is_over = await repository.is_over(session, organization_id, run_id)
            events = await event_queries.read_events(
                session, organization_id, run_id, after=after, limit=_BATCH, is_lenient=True
            )
            return is_over, events

    def on_live(self, run_id: int, event: VoiceEvent) -> None:
        """Forwards a live-only event of a run that this process carries."""
        for listener in self._listeners.get(run_id, ()):
            listener.add_live_event(event)

    async def close(self) -> None:
        """Closes the connection; open streams end with their requests."""
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
