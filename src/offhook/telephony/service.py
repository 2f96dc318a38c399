"""Whose carrier account places a call, and what carriers report of calls."""

from collections.abc import Sequence
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.db import Database
from offhook.kit.events import EventBus
from offhook.runs import service as runs
from offhook.runs.states import BUSY, CANCELED, FAILED, FINAL, NO_ANSWER
from offhook.telephony import repository
from offhook.telephony.errors import ConfigurationNotFound
from offhook.telephony.events import CallEnded
from offhook.telephony.ports import CarrierAccount, StatusUpdate
from offhook.telephony.tables import TelephonyConfiguration

SANDBOX: Final = "sandbox"
# Final states that say by themselves why a call ended; of a completed one the conversation knows more.
_NOT_CONNECTED: Final = frozenset({BUSY, NO_ANSWER, CANCELED, FAILED})

log = structlog.get_logger(__name__)


async def account_for(
    session: AsyncSession, organization_id: int, *, configuration_id: int | None = None, provider: str | None = None
) -> CarrierAccount:
    """The account that places a call: the one that is named, else the default, else the built-in sandbox.

    ``provider`` narrows it to one carrier (a run that was made for it). ConfigurationNotFound (404).
    """
    if configuration_id is not None:
        row = await repository.configuration(session, organization_id, configuration_id)
        if row is None or (provider is not None and row.provider != provider):
            raise ConfigurationNotFound
        return _account(row)
    row = await repository.default_for_dialling(session, organization_id)
    if row is None or (provider is not None and row.provider != provider):
        row = await repository.oldest_of(session, organization_id, provider or SANDBOX)
    if row is not None:
        return _account(row)
    if provider in {None, SANDBOX}:
        return CarrierAccount(organization_id, SANDBOX)
    raise ConfigurationNotFound(f"Your organisation has no account at {provider}.")


def _account(row: TelephonyConfiguration) -> CarrierAccount:
    return CarrierAccount(row.organization_id, row.provider, row.id, dict(row.config))


async def sandbox_calls(session: AsyncSession, organization_id: int, run_ids: Sequence[int]) -> dict[int, int]:
    """How many calls of each run the sandbox's network has in its own book; runs without one are left out."""
    return await repository.sandbox_calls(session, organization_id, run_ids)


class CallReports:
    """Where carriers' news of a call goes, whichever way it came (webhook or, for the sandbox, a function call)."""

    def __init__(self, db: Database, events: EventBus) -> None:
        self._db = db
        self._events = events

    async def report(self, organization_id: int, run_id: int, update: StatusUpdate) -> bool:
        """Apply it in a transaction of its own; False when it came too late, twice or out of order."""
        async with self._db.transaction() as session:
            moved = await runs.apply_status(
                session,
                organization_id,
                run_id,
                update.status,
                outcome=update.outcome,
                end_reason=update.end_reason or (update.status if update.status in _NOT_CONNECTED else None),
                call_id=update.call_id,
            )
        if moved and update.status in FINAL:
            await self._events.publish(CallEnded(organization_id, run_id, update.status, update.outcome))
        return moved
