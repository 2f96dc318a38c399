"""Ends runs whose worker died, and runs that never connected."""

from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS, is_permanent_error
from offhook.kit.event_bus import EventBus
from offhook.kit.files.file_store import FileStore
from offhook.kit.json_values import JsonObject
from offhook.runs import service
from offhook.runs.events import RunFinished
from offhook.runs.finishing import finalization
from offhook.runs.live import lease_queries, repository
from offhook.runs.recording_files.recording_spool import RecordingSpool
from offhook.runs.records import event_queries, retention_queries
from offhook.runs.records.event_queries import NewEvent
from offhook.runs.records.projections import RunTally, tally_events
from offhook.runs.records.storable_json import encode_event_data
from offhook.runs.resuming.call_states import CallStates
from offhook.runs.states import LIVE_STATES, TEXT_CHAT
from offhook.runs.tables import Run
from offhook.voice.events import CALL_ENDED, TURN_TIMED, unheard_timing

NEVER_CONNECTED_AFTER: Final = timedelta(minutes=5)
RUN_SWEPT: Final = "run_swept"  # {end_reason}
# How many runs of each kind one sweep tries to end.
MAX_ENDS: Final = 200
_MAX_EVENTS: Final = 100_000
log = structlog.get_logger(__name__)


class RunSweeper:
    """Ends orphaned runs. ``grace_s``: how long an expired lease is watched before the run is given up. ``find_carried``
    asks the processes themselves: those that are cut off from the database carry their calls on.

    After a database outage every lease has expired although the calls are alive; their workers renew them within a
    heartbeat. A run is therefore given up only if its lease was seen expired, unchanged, twice with this much time
    between.
    """

    def __init__(
        self,
        *,
        db: Database,
        storage: FileStore,
        spool: RecordingSpool,
        events: EventBus,
        clock: Clock,
        lease_s: float,
        grace_s: float,
        find_carried: Callable[[Sequence[int]], Awaitable[set[int]]] | None = None,
    ) -> None:
        self._db = db
        self._storage = storage
        self._spool = spool
        self._events = events
        self._clock = clock
        self._lease = timedelta(seconds=lease_s)
        self._grace = timedelta(seconds=grace_s)
        self._find_carried = find_carried
        # set by the owner: what the dead process kept of its calls
        self.states = CallStates()
        self._seen: dict[int, tuple[datetime, datetime]] = {}
        # How often each run could not be ended. Such runs come last, however many organizations have them.
        self._failures = Counter[int]()

    async def sweep(self, _: JsonObject | None = None) -> list[int]:
        """Handles the job ``run.sweep``: ends orphaned runs and returns their ids."""
        now = self._clock.now()
        async with self._db.transaction() as session:
            silent = await lease_queries.find_expired(session, now)
            lost = await lease_queries.find_never_connected(session, now - NEVER_CONNECTED_AFTER)
        self._forget_failures({run_id for run_id, _ in silent} | {run_id for _, run_id in lost})
        due = sorted(self._confirmed_expired(silent, now), key=lambda found: self._failures[found[0]])
        lost = sorted(lost, key=lambda found: self._failures[found[1]])[:MAX_ENDS]
        due = await self._without_carried(due[:MAX_ENDS])
        ends = [(run_id, partial(self._end_silent, run_id, lease)) for run_id, lease in due]
        ends += [(run_id, partial(self._end_lost, organization_id, run_id, now)) for organization_id, run_id in lost]
        ended = [run_id for run_id, end in ends if await self._end_apart(run_id, end)]
        if ended:
            log.warning("runs_swept", run_ids=ended)
        return ended

    def _confirmed_expired(self, silent: list[tuple[int, datetime]], now: datetime) -> list[tuple[int, datetime]]:
        before, self._seen = self._seen, {}
        due = []
        for run_id, lease in silent:
            seen = before.get(run_id)
            first = seen[1] if seen is not None and seen[0] == lease else now
            self._seen[run_id] = (lease, first)
            if now - first >= self._grace:
                due.append((run_id, lease))
        return due

    async def _without_carried(self, due: list[tuple[int, datetime]]) -> list[tuple[int, datetime]]:
        """Leaves out runs that their process still carries. It has the whole grace again to renew their leases."""
        if self._find_carried is None or not due:
            return due
        carried = await self._find_carried([run_id for run_id, _ in due])
        now = self._clock.now()
        self._seen |= {run_id: (lease, now) for run_id, lease in due if run_id in carried}
        return [(run_id, lease) for run_id, lease in due if run_id not in carried]

    def _forget_failures(self, left: set[int]) -> None:
        for run_id in self._failures.keys() - left:
            del self._failures[run_id]

    async def _end_apart(self, run_id: int, end: Callable[[], Awaitable[bool]]) -> bool:
        """Ends a run. A run that cannot be ended is left to a later sweep and does not hold up others."""
        try:
            return await end()
        except Exception as error:  # only an outage concerns the other runs
            if isinstance(error, DATABASE_ERRORS) and not is_permanent_error(error):
                raise
            self._failures[run_id] += 1
            log.exception("run_not_swept", run_id=run_id)
            return False

    async def _end_silent(self, run_id: int, lease: datetime) -> bool:
        async with self._db.transaction() as session:
            run = await lease_queries.lock_expired(session, run_id, lease)
            if run is None:
                return False
            was_live = run.ended_at is None
            await self._write_end(session, run, lease)
            recording_key = run.recording_key
            event = run_finished_event(run)
        if recording_key is not None:
            await self._repair_recording(run.organization_id, run_id, recording_key)
        await self._events.publish(event)
        return was_live

    async def _repair_recording(self, organization_id: int, run_id: int, key: str) -> None:
        """Completes the file of a dead process. One without sound is of a call whose recording had not begun."""
        if await self._spool.vault.repair(key):
            self._spool.keep_soon(key)
            return
        await self._storage.delete(key)
        async with self._db.transaction() as session:
            await retention_queries.forget_recordings(session, organization_id, [run_id])

    async def _write_end(self, session: AsyncSession, run: Run, lease: datetime) -> None:
        last_event_at = await repository.last_event_at(session, run.organization_id, run.id)
        ended_at = max(lease - self._lease, last_event_at or run.created_at, run.answered_at or run.created_at)
        stored = await event_queries.read_events(
            session, run.organization_id, run.id, limit=_MAX_EVENTS, is_lenient=True
        )
        tally = tally_events(stored)
        last_times = await self._read_last_times(session, run, tally)
        has_ended = any(event["type"] == CALL_ENDED for event in stored)
        for name, value in _final_values(run, ended_at=ended_at, has_ended=has_ended).items():
            setattr(run, name, value)
        if run.duration is None and run.answered_at is not None:
            talked_s = ((run.ended_at or ended_at) - run.answered_at).total_seconds()
            if run.mode == TEXT_CHAT:
                talked_s = tally.last_at_s  # what it waited for a message is no use of it
            run.duration = Decimal(f"{max(0.0, talked_s):.3f}")
        run.latency = tally.latency_summary()
        run.gathered_context = {**run.gathered_context, **tally.gathered_context()}
        run.usage = tally.usage or run.usage
        run.worker_id = None
        run.lease_until = None
        await session.flush()
        data = encode_event_data({"end_reason": run.end_reason})
        event = NewEvent(run.id, RUN_SWEPT, round(tally.last_at_s * 1000), data, self._clock.now())
        await event_queries.append_events(session, [*last_times, event])
        if tally.has_opted_out:
            await service.put_on_do_not_call_list(session, run)
        await finalization.finalize_runs(session, [run])

    async def _read_last_times(self, session: AsyncSession, run: Run, tally: RunTally) -> list[NewEvent]:
        """Tallies the times of an answer in which the process died, and returns them as the event to be stored."""
        kept = await self.states.read(session, run.organization_id, run.id)
        times = kept.state.get("timing") if kept is not None else None
        if times is None or tally.has_timing(times):
            return []
        at_s = float(str(times["first_frame"]))
        tally.add_event(TURN_TIMED, at_s, times)
        data = encode_event_data(unheard_timing(times))
        return [NewEvent(run.id, TURN_TIMED, round(at_s * 1000), data, self._clock.now())]

    async def _end_lost(self, organization_id: int, run_id: int, now: datetime) -> bool:
        async with self._db.transaction() as session:
            moved = await service.apply_status(
                session, organization_id, run_id, "failed", end_reason="never_connected", at=now
            )
            run = await service.get_run(session, organization_id, run_id)
            event = run_finished_event(run)
        if moved:
            await self._events.publish(event)
        return moved


def run_finished_event(run: Run) -> RunFinished:
    """Builds the event that this run is over."""
    return RunFinished(
        run_id=run.id,
        organization_id=run.organization_id,
        workflow_id=run.workflow_id,
        campaign_id=run.campaign_id,
        mode=run.mode,
        status=run.status,
        outcome=run.outcome,
        end_reason=run.end_reason,
    )


def _final_values(run: Run, *, ended_at: datetime, has_ended: bool) -> dict[str, str | datetime]:
    """Returns the final values of a run without a worker: chats complete, calls fail, and final runs keep their status.

    ``has_ended``: the worker wrote the end of the conversation before it died.
    """
    if run.status not in LIVE_STATES:
        # The carrier's word came first; without the event of its end, the call ended with our process.
        outcome = run.outcome or ("answered" if run.answered_at else run.status)
        found: dict[str, str | datetime] = {"status": run.status, "outcome": outcome}
        return found if has_ended or run.mode == TEXT_CHAT else {**found, "end_reason": "worker_lost"}
    if run.mode == TEXT_CHAT:
        return {"status": "completed", "outcome": "answered", "end_reason": "idle", "ended_at": ended_at}
    outcome = run.outcome or ("answered" if run.answered_at else "failed")
    return {"status": "failed", "outcome": outcome, "end_reason": "worker_lost", "ended_at": ended_at}
