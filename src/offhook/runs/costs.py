"""What a run cost: one line for each counted thing, at the price of the day."""

from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from sqlalchemy import delete, insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.models import prices
from offhook.runs.tables import RunCostLine

_PROVIDER_CHARS, _MODEL_CHARS = 32, 64


async def store(session: AsyncSession, organization_id: int, run_id: int, usage: dict[str, Any]) -> int:
    """Write the cost lines of a run's ``usage`` (replacing earlier ones) and return their sum in whole cents."""
    lines = prices.cost_lines(usage, datetime.now(UTC).date())
    await session.execute(
        delete(RunCostLine).where(RunCostLine.run_id == run_id, RunCostLine.organization_id == organization_id)
    )
    if lines:
        await session.execute(insert(RunCostLine), [_row(organization_id, run_id, line) for line in lines])
    total = sum((line.cost_cents for line in lines), Decimal(0))
    return int(total.quantize(Decimal(1), ROUND_HALF_UP))


def _row(organization_id: int, run_id: int, line: prices.CostLine) -> dict[str, Any]:
    return {
        "run_id": run_id,
        "organization_id": organization_id,
        "kind": line.kind,
        "provider": line.provider[:_PROVIDER_CHARS],
        "model": line.model[:_MODEL_CHARS],
        "unit": line.unit,
        "quantity": line.quantity,
        "unit_price_cents": line.unit_price_cents,
        "price_date": line.price_date,
    }
