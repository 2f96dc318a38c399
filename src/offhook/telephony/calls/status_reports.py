"""Applies carriers' status reports to calls."""

from collections.abc import Sequence
from typing import Final

import structlog

from offhook.kit.clock import Clock
from offhook.kit.database.database import Database
from offhook.kit.database.group_commit import GroupCommit
from offhook.kit.event_bus import EventBus
from offhook.runs import service as runs
from offhook.runs.errors import RunNotFound
from offhook.runs.states import BUSY, CANCELED, FAILED, FINAL_STATES, NO_ANSWER, StatusChange
from offhook.telephony.events import CallEnded
from offhook.telephony.ports import StatusUpdate

# Final states that explain by themselves why a call ended; for a completed call the conversation knows more.
_NOT_CONNECTED: Final = frozenset({BUSY, NO_ANSWER, CANCELED, FAILED})
# End reason of an answered call in which no speech was heard.
MEDIA_NEVER_CAME: Final = "media_never_came"

log = structlog.get_logger(__name__)


def not_connected_reason(status: str) -> str | None:
    """Returns the end reason of a final state that is a reason by itself."""
    return status if status in _NOT_CONNECTED else None


class CallReports:
    """Applies status reports of calls, from webhooks or from carriers in this process.

    Reports that arrive at the same time share one transaction; each is durable when :meth:`report_status` returns.
    """

    def __init__(self, db: Database, events: EventBus, clock: Clock) -> None:
        self._db = db
        self._events = events
        self._clock = clock
        self._batch = GroupCommit(self._apply_batch)

    async def report_status(self, organization_id: int, run_id: int, update: StatusUpdate) -> bool:
        """Returns False for a report that is too late, repeated or out of order. Raises RunNotFound (404)."""
        change = StatusChange(
            organization_id,
            run_id,
            update.status,
            self._clock.now(),
            outcome=update.outcome,
            end_reason=update.end_reason or not_connected_reason(update.status),
            call_id=update.call_id,
        )
        moved = await self._batch.submit(change)
        if moved is None:
            raise RunNotFound
        if moved and update.status in FINAL_STATES:
            await self._events.publish(CallEnded(organization_id, run_id, update.status, update.outcome))
        return moved

    async def _apply_batch(self, changes: Sequence[StatusChange]) -> list[bool | None]:
        async with self._db.transaction() as session:
            return await runs.apply_status_changes(session, list(changes))
