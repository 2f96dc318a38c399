"""Polling with a limit: a job that repeats after each of its pauses, then stops."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue
from offhook.jobs.registry import read_number
from offhook.kit.json_values import JsonObject


@dataclass(frozen=True, slots=True)
class PollSchedule:
    """Runs the job ``job`` after pauses until it has its answer or the pauses are used up.

    ``dedupe_key`` is unique per polled thing: it never has two waiting tries with the same number.
    """

    job: str
    pauses_s: Sequence[float]

    async def start(
        self, session: AsyncSession, dedupe_key: object, payload: Mapping[str, object], *, later_s: float = 0.0
    ) -> None:
        """Enqueues the first try ``later_s`` after the first pause; its payload is ``payload`` with ``tries``."""
        await self._enqueue_try(session, dedupe_key, payload, 0, later_s)

    async def reschedule(self, session: AsyncSession, dedupe_key: object, payload: JsonObject) -> bool:
        """Enqueues the next try from the last one's payload; returns False after the last pause."""
        return await self._enqueue_try(session, dedupe_key, payload, read_number(payload, "tries") + 1)

    async def _enqueue_try(
        self,
        session: AsyncSession,
        dedupe_key: object,
        payload: Mapping[str, object],
        tries: int,
        later_s: float = 0.0,
    ) -> bool:
        if tries >= len(self.pauses_s):
            return False
        await enqueue(
            session,
            self.job,
            {**payload, "tries": tries},
            delay_s=self.pauses_s[tries] + later_s,
            dedupe_key=f"{self.job}:{dedupe_key}:{tries}",
        )
        return True
