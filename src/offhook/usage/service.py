"""The interface of this domain for other domains."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.usage import queries, repository
from offhook.usage.credit import (
    CallCredit,
    affordable_calls,
    can_spend,
    charge_credit,
    charge_model_request,
    credit_position,
    extend_calls,
    extend_chat,
    hold_for_calls,
    hold_for_runs,
    refund_credit,
    reserve_call,
    reserve_chat,
)
from offhook.usage.ledger import BalanceStatus, add_credit, get_balance_status, is_enforced, platform_price
from offhook.usage.metering import record_runs
from offhook.usage.outcomes import sort_by_frequency
from offhook.usage.queries import by_agent
from offhook.usage.run_facts import MAX_RUN_CENTS, UNKNOWN, ModelUse, RunCost, RunFacts, parse_counters

__all__ = [
    "MAX_RUN_CENTS",
    "UNKNOWN",
    "BalanceStatus",
    "CallCredit",
    "ModelUse",
    "RunCost",
    "RunFacts",
    "add_credit",
    "affordable_calls",
    "by_agent",
    "by_day",
    "campaign_spend_cents",
    "can_spend",
    "charge_credit",
    "charge_model_request",
    "credit_position",
    "extend_calls",
    "extend_chat",
    "get_balance_status",
    "hold_for_calls",
    "hold_for_runs",
    "is_counted",
    "is_enforced",
    "parse_counters",
    "platform_price",
    "record_runs",
    "refund_credit",
    "reserve_call",
    "reserve_chat",
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
