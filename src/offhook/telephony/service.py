"""Whose carrier account places a call, and what carriers report of calls."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.batching import Batcher
from offhook.kit.db import Database
from offhook.kit.events import EventBus
from offhook.runs import service as runs
from offhook.runs.errors import RunNotFound
from offhook.runs.moving import RunNews
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


@dataclass(frozen=True, slots=True)
class _Report:
    organization_id: int
    run_id: int
    update: StatusUpdate
    at: datetime


class CallReports:
    """Where carriers' news of a call goes, whichever way it came (webhook or, for the sandbox, a function call).

    News that come at the same time are written in one transaction; each is durable when its :meth:`report` returns.
    """

    def __init__(self, db: Database, events: EventBus) -> None:
        self._db = db
        self._events = events
        self._batch = Batcher(self._apply)

    async def report(self, organization_id: int, run_id: int, update: StatusUpdate) -> bool:
        """Apply it; False when it came too late, twice or out of order. RunNotFound (404)."""
        moved = await self._batch.do(_Report(organization_id, run_id, update, datetime.now(UTC)))
        if moved is None:
            raise RunNotFound
        if moved and update.status in FINAL:
            await self._events.publish(CallEnded(organization_id, run_id, update.status, update.outcome))
        return moved

    async def _apply(self, reports: Sequence[_Report]) -> list[bool | None]:
        async with self._db.transaction() as session:
            return await runs.apply_all(session, [_news(report) for report in reports])


def _news(report: _Report) -> RunNews:
    update = report.update
    return RunNews(
        report.organization_id,
        report.run_id,
        update.status,
        report.at,
        outcome=update.outcome,
        end_reason=update.end_reason or (update.status if update.status in _NOT_CONNECTED else None),
        call_id=update.call_id,
    )
