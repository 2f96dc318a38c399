"""What a run cost: one line for each counted thing, at the price of the day of the call."""

from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any, Final

from sqlalchemy import delete, insert
from sqlalchemy.ext.asyncio import AsyncSession

from offhook.kit.phone_numbers import PhoneNumberInvalid, parse_phone
from offhook.models import prices
from offhook.models.prices import CostLine, PriceList, Unpriced
from offhook.runs.artifacts.links import BROWSER
from offhook.runs.call_limits import TEXT_CHAT
from offhook.runs.tables import Run, RunCostLine
from offhook.usage import service as usage_service
from offhook.usage.service import UNKNOWN, Charge, ModelUse, RunFacts

PLATFORM: Final = "platform"
# Of balances and of the price table.
CURRENCY: Final = "USD"
_EXACT: Final = Decimal("0.00000001")
UNPRICED: Final = "unpriced"
_KINDS: Final = ("llm", "tts", "stt")
_PROVIDER_CHARS, _MODEL_CHARS = 32, 64
_WITHOUT_CARRIER: Final = frozenset({TEXT_CHAT, BROWSER})


async def store(session: AsyncSession, run: Run) -> int:
    """Do for one run what :func:`store_all` does; its whole cents."""
    await store_all(session, run.organization_id, [run])
    return run.cost_cents


async def store_all(session: AsyncSession, organization_id: int, runs: Sequence[Run]) -> None:
    """Write the cost lines of runs that are over, count them in their organization's usage and charge them.

    Idempotent: lines are replaced, and a run that is told again with another use changes sums and balance by the
    difference. ``run.cost_cents`` is set too, and what has no known price stands in ``run.usage["unpriced"]``. Locks
    the organization's account: call it late in the transaction.
    """
    price_list = await prices.price_list(session, organization_id)
    found = [_priced(run, price_list, _called_at(run)) for run in runs]
    facts = [_facts(run, lines) for run, lines in zip(runs, found, strict=True)]
    charges = await usage_service.record_runs(session, organization_id, facts)
    rows = []
    for run, lines, charge in zip(runs, found, charges, strict=True):
        rows += [_row(run, line) for line in lines if isinstance(line, CostLine)]
        if charge.platform_seconds and charge.platform_cents_per_minute:
            rows.append(_platform(run, charge, _called_at(run)))
        run.cost_cents = charge.cost_cents
        run.usage = _with_unpriced(run.usage, [line for line in lines if isinstance(line, Unpriced)])
    await session.execute(
        delete(RunCostLine).where(
            RunCostLine.run_id.in_([run.id for run in runs]), RunCostLine.organization_id == organization_id
        )
    )
    if rows:
        await session.execute(insert(RunCostLine), rows)
    await session.flush()


def _called_at(run: Run) -> datetime:
    return (run.answered_at or run.created_at).astimezone(UTC)


def _facts(run: Run, lines: Sequence[CostLine | Unpriced]) -> RunFacts:
    return RunFacts(
        run_id=run.id,
        organization_id=run.organization_id,
        workflow_id=run.workflow_id,
        campaign_id=run.campaign_id,
        created_at=run.created_at,
        duration_ms=round((run.duration or 0) * 1000),
        is_billable=run.mode != TEXT_CHAT,
        cost_cents=sum((line.cost_cents for line in lines if isinstance(line, CostLine)), Decimal(0)),
        models=_models(run.usage, lines),
        outcome=run.outcome or UNKNOWN,
    )


def _priced(run: Run, price_list: PriceList, called_at: datetime) -> list[CostLine | Unpriced]:
    lines = price_list.of_usage(run.usage, called_at.date())
    if run.mode not in _WITHOUT_CARRIER:
        lines += _of_carrier(run, price_list, called_at.date())
    return lines


def _of_carrier(run: Run, price_list: PriceList, on: date) -> list[CostLine | Unpriced]:
    """What the carrier itself has charged, in our currency; else its seconds, or ours, at the price of the table."""
    bill, country = run.carrier_bill or {}, _country(run.called_number)
    legs = _of_other_legs(run, bill, on)
    if bill.get("cost") is not None and bill["currency"] == CURRENCY:
        model = f"{run.direction}/{country}" if country else run.direction
        cents = (Decimal(bill["cost"]) * 100).quantize(_EXACT)
        return [CostLine("carrier", run.mode, model, "call", Decimal(1), cents, on), *legs]
    connected_s = bill.get("duration_s")
    seconds = Decimal(run.duration or 0) if connected_s is None else Decimal(connected_s)
    return [*price_list.of_call(run.mode, run.direction, country, seconds, on), *legs]


def _of_other_legs(run: Run, bill: dict[str, Any], on: date) -> list[CostLine]:
    """Destinations of transfers, one line for all of them: no table has their price."""
    told = [leg for leg in bill.get("legs", {}).values() if leg.get("cost") is not None and leg["currency"] == CURRENCY]
    cents = sum((Decimal(leg["cost"]) * 100 for leg in told), Decimal(0)).quantize(_EXACT)
    return [CostLine("carrier", run.mode, "transfer", "call", Decimal(len(told)), cents, on)] if told else []


def _country(number: str | None) -> str | None:
    if number is None:
        return None
    try:
        return parse_phone(number).country
    except PhoneNumberInvalid:
        return None


def _models(usage: dict[str, Any], lines: Sequence[CostLine | Unpriced]) -> list[ModelUse]:
    """Every model that was used, with the sum of its lines."""
    used = []
    for kind in _KINDS:
        for entry in usage.get(kind) or ():
            provider, model = str(entry["provider"]), str(entry["model"])
            mine = [line for line in lines if (line.kind, line.provider, line.model) == (kind, provider, model)]
            cost = sum((line.cost_cents for line in mine if isinstance(line, CostLine)), Decimal(0))
            is_priced = not any(isinstance(line, Unpriced) for line in mine)
            counted = usage_service.counters(entry)
            used.append(ModelUse(kind, provider, model, **counted, cost_cents=cost, is_priced=is_priced))
    return used


def _with_unpriced(usage: dict[str, Any], unpriced: Sequence[Unpriced]) -> dict[str, Any]:
    rest = {name: value for name, value in usage.items() if name != UNPRICED}
    return {**rest, UNPRICED: [line.as_dict() for line in unpriced]} if unpriced else rest


def _row(run: Run, line: CostLine) -> dict[str, Any]:
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
        "price_date": called_at.date(),
    }
