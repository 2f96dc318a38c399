"""The interface of this domain for other domains."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.usage import queries, repository
from offhook.usage.ledger import (
    BalanceStatus,
    add_credit,
    can_start_call,
    get_balance_status,
    is_enforced,
    require_credit,
)
from offhook.usage.metering import record_runs
from offhook.usage.outcomes import sort_by_frequency
from offhook.usage.queries import by_agent
from offhook.usage.run_facts import UNKNOWN, ModelUse, RunCost, RunFacts, parse_counters

__all__ = [
    "UNKNOWN",
    "BalanceStatus",
    "ModelUse",
    "RunCost",
    "RunFacts",
    "add_credit",
    "by_agent",
    "by_day",
    "campaign_spend_cents",
    "can_start_call",
    "get_balance_status",
    "is_counted",
    "is_enforced",
    "parse_counters",
    "record_runs",
    "require_credit",
    "sort_by_frequency",
]


async def campaign_spend_cents(session: AsyncSession, organization_id: int, campaign_id: int) -> int:
    """Returns the cost of a campaign's finished runs so far, including those of deleted workflows."""
    return await repository.campaign_spend(session, organization_id, campaign_id)


async def is_counted(session: AsyncSession, organization_id: int, run_id: int) -> bool:
    """Returns whether this run was recorded and is part of the sums."""
    return bool(await repository.run_usages(session, organization_id, [run_id]))


async def by_day(
    session: AsyncSession, organization_id: int, boundaries: Sequence[datetime]
) -> tuple[Mapping[int, Any], Mapping[int, dict[str, int]]]:
    """Returns sums (calls, duration_ms, cost_cents) and runs by outcome, each by day number between boundaries."""
    sums = await queries.by_day(session, organization_id, boundaries)
    return sums, await queries.outcomes_by_day(session, organization_id, boundaries)
