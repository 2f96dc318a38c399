"""Drops entire partitions when every call that has rows there is due for deletion anyway."""

from dataclasses import replace
from datetime import datetime
from typing import Final

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.orgs.privacy_settings import retention
from offhook.privacy.retention import agent_periods
from offhook.runs.partitions.run_partitions import RunPartitions
from offhook.runs.partitions.superuser_queries import RunPeriods, RunRange, look_at_runs

# Ranges of runs of one job: the next one follows in half an hour.
MAX_RANGES: Final = 4
# Runs that one statement looks at.
STEP: Final = 20_000


class PastPartitions:
    """A run keeps its partitions while it is not over, has no period, or is younger than its period: the shorter of its agent's
    and its organization's. The runs themselves, with their recordings, are left to the sweep of runs."""

    def __init__(self, db: Database, clock: Clock, partitions: RunPartitions, *, step: int = STEP) -> None:
        self._db = db
        self._clock = clock
        self._partitions = partitions
        self._step = step

    async def drop(self) -> int:
        """Deletes the partitions of a few ranges of runs at most, the oldest first, and returns of how many."""
        now = self._clock.now()
        async with self._db.transaction() as session:
            periods = await _list_periods(session)

        async def is_past(runs: RunRange) -> bool:
            return not await self._has_kept_run(runs, periods, now)

        async def still_holds(session: AsyncSession) -> bool:
            # Somebody may have decided meanwhile to keep calls for longer.
            return await _list_periods(session) == periods

        return await self._partitions.drop_past(is_past, still_holds, limit=MAX_RANGES)

    async def _has_kept_run(self, runs: RunRange, periods: RunPeriods, now: datetime) -> bool:
        """Looks at the youngest runs first: they are those that are kept."""
        while True:
            async with self._db.transaction() as session:
                step = await look_at_runs(session, periods, runs, now, limit=self._step)
            if step.has_kept:
                return True
            if step.count < self._step:
                return False
            runs = replace(runs, end=step.first_id)


async def _list_periods(session: AsyncSession) -> RunPeriods:
    organizations = {
        state.organization_id: state.periods.runs_days for state in await retention.list_retention(session)
    }
    agents = {state.workflow_id: state.periods.runs_days for state in await agent_periods.list_agent_periods(session)}
    return RunPeriods(
        {number: days for number, days in organizations.items() if days is not None},
        {number: days for number, days in agents.items() if days is not None},
    )
