"""The live calls of one process: connects a leg to its run, carries the call and stores its end."""

import asyncio
from contextlib import suppress
from datetime import timedelta
from typing import Final

import structlog

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.database.outage import DATABASE_ERRORS, retry_until_database_returns
from offhook.kit.event_bus import EventBus
from offhook.orgs import service as orgs
from offhook.orgs.privacy_settings import redaction
from offhook.root import new_node_id
from offhook.runs.errors import ProcessIsFull, RunNotConnectable
from offhook.runs.events import RunFinished, RunStarted
from offhook.runs.finishing import call_end, webhook_events
from offhook.runs.finishing.call_end import FinishedConversation
from offhook.runs.journals.call_journals import CallJournals
from offhook.runs.live import lease_queries
from offhook.runs.live.agent_factory import AgentFactory
from offhook.runs.live.call_admission import CallAdmission, TakeSlot
from offhook.runs.live.call_builder import CallBuilder, TakenRun
from offhook.runs.live.credit_watch import CreditWatch
from offhook.runs.live.event_writer import EventWriter, RunEventSink
from offhook.runs.live.live_call import LiveCall
from offhook.runs.live.pre_call_request import PreCallFetch
from offhook.runs.live.sweeper import run_finished_event
from offhook.runs.recording_files.recorders import CallRecorders
from offhook.runs.recording_files.recording_spool import FOLDER as RECORDINGS_FOLDER
from offhook.runs.recording_files.recording_spool import RecordingSpool
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.records import event_queries
from offhook.runs.records.projections import RunTally, tally_events
from offhook.runs.records.word_filter import WordFilter
from offhook.runs.resuming import resume_queries
from offhook.runs.resuming.handovers import CallHandovers
from offhook.runs.tables import Run
from offhook.settings import Settings
from offhook.voice.config import is_recording_on
from offhook.voice.events import CALL_ENDED, VoiceEvent
from offhook.voice.handover import MOVED
from offhook.voice.input.silero_vad_engine import SileroVad
from offhook.voice.ports import CallLeg, CallResult, VadEngine
from offhook.workflows import service as workflows

SHUTDOWN_TIMEOUT_S: Final = 12.0
# Long enough for the sentence that ends a call.
GOODBYE_TIMEOUT_S: Final = 10.0
DRAIN_POLL_S: Final = 0.1
MAX_EVENTS: Final = 100_000
# Storing a call's end is retried for this long while the database is unavailable; then the sweeper ends the run.
END_STORE_TIMEOUT_S: Final = 300.0
# When a lease whose row another transaction held is tried again.
LOCKED_LEASE_RETRY_S: Final = 0.5
log = structlog.get_logger(__name__)


class LiveCallRegistry:
    """All calls that this process carries, with their leases and shared services."""

    def __init__(
        self,
        *,
        db: Database,
        events: EventBus,
        clock: Clock,
        settings: Settings,
        writer: EventWriter,
        agents: AgentFactory,
        pre_call: PreCallFetch,
        vault: RecordingVault,
    ) -> None:
        self.handovers = CallHandovers(db, clock, writer.states, lease_s=settings.run_lease_s)
        self.worker_id = writer.states.worker_id = new_node_id()
        self._db = db
        self._events = events
        self._clock = clock
        self._settings = settings
        self._lease = timedelta(seconds=settings.run_lease_s)
        self._writer = writer
        self._pre_call = pre_call
        self.admission = CallAdmission(db, settings, self.worker_id)
        self.slots, self.room = self.admission.slots, self.admission.room
        # apart from the leases: what an organization does to its locks must not end the calls of others
        self._credit = CreditWatch(db, lambda: [call for call in self._calls.values() if not call.is_ending])
        self.journals = CallJournals(db, vault.keys, clock, max_kb=settings.call_journal_kb)
        self._builder = CallBuilder(agents, pre_call, CallRecorders(vault, settings), self.journals)
        self.spool = RecordingSpool(db, vault)
        self.vad: VadEngine | None = None  # loaded by the first call
        self._calls: dict[int, LiveCall] = {}
        self._ringing: set[int] = set()
        self._connecting = 0
        self._vad_lock = asyncio.Lock()
        self._lease_task: asyncio.Task[None] | None = None
        self._renewed_at: float | None = None

    def set_node_id(self, node_id: str) -> None:
        """Gives the calls the name of their process."""
        self.worker_id = self.room.node_id = self.handovers.states.worker_id = self.spool.report.node_id = node_id

    @property
    def active_calls(self) -> int:
        """Returns the number of calls that this process carries."""
        return len(self._calls) + self._connecting

    async def _get_vad_engine(self) -> VadEngine:
        """Returns the VAD engine shared by all calls; its model is loaded in a thread by the first call."""
        async with self._vad_lock:
            if self.vad is None:
                silero = SileroVad()
                await asyncio.to_thread(silero.load_model)
                self.vad = silero
        return self.vad

    async def connect_leg(self, run_id: int, leg: CallLeg) -> LiveCall:
        """Takes the run for this process and builds its session; the caller then awaits :meth:`LiveCall.run`.

        Raises RunNotConnectable (409) if the run is over or carried elsewhere, ProcessIsFull (503) if it was not admitted
        and there is no slot left for its organization; another process may take it then.
        """
        if not self.slots.holds(run_id) and self.active_calls >= self._settings.max_calls_per_process:
            raise ProcessIsFull
        self._connecting += 1
        try:
            with self.admission.slot_of(run_id) as take_slot:
                taken = await self._take_run(run_id, take_slot)
            run = taken.run
            sink = self._writer.create_sink(run.id, taken.words)
            sink.tally = taken.tally
            try:
                call = await self._build_call(taken, leg, sink)
            except BaseException:
                failed = CallResult("failed", "error", 0.0)
                sink.emit(VoiceEvent(CALL_ENDED, 0.0, {"end_reason": failed.end_reason, "outcome": failed.outcome}))
                self.slots.give_back(run.id)
                await asyncio.shield(self.store_end(run.organization_id, run.id, sink, failed))
                raise
            if (before := self._calls.get(run.id)) is not None:
                before.session.leave_call()
            self._calls[run.id] = call
            if run.mode in self.handovers.modes:
                take_state = call.take_state if taken.words.keeps_words else None
                self.handovers.states.keep(run.organization_id, run.id, take_state)
        finally:
            self._connecting -= 1
        self._ensure_lease_task()
        log.info(
            "call_began", run_id=run.id, organization_id=run.organization_id, channel=run.mode, node=self.worker_id
        )
        if taken.resumed is None:
            await self._events.publish(RunStarted(run.id, run.organization_id, run.workflow_id, run.mode))
        return call

    async def lease_ringing_run(self, run_id: int) -> None:
        """Leases a run whose phone rings inside this process, so that the run does not outlive the process."""
        self._ringing.add(run_id)
        self._pre_call.start_fetch(run_id)
        await self._lease_ringing([run_id])
        self._ensure_lease_task()

    def stop_ringing(self, run_id: int) -> None:
        self._ringing.discard(run_id)
        self._pre_call.cancel_fetch(run_id)

    def _ensure_lease_task(self) -> None:
        if self._lease_task is None or self._lease_task.done():
            self._renewed_at = asyncio.get_running_loop().time()
            self._lease_task = asyncio.create_task(self._renew_loop(), name="run-leases")
        self._credit.ensure_running()

    async def _lease_ringing(self, run_ids: list[int], *, skip_locked: bool = False) -> None:
        until = self._clock.now() + self._lease
        async with self._db.transaction() as session:
            await lease_queries.lease_ringing_runs(session, run_ids, until=until, skip_locked=skip_locked)

    async def _take_run(self, run_id: int, take_slot: TakeSlot) -> TakenRun:
        now = self._clock.now()
        async with self._db.transaction() as session:
            run = await lease_queries.take_run(
                session, run_id, worker_id=self.worker_id, now=now, until=now + self._lease
            )
            if run is None:
                raise RunNotConnectable
            limit = await orgs.concurrency_limit(session, run.organization_id, self._settings)
            # refused, the transaction leaves the run as it was
            take_slot(run, limit)
            version = await workflows.version_to_run(session, run.organization_id, run.version_id)
            keeps_words = version.configurations.get("do_not_keep") is not True
            rules = await redaction.get_redaction_rules(session, run.organization_id)
            words = WordFilter(rules, keeps_words=keeps_words)
            await event_queries.notify_listeners(session, [run.id])
            resumed = await self.handovers.states.read(session, run.organization_id, run.id)
            if resumed is not None:
                words.restore(resumed.state["words"])
                stored = await event_queries.read_events(
                    session, run.organization_id, run.id, limit=MAX_EVENTS, is_lenient=True
                )
                return TakenRun(run, version, words, tally_events(stored), resumed)
            is_recorded = keeps_words and is_recording_on(version.configurations)
            run.recording_key = f"{RECORDINGS_FOLDER}/{run.organization_id}/{run.id}.wav" if is_recorded else None
            await webhook_events.publish_run_started(session, run)
        return TakenRun(run, version, words, RunTally())

    async def _build_call(self, taken: TakenRun, leg: CallLeg, sink: RunEventSink) -> LiveCall:
        built = await self._builder.build(taken, leg, sink, await self._get_vad_engine())
        is_resumable = taken.run.mode in self.handovers.modes
        return LiveCall(run=taken.run, built=built, sink=sink, calls=self, is_resumable=is_resumable)

    async def store_end(
        self, organization_id: int, run_id: int, sink: RunEventSink, result: CallResult, *, has_recording: bool = True
    ) -> RunFinished | None:
        """Stores the end of a call, retrying through a database outage, and notifies the domains above."""
        tally = sink.tally
        ending = FinishedConversation(
            result=result,
            gathered_context=sink.words.filter_values({**tally.gathered_context(), **result.gathered_context}),
            usage=tally.usage,
            latency=tally.latency_summary(),
            ended_at=self._clock.now(),
            has_opted_out=tally.has_opted_out,
            has_recording=has_recording,
        )

        async def store_in_transaction() -> Run | None:
            async with self._db.transaction() as session:
                return await call_end.store_run_end(session, organization_id, run_id, ending, worker_id=self.worker_id)

        await self._writer.flush(END_STORE_TIMEOUT_S)
        try:
            async with self._db.shares.take(organization_id, timeout_s=END_STORE_TIMEOUT_S):
                run = await retry_until_database_returns(
                    store_in_transaction, timeout_s=END_STORE_TIMEOUT_S, what="end of a run"
                )
        except DATABASE_ERRORS:
            log.exception("run_end_not_stored", run_id=run_id)
            return None
        if run is None:
            return None
        event = run_finished_event(run)
        await self._events.publish(event)
        return event

    def carries(self, call: LiveCall) -> bool:
        """Returns whether this is the process's call of its run: a newer connection replaces an older one."""
        return self._calls.get(call.run_id) is call

    def forget(self, call: LiveCall) -> None:
        if self.carries(call):
            del self._calls[call.run_id]
            self.handovers.states.forget(call.run_id)
        self.slots.give_back(call.run_id)

    async def drain(self) -> None:
        """Lets calls end by themselves for the drain time of the settings, then ends the others with an apology."""
        if self.active_calls:
            log.info("calls_draining", count=self.active_calls, at_most_s=self._settings.drain_s)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._settings.drain_s):
                await self._wait_until_idle()
                return
        for call in self._calls.values():
            call.session.end_with_apology("server_stopped")
        with suppress(TimeoutError):
            async with asyncio.timeout(GOODBYE_TIMEOUT_S):
                await self._wait_until_idle()

    async def _wait_until_idle(self) -> None:
        while self.active_calls:
            await asyncio.gather(asyncio.sleep(DRAIN_POLL_S), *(call.ended.wait() for call in self._calls.values()))

    def is_renewing(self) -> bool:
        """Returns False when the last renewal of leases is longer ago than a lease lasts."""
        return self.lease_age_s() <= self._settings.run_lease_s

    def lease_age_s(self) -> float:
        """Returns the time since the leases were renewed; 0 without calls."""
        if not self._calls or self._renewed_at is None:
            return 0.0
        return asyncio.get_running_loop().time() - self._renewed_at

    async def stop_all(self) -> None:
        """Ends every call cleanly (``completed``, ``server_stopped``) and writes everything left."""
        calls = list(self._calls.values())
        for call in calls:
            call.session.end_call("server_stopped")
        with suppress(TimeoutError):
            async with asyncio.timeout(SHUTDOWN_TIMEOUT_S):
                for call in calls:
                    await call.ended.wait()
        await self._writer.flush(SHUTDOWN_TIMEOUT_S)
        await self.handovers.close()
        await self.spool.close()
        self._credit.stop()
        if self._lease_task is not None:
            self._lease_task.cancel()

    async def _renew_loop(self) -> None:
        beat_s = self._settings.run_lease_s / 3
        pause_s = beat_s
        while self._calls or self._ringing:
            await asyncio.sleep(pause_s)
            pause_s = beat_s
            try:
                async with asyncio.timeout(beat_s):
                    pause_s = LOCKED_LEASE_RETRY_S if await self.renew_leases() else beat_s
                self._renewed_at = asyncio.get_running_loop().time()
            except DATABASE_ERRORS as error:
                log.warning("leases_not_renewed", error=type(error).__name__)
                if isinstance(error, TimeoutError):
                    # The beat that was lost is made up for at once, before the lease ends.
                    self._db.distrust_connections()
                    pause_s = 0.0

    async def renew_leases(self) -> set[int]:
        """Renews all leases with one statement. A call that lost its lease (it was presumed dead) is ended.
        Returns the runs that another transaction is changing, to be renewed the next time."""
        if self._ringing:
            await self._lease_ringing(sorted(self._ringing), skip_locked=True)
        own_calls, moved = dict(self._calls), set[int]()
        if not own_calls:
            return moved
        until = self._clock.now() + self._lease
        async with self._db.transaction() as session:
            renewed, locked = await lease_queries.renew_run_leases(
                session, sorted(own_calls), worker_id=self.worker_id, until=until
            )
            lost = own_calls.keys() - renewed - locked
            if lost:
                moved = await resume_queries.find_runs_of_others(session, sorted(lost), worker_id=self.worker_id)
        for run_id in lost:
            if run_id in self._calls and not own_calls[run_id].is_ending:
                log.warning("lease_lost", run_id=run_id, is_elsewhere=run_id in moved)
                own_calls[run_id].session.end_call(MOVED if run_id in moved else "server_stopped")
        return locked
