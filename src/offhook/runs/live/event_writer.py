"""Writes the events of a process's live runs in one insert every half second; the voice loop never waits for it."""

import asyncio
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

import structlog

from offhook.kit.clock import Clock, SystemClock
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS, is_permanent_error
from offhook.kit.json_values import sanitize_json
from offhook.kit.opt_out_sentences import asks_not_to_be_called
from offhook.runs.finishing.do_not_call_event import DO_NOT_CALL_REQUESTED
from offhook.runs.finishing.human_request_detection import HUMAN_REQUESTED, asks_for_a_person
from offhook.runs.live.call_metrics import count_trouble
from offhook.runs.records import event_queries
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.projections import RunTally
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.records.word_filter import WordFilter
from offhook.runs.resuming.call_states import CallStates
from offhook.voice.events import CALL_ENDED, CALLER_SAID, TURN_TIMED, VoiceEvent, is_live_only

EVENTS_DROPPED: Final = "events_dropped"  # {count}: the database was unavailable for so long that the buffer filled up
_BATCH: Final = 2000
# A batch without an answer after this long is written again, on another connection.
WRITE_TIMEOUT_S: Final = 8.0
log = structlog.get_logger(__name__)

OnLive = Callable[[int, VoiceEvent], None]


class RunEventSink:
    """The event sink of one run (``voice.ports.RunSink``); its ``tally`` accumulates the events."""

    def __init__(self, run_id: int, writer: "EventWriter", on_live: OnLive | None, words: WordFilter) -> None:
        self.tally = RunTally()
        self.words = words
        self.has_ended = False
        self._run_id = run_id
        self._writer = writer
        self._on_live = on_live
        self._last = datetime.min.replace(tzinfo=UTC)

    def emit(self, event: VoiceEvent) -> None:
        """Accepts an event and returns immediately. Live-only events go only to live listeners, and change the state of
        the call."""
        heard = str(event.data.get("text") or "") if event.type == CALLER_SAID else ""
        event = self.words.filter_event(event)
        if is_live_only(event.type, event.data):
            self._tell_live(event)
            return
        self.has_ended = self.has_ended or event.type == CALL_ENDED
        self.tally.add_event(event.type, event.at_s, event.data)
        count_trouble(event.type, event.data)
        # Strictly increasing, so that a retried batch can be told apart from a new one.
        self._last = max(self._writer.clock.now(), self._last + timedelta(microseconds=1))
        at_ms = round(event.at_s * 1000)
        self._writer.note_change(self._run_id, event.type)
        self._writer.add_event(NewEvent(self._run_id, event.type, at_ms, encode_event_data(event.data), self._last))
        if event.type == CALLER_SAID and not self.tally.has_opted_out and asks_not_to_be_called(heard):
            self.emit(VoiceEvent(DO_NOT_CALL_REQUESTED, event.at_s, {"text": heard}))
        if event.type == CALLER_SAID and not self.tally.has_asked_for_person and asks_for_a_person(heard):
            self.emit(VoiceEvent(HUMAN_REQUESTED, event.at_s, {"text": heard}))

    def _tell_live(self, event: VoiceEvent) -> None:
        if event.type == TURN_TIMED:
            self.tally.add_event(event.type, event.at_s, event.data)
        self._writer.note_change(self._run_id, event.type)
        if self._on_live is not None:
            # text from recognizers and models may be unencodable: half of a surrogate pair
            self._on_live(self._run_id, replace(event, data=sanitize_json(event.data)))

    async def flush(self, timeout_s: float) -> bool:
        """Writes what was emitted before this call; returns False if the database did not accept it in time."""
        return await self._writer.flush(timeout_s)


class EventWriter:
    """One per process. Keeps unwritten events in order, up to ``max_events``, and counts those it drops beyond that."""

    def __init__(
        self,
        db: Database,
        on_live: OnLive | None = None,
        *,
        states: CallStates | None = None,
        clock: Clock | None = None,
        interval_s: float = 0.5,
        max_events: int = 100_000,
        write_timeout_s: float = WRITE_TIMEOUT_S,
    ) -> None:
        self._db = db
        self.states = states or CallStates()
        self.clock = clock or SystemClock()
        self._on_live = on_live
        self._interval_s = interval_s
        self._max_events = max_events
        self._write_timeout_s = write_timeout_s
        self._waiting: deque[NewEvent] = deque()
        self._dropped: Counter[int] = Counter()
        self._taken = 0
        self._settled = 0  # of the accepted ones: written, or permanently refused by the database
        self._is_uncertain = False
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    @property
    def pending_count(self) -> int:
        """Returns how many events exist only in memory."""
        return len(self._waiting)

    def is_writing(self) -> bool:
        """Returns False when an event has waited for longer than two attempts to write it may take."""
        if not self._waiting:
            return True
        return self.clock.now() - self._waiting[0].created_at <= timedelta(seconds=2 * self._write_timeout_s)

    def create_sink(self, run_id: int, words: WordFilter | None = None) -> RunEventSink:
        return RunEventSink(run_id, self, self._on_live, words or WordFilter())

    def note_change(self, run_id: int, event_type: str) -> None:
        """Lets the state of a call be written if this event changes it, with the next events or, without any, alone."""
        if self.states.note_event(run_id, event_type):
            self._write_soon()

    def add_event(self, event: NewEvent) -> None:
        if len(self._waiting) >= self._max_events:
            self._dropped[event.run_id] += 1
            return
        self._waiting.append(event)
        self._taken += 1
        self._write_soon()

    def _write_soon(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._write_until_empty(), name="event-writer")

    async def flush(self, timeout_s: float = 10.0) -> bool:
        """Writes everything added before this call; returns False if the database did not accept it in time."""
        target = self._taken
        try:
            async with asyncio.timeout(timeout_s):
                while self._settled < target:
                    if not await self._write_next_batch():
                        await asyncio.sleep(0.2)
        except TimeoutError:
            return False
        return True

    async def _write_until_empty(self) -> None:
        pause_s = self._interval_s
        while self._waiting or self.states.has_changed:
            await asyncio.sleep(pause_s)
            is_written = await self._write_next_batch()
            pause_s = self._interval_s if is_written else min(5.0, pause_s * 2)

    async def _write_next_batch(self) -> bool:
        """Writes one batch and the changed states; returns False if the database is unavailable and they were kept."""
        async with self._lock:
            batch = [self._waiting[i] for i in range(min(_BATCH, len(self._waiting)))]
            if not batch and not self.states.has_changed:
                return True
            try:
                async with asyncio.timeout(self._write_timeout_s):
                    await self._write_batch(batch)
            except DATABASE_ERRORS as error:
                self._is_uncertain = True
                if isinstance(error, TimeoutError):
                    self._db.distrust_connections()
                log.warning("events_not_written", count=len(self._waiting), error=type(error).__name__)
                return False
            self._is_uncertain = False
            for _ in batch:
                self._waiting.popleft()
            self._settled += len(batch)
            self._report_dropped()
            return True

    async def _write_batch(self, batch: list[NewEvent]) -> None:
        states = self.states.take_changed()
        try:
            await self._write_rows(batch, states)
        except (*DATABASE_ERRORS, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) or not is_permanent_error(error):
                self.states.put_back(states)
                raise
            # Events come first: a state follows with the next change of its call.
            if states:
                log.error("call_states_not_written", count=len(states), error=type(error).__name__)
            if batch:
                await self._write_acceptable(batch)

    async def _write_acceptable(self, batch: list[NewEvent]) -> None:
        """Writes what the database takes. One bad event must not block the others forever: the batch is halved until
        it is alone, and skipped then."""
        try:
            await self._write_rows(batch, {})
        except DATABASE_ERRORS as error:
            if not is_permanent_error(error):
                raise
            if len(batch) == 1:
                log.error("event_refused", run_id=batch[0].run_id, type=batch[0].type, error=type(error).__name__)
                return
            middle = len(batch) // 2
            await self._write_acceptable(batch[:middle])
            await self._write_acceptable(batch[middle:])

    async def _write_rows(self, batch: list[NewEvent], states: dict[int, bytes | None]) -> None:
        async with self._db.transaction() as session:
            await event_queries.append_events(session, batch, is_retry=self._is_uncertain)
            await self.states.write(session, states)

    def _report_dropped(self) -> None:
        dropped, self._dropped = self._dropped, Counter()
        for run_id, count in dropped.items():
            data = encode_event_data({"count": count})
            self.add_event(NewEvent(run_id, EVENTS_DROPPED, 0, data, self.clock.now()))
