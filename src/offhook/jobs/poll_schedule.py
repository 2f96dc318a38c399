"""Asking somebody who does not know yet: a job that comes back after each of its pauses, and then no more."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.jobs.queue import enqueue


@dataclass(frozen=True, slots=True)
class PollSchedule:
    """``job`` is the job's name, ``pauses_s`` what passes before each time. ``about``, unique among what is asked by this
    job, names the thing: of one thing no two questions of the same turn wait."""

    job: str
    pauses_s: Sequence[float]

    async def start(self, session: AsyncSession, about: object, payload: dict[str, Any]) -> None:
        """Ask for the first time after the first pause. The job's payload is this one with ``tries`` in it."""
        await self._enqueue_try(session, about, {**payload, "tries": 0})

    async def reschedule(self, session: AsyncSession, about: object, payload: dict[str, Any]) -> bool:
        """From the job, with the payload that it was given: ask again after the next pause; False after the last."""
        return await self._enqueue_try(session, about, {**payload, "tries": payload["tries"] + 1})

    async def _enqueue_try(self, session: AsyncSession, about: object, payload: dict[str, Any]) -> bool:
        tries: int = payload["tries"]
        if tries >= len(self.pauses_s):
            return False
        key = f"{self.job}:{about}:{tries}"
        await enqueue(session, self.job, payload, delay_s=self.pauses_s[tries], dedupe_key=key)
        return True
