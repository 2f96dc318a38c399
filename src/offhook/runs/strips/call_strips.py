"""Measures the strips of finished runs once, stores them, and gives them to pages and lists."""

import time
from collections.abc import Sequence
from decimal import Decimal
from typing import BinaryIO, Final

from offhook.errors import TooManyRequests
from offhook.kit.database.database import Database
from offhook.kit.files.file_store import FileGone
from offhook.kit.json_values import JsonObject
from offhook.kit.processes.fair_places import FairPlaces
from offhook.kit.tasks import finish_in_thread
from offhook.runs import service as runs
from offhook.runs.errors import RunInProgress
from offhook.runs.recording_files.vault import RecordingVault
from offhook.runs.strips import repository
from offhook.runs.strips.answer_statistics import add_answers
from offhook.runs.strips.answer_times import MeasuredAnswer, read_answers, summarize_answers
from offhook.runs.strips.loudness import Loudness, measure_loudness
from offhook.runs.strips.repository import FinishedRun, TimedEvent
from offhook.runs.strips.timeline import build_timeline
from offhook.runs.tables import RunStrip

# A list shows what is measured until then and asks again for the rest.
_LIST_BUDGET_S: Final = 1.5
# Measuring an hour of sound takes a core for a second and a half; calls in progress need the others.
_MEASURED_AT_A_TIME: Final = 1


class CallStrips:
    """The strips of one process. A strip is measured when it is first asked for, or by the job after the call; the one
    that stores it counts the answer times of its call, in the same transaction."""

    def __init__(self, db: Database, vault: RecordingVault) -> None:
        self._db = db
        self._vault = vault
        self._places = FairPlaces(_MEASURED_AT_A_TIME)

    async def load_strip(self, organization_id: int, workflow_id: int, run_id: int) -> RunStrip:
        """Returns a run's strip. Raises RunNotFound (404), RunInProgress (409) for a run that is not over, and
        StorageUnavailable (503), TooManyRequests (429)."""
        async with self._db.transaction() as session:
            await runs.get_run(session, organization_id, run_id, workflow_id=workflow_id)
        strips, _ = await self.load_strips(organization_id, [run_id], budget_s=None)
        if not strips:
            raise RunInProgress
        return strips[0]

    async def measure_run(self, organization_id: int, run_id: int) -> bool:
        """Measures a run's recording unless that is done; returns False when there is still something to wait for: the
        end of the run, or its recording."""
        async with self._db.transaction() as session:
            if await repository.read_strips(session, organization_id, [run_id]):
                return True
            if not await repository.has_recording(session, organization_id, run_id):
                return True
        await self.load_strips(organization_id, [run_id], budget_s=None)
        async with self._db.transaction() as session:
            return bool(await repository.read_strips(session, organization_id, [run_id]))

    async def load_strips(
        self, organization_id: int, run_ids: Sequence[int], *, budget_s: float | None = _LIST_BUDGET_S
    ) -> tuple[list[RunStrip], list[int]]:
        """Returns the strips of those runs that are over, and the ids of those that are not yet measured after
        ``budget_s`` seconds. Other organizations' runs are left out."""
        async with self._db.transaction() as session:
            strips = await repository.read_strips(session, organization_id, run_ids)
            known = {strip.run_id for strip in strips}
            missing = [run_id for run_id in dict.fromkeys(run_ids) if run_id not in known]
            finished = await repository.find_finished_runs(session, organization_id, missing) if missing else {}
            events = await repository.read_strip_events(session, organization_id, list(finished)) if finished else {}
        stop = None if budget_s is None else time.monotonic() + budget_s
        pending: list[int] = []
        for run in finished.values():
            if stop is not None and time.monotonic() > stop:
                pending.append(run.id)
                continue
            try:
                strips.append(await self._measure_strip(organization_id, run, events.get(run.id, [])))
            except TooManyRequests:
                if stop is None:
                    raise
                pending.append(run.id)
        return strips, pending

    async def _measure_strip(self, organization_id: int, run: FinishedRun, events: Sequence[TimedEvent]) -> RunStrip:
        loudness, answers = None, None
        is_whole = True
        if run.recording_key is not None:
            try:
                async with self._places.take(organization_id), self._vault.open_file(run.recording_key) as file:
                    loudness, answers = await finish_in_thread(_measure_sound, file)
            except FileGone:  # another machine may still be moving it to the bucket
                is_whole = False
        seconds = loudness.seconds if loudness else run.duration
        timeline = build_timeline(events, seconds)
        shown: JsonObject = {"steps": list(timeline.steps), "marks": list(timeline.marks)}
        if answers is not None:
            shown["answer_times"] = summarize_answers(answers)
        strip = RunStrip(
            run_id=run.id,
            organization_id=organization_id,
            seconds=Decimal(str(round(seconds, 3))),
            caller=loudness.caller if loudness else b"",
            agent=loudness.agent if loudness else b"",
            timeline=shown,
        )
        if is_whole:
            async with self._db.transaction() as session:
                kept = await repository.keep_strip(session, organization_id, strip, run.recording_key)
                if kept is not None and answers:
                    await add_answers(session, organization_id, kept, [answer.silence_ms for answer in answers])
        return strip


def _measure_sound(file: BinaryIO) -> tuple[Loudness | None, list[MeasuredAnswer] | None]:
    loudness = measure_loudness(file)
    if loudness is None:
        return None, None
    file.seek(0)
    return loudness, read_answers(file)
