"""The job that measures the recording of every finished call, so that its answer times count."""

from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook import jobs
from offhook.jobs.registry import read_number
from offhook.kit.database.database import Database
from offhook.kit.json_values import JsonObject
from offhook.runs.strips.call_strips import CallStrips
from offhook.runs.tables import Run

JOB: Final = "run_strip.measure"
# A recording is soon in the storage; that of a process that died is found an hour after its last sound.
SCHEDULE: Final = jobs.PollSchedule(JOB, (20.0, 300.0, 7200.0))
# Calls of one organization that end together are measured one after another: it has one place in a worker, and a job
# that finds none is put off as a new one.
SPREAD_S: Final = 40


async def schedule_measurement(session: AsyncSession, run: Run) -> None:
    """Schedules it in the transaction that stores the run's end."""
    if run.recording_key is not None:
        payload = {"organization_id": run.organization_id, "run_id": run.id}
        await SCHEDULE.start(session, run.id, payload, later_s=run.id % SPREAD_S)


class MeasurementJob:
    """The job. It may run twice: the strip of a run is stored, and its answer times counted, once."""

    def __init__(self, db: Database, strips: CallStrips) -> None:
        self._db = db
        self._strips = strips

    async def measure_run(self, payload: JsonObject) -> None:
        """Measures one run, or tries again later when its recording is not there yet."""
        run_id = read_number(payload, "run_id")
        if await self._strips.measure_run(read_number(payload, "organization_id"), run_id):
            return
        async with self._db.transaction() as session:
            await SCHEDULE.reschedule(session, run_id, payload)
