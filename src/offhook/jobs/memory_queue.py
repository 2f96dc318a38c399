"""A job queue without a database, for tests: the same rules on a clock that the test moves."""

import heapq
import itertools
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from sqlalchemy import event
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import TWIN
from offhook.jobs.registry import JobRegistry
from offhook.kit.json_values import JsonObject

MAX_RETRIES = 5


@dataclass(order=True)
class _MemoryJob:
    due_s: float
    id: int
    name: str = field(compare=False)
    payload: bytes = field(compare=False)
    dedupe_key: str | None = field(compare=False)
    attempts: int = field(compare=False, default=0)


class MemoryJobQueue:
    """``attach`` it to a session and ``jobs.enqueue`` adds jobs here; ``advance`` moves time and runs due jobs."""

    def __init__(self, registry: JobRegistry) -> None:
        self.registry = registry
        self.now_s = 0.0
        self.failed: list[tuple[str, JsonObject, Exception]] = []
        self._waiting: list[_MemoryJob] = []
        self._uncommitted: list[_MemoryJob] = []
        self._ids = itertools.count(1)
        self._next_tick = {schedule.name: 0.0 for schedule in registry.schedules}

    def attach(self, session: AsyncSession) -> None:
        """Makes jobs of this session exist once it commits."""
        session.info[TWIN] = self
        event.listen(session.sync_session, "after_commit", lambda _: self.commit())
        event.listen(session.sync_session, "after_rollback", lambda _: self.rollback())

    def add(self, name: str, payload: Mapping[str, object], delay_s: float, dedupe_key: str | None) -> int | None:
        """Adds a job to the open transaction; returns None when a job with this key is waiting."""
        if dedupe_key is not None and dedupe_key in {j.dedupe_key for j in (*self._waiting, *self._uncommitted)}:
            return None
        job = _MemoryJob(self.now_s + delay_s, next(self._ids), name, json.dumps(payload).encode(), dedupe_key)
        self._uncommitted.append(job)
        return job.id

    def commit(self) -> None:
        for job in self._uncommitted:
            heapq.heappush(self._waiting, job)
        self._uncommitted.clear()

    def rollback(self) -> None:
        self._uncommitted.clear()

    async def advance(self, seconds: float = 0) -> list[str]:
        """Advances the clock, runs every job and schedule that falls due, and returns their names in running order."""
        until_s = self.now_s + seconds
        ran = []
        while True:
            self._start_schedules(until_s)
            if not self._waiting or self._waiting[0].due_s > until_s:
                break
            job = heapq.heappop(self._waiting)
            self.now_s = max(self.now_s, job.due_s)
            ran.append(job.name)
            await self._run_job(job)
        self.now_s = until_s
        return ran

    def _start_schedules(self, until_s: float) -> None:
        horizon_s = min([until_s, *(job.due_s for job in self._waiting[:1])])
        for schedule in self.registry.schedules:
            at_s = self._next_tick[schedule.name]
            if at_s <= horizon_s:
                self.add(schedule.name, {}, max(0.0, at_s - self.now_s), f"schedule:{schedule.name}")
                self.commit()
                self._next_tick[schedule.name] = at_s + schedule.every_s

    async def _run_job(self, job: _MemoryJob) -> None:
        payload = json.loads(job.payload)
        try:
            await self.registry.handlers[job.name](payload)
        except Exception as error:  # noqa: BLE001 - the job loop is one of the four places
            is_scheduled = job.name in self._next_tick
            if is_scheduled or job.attempts >= MAX_RETRIES:
                if not is_scheduled:
                    self.failed.append((job.name, payload, error))
                return
            job.due_s = self.now_s + min(2.0**job.attempts, 300.0)
            job.attempts += 1
            heapq.heappush(self._waiting, job)
