"""One connected call, from its first sound to its stored end."""

import asyncio
from collections.abc import Sequence
from typing import Final, Protocol

import structlog

from offhook.kit.crypto import SecretUnreadable
from offhook.kit.files.sealed_file import open_random_access
from offhook.runs.events import RunFinished
from offhook.runs.finishing.costs import tariff_of
from offhook.runs.journals.call_journals import CallJournals
from offhook.runs.live.call_builder import BuiltCall
from offhook.runs.live.call_metrics import count_call
from offhook.runs.live.event_writer import RunEventSink
from offhook.runs.recording_files.call_recording import WavRecorder
from offhook.runs.recording_files.recording_spool import RecordingSpool
from offhook.runs.recording_files.silences import SilentPart, silence_parts
from offhook.runs.resuming.handovers import CallHandovers
from offhook.runs.tables import Run
from offhook.voice.call_state import CallState
from offhook.voice.events import CALL_ENDED, VoiceEvent
from offhook.voice.handover import MOVED
from offhook.voice.ports import CallResult

# The events of a call whose line broke are written before another process goes on with it, if the database lets them.
HANDOVER_FLUSH_S: Final = 1.0
log = structlog.get_logger(__name__)


class CallOwner(Protocol):
    """The process's calls, which store the end of each."""

    worker_id: str
    spool: RecordingSpool
    handovers: CallHandovers
    journals: CallJournals

    async def store_end(
        self, organization_id: int, run_id: int, sink: RunEventSink, result: CallResult, *, has_recording: bool = True
    ) -> RunFinished | None: ...

    def carries(self, call: "LiveCall") -> bool: ...

    def forget(self, call: "LiveCall") -> None: ...


class LiveCall:
    """One connected call. The leg's owner feeds ``session`` and awaits :meth:`run` once."""

    def __init__(
        self,
        *,
        run: Run,
        built: BuiltCall,
        sink: RunEventSink,
        calls: CallOwner,
        is_resumable: bool = False,
    ) -> None:
        """``is_resumable``: its carrier connects the call again when the media is lost."""
        self.run_id = run.id
        self.organization_id = run.organization_id
        self.tariff = tariff_of(run)
        self._mode = run.mode
        self.session = session = built.session
        self.ended = asyncio.Event()
        # true while the end is being stored, after which the lease is released
        self.is_ending = False
        self.finished: RunFinished | None = None
        self._sink = sink
        self._recording = built.recording
        self._journal = built.journal
        self._recording_key = run.recording_key
        self._calls = calls
        if is_resumable:
            session.on_over = self._note_over
            session.handover.ask = self._hand_over

    async def run(self) -> CallResult:
        """Carries the call to its end and stores events, recording, state and cost. Raises nothing but cancellation.

        Each log line on the way has the call's ids."""
        ids = {"run_id": self.run_id, "organization_id": self.organization_id, "node": self._calls.worker_id}
        with structlog.contextvars.bound_contextvars(**ids):
            return await self._carry_call()

    async def _carry_call(self) -> CallResult:
        try:
            result = await self.session.run()
        except asyncio.CancelledError:
            await asyncio.shield(self._finish_call(self._aborted_result("server_stopped", "answered")))
            raise
        except Exception:  # the media-socket edge: this run ends as failed and other calls continue
            log.exception("call_crashed", run_id=self.run_id)
            result = self._aborted_result("error", "failed")
        if result.end_reason == MOVED:
            self._calls.forget(self)
            self.ended.set()
            log.info("call_moved", seconds=round(result.duration_s, 1))
            return result
        await asyncio.shield(self._finish_call(result))
        return result

    def _aborted_result(self, reason: str, outcome: str) -> CallResult:
        at_s = self._sink.tally.last_at_s
        if not self._sink.has_ended:
            self._sink.emit(VoiceEvent(CALL_ENDED, at_s, {"end_reason": reason, "outcome": outcome}))
        return CallResult(outcome, reason, at_s)

    def take_state(self) -> CallState:
        """Returns what another process needs to go on with this call."""
        return self._with_words(self.session.snapshot())

    def _with_words(self, state: CallState) -> CallState:
        state["words"] = self._sink.words.snapshot()
        return state

    @property
    def keeps_words(self) -> bool:
        """Returns whether what is said may be stored."""
        return self._sink.words.keeps_words

    def _note_over(self) -> None:
        if self._calls.carries(self):
            self._calls.handovers.note_over(self.organization_id, self.run_id)

    async def _hand_over(self, state: CallState) -> bool:
        self.is_ending = True
        await self._sink.flush(HANDOVER_FLUSH_S)
        return await self._calls.handovers.give_call(
            self.organization_id,
            self.run_id,
            self._with_words(state),
            is_kept=self.keeps_words,
            needs_carrier=self._mode not in self._calls.handovers.page_modes,
            is_taken=lambda: not self._calls.carries(self),
        )

    async def _finish_call(self, result: CallResult) -> None:
        self.is_ending = True
        try:
            has_recording = await self._finish_recording()
            self.finished = await self._calls.store_end(
                self.organization_id, self.run_id, self._sink, result, has_recording=has_recording
            )
            if self._journal is not None:
                await self._calls.journals.keep(self.organization_id, self.run_id, self._journal)
            tally = self._sink.tally
            count_call(self._mode, result.outcome, tally.responses_ms, tally.first_sound_s)
            log.info(
                "call_ended",
                outcome=result.outcome,
                end_reason=result.end_reason,
                seconds=round(result.duration_s, 1),
            )
        finally:
            self._calls.forget(self)
            self.ended.set()

    async def _finish_recording(self) -> bool:
        """Completes the recording, or deletes the file of one that never began; returns whether there is one."""
        recorder = self._recording.recorder
        if not isinstance(recorder, WavRecorder):
            return True
        await recorder.close()
        if not self._recording.is_kept:
            await asyncio.to_thread(recorder.path.unlink, missing_ok=True)
            return False
        if self._sink.words.silences:
            await asyncio.to_thread(_silence_or_delete, recorder, self._sink.words.silences)
        if self._recording_key is not None:
            self._calls.spool.keep_soon(self._recording_key)
        return True


def _silence_or_delete(recorder: WavRecorder, parts: Sequence[SilentPart]) -> None:
    try:
        file = open_random_access(recorder.path, recorder.key)
        try:
            silence_parts(file, parts)
        finally:
            file.close()
    except (OSError, SecretUnreadable):
        log.exception("recording_not_silenced", path=str(recorder.path))
        recorder.path.unlink(missing_ok=True)
