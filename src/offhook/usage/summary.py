"""Usage sums for display: this month, by day, by model."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from offhook.orgs import service as orgs
from offhook.usage import ledger, queries, repository
from offhook.usage.periods import (
    day_boundaries,
    included_month,
    last_days,
    load_time_zone,
    month_of,
    start_of_day,
)
from offhook.usage.schemas import CurrentPeriod, ModelUsageItem, UsageDay


async def current_period(session: AsyncSession, organization_id: int, now: datetime) -> CurrentPeriod:
    organization = await orgs.get_organization(session, organization_id)
    period = month_of(now, load_time_zone(organization.time_zone))
    totals = await repository.period_totals(session, organization_id, period)
    standing = await ledger.get_balance_status(session, organization_id, now=now)
    held, spent_today = await repository.committed_cents(session, organization_id, start_of_day(now))
    price = standing.terms.platform_cents_per_minute
    cost = int(totals.cost_cents)
    return CurrentPeriod(
        period_start=period.start,
        period_end=period.end,
        total_calls=int(totals.calls),
        total_minutes=_to_minutes(totals.duration_ms),
        total_cost_cents=cost,
        minutes_remaining=standing.minutes_remaining,
        balance_cents=standing.balance_cents,
        is_unlimited=standing.is_unlimited,
        is_enforced=standing.terms.is_enforced,
        included_minutes=standing.terms.included_minutes,
        included_minutes_left=round(standing.included_minutes_left, 2),
        included_until=included_month(now).end,
        held_cents=held,
        spent_today_cents=spent_today,
        daily_limit_cents=standing.terms.daily_limit_cents,
        total_duration_seconds=int(totals.duration_ms) / 1000,
        used_dograh_tokens=cost,
        used_amount_usd=cost / 100,
        price_per_second_usd=float(price) / 6000 if price else None,
    )


async def daily_usage(session: AsyncSession, organization_id: int, now: datetime, count: int) -> list[UsageDay]:
    """Returns the last ``count`` days in the organization's time zone, newest first."""
    where = load_time_zone((await orgs.get_organization(session, organization_id)).time_zone)
    days = last_days(now, count, where)
    sums = await queries.by_day(session, organization_id, day_boundaries(days, where))
    shown = [
        UsageDay(
            date=day,
            call_count=int(sums[number].calls) if number in sums else 0,
            total_minutes=_to_minutes(sums[number].duration_ms) if number in sums else 0.0,
            total_cost_cents=int(sums[number].cost_cents) if number in sums else 0,
        )
        for number, day in enumerate(days)
    ]
    return shown[::-1]


async def by_model(session: AsyncSession, organization_id: int, now: datetime) -> list[ModelUsageItem]:
    where = load_time_zone((await orgs.get_organization(session, organization_id)).time_zone)
    rows = await repository.by_model(session, organization_id, month_of(now, where))
    return [_model_item(row) for row in rows if row.runs > 0]


def _model_item(row: Any) -> ModelUsageItem:
    is_priced = not row.unpriced_runs
    cost = Decimal(row.cost_cents)
    return ModelUsageItem(
        provider=row.provider,
        model=row.model,
        kind=row.kind,
        prompt_tokens=int(row.prompt_tokens),
        completion_tokens=int(row.completion_tokens),
        characters=int(row.characters),
        seconds=float(row.seconds),
        calls=int(row.calls),
        runs=int(row.runs),
        cost_cents=round(float(cost), 4) if is_priced or cost else None,
        is_priced=is_priced,
    )


def _to_minutes(duration_ms: int | Decimal) -> float:
    return round(int(duration_ms) / 60_000, 2)
