"""What a run cost: one line for each counted thing, at the price of the day of the call."""

from collections.abc import Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import delete, insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.models import prices
from offhook.runs.limits import TEXT_CHAT
from offhook.runs.tables import Run, RunCostLine
from offhook.usage import service as usage_service
from offhook.usage.service import Charge, ModelUse, RunFacts

_PROVIDER_CHARS, _MODEL_CHARS = 32, 64
_KINDS: Final = ("llm", "tts", "stt")
PLATFORM: Final = "platform"


async def store(session: AsyncSession, run: Run) -> int:
    """Write the cost lines of a run that is over, count it in its organisation's usage, charge it; its whole cents.

    Idempotent: lines are replaced, and a run that is told again with another use changes sums and balance by the
    difference. ``run.cost_cents`` is set too. Locks the organisation's account: call it late in the transaction.
    """
    called_at = run.answered_at or run.created_at
    lines = prices.cost_lines(run.usage, called_at.astimezone(UTC).date())
    facts = RunFacts(
        run_id=run.id,
        organization_id=run.organization_id,
        workflow_id=run.workflow_id,
        campaign_id=run.campaign_id,
        created_at=run.created_at,
        duration_ms=round((run.duration or 0) * 1000),
        is_billable=run.mode != TEXT_CHAT,
        cost_cents=sum((line.cost_cents for line in lines), Decimal(0)),
        models=_models(run.usage, lines),
    )
    charge = await usage_service.record_run(session, facts)
    rows = [_row(run, line) for line in lines]
    if charge.platform_seconds and charge.platform_cents_per_minute:
        rows.append(_platform(run, charge, called_at))
    await session.execute(
        delete(RunCostLine).where(RunCostLine.run_id == run.id, RunCostLine.organization_id == run.organization_id)
    )
    if rows:
        await session.execute(insert(RunCostLine), rows)
    run.cost_cents = charge.cost_cents
    await session.flush()
    return charge.cost_cents


def _models(usage: dict[str, Any], lines: Sequence[prices.CostLine]) -> list[ModelUse]:
    """Every model that was used, with the sum of its lines."""
    used = []
    for kind in _KINDS:
        for entry in usage.get(kind) or ():
            provider, model = str(entry["provider"]), str(entry["model"])
            mine = [line for line in lines if (line.kind, line.provider, line.model) == (kind, provider, model)]
            cost = sum((line.cost_cents for line in mine), Decimal(0))
            counted = usage_service.counters(entry)
            used.append(ModelUse(kind, provider, model, **counted, cost_cents=cost, is_priced=bool(mine)))
    return used


def _row(run: Run, line: prices.CostLine) -> dict[str, Any]:
    return {
        "run_id": run.id,
        "organization_id": run.organization_id,
        "kind": line.kind,
        "provider": line.provider[:_PROVIDER_CHARS],
        "model": line.model[:_MODEL_CHARS],
        "unit": line.unit,
        "quantity": line.quantity,
        "unit_price_cents": line.unit_price_cents,
        "price_date": line.price_date,
    }


def _platform(run: Run, charge: Charge, called_at: datetime) -> dict[str, Any]:
    return {
        "run_id": run.id,
        "organization_id": run.organization_id,
        "kind": PLATFORM,
        "provider": PLATFORM,
        "model": run.mode,
        "unit": "second",
        "quantity": charge.platform_seconds,
        "unit_price_cents": charge.platform_cents_per_minute / 60,
        "price_date": called_at.astimezone(UTC).date(),
    }
